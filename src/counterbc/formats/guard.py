"""Files may come from anybody: damage is one sentence, and absurd sizes are not believed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from counterbc.errors import CounterBCError, FormatError

LARGE = 2**28  # bytes; below this anything is read, whatever it was compressed to
_RATIO = 200  # what real raw_episodes never reach when compressed, and made-up sizes do


class guarded:  # noqa: N801, it reads as a verb
    """`with guarded(path)` turns whatever a library raises on a damaged file into one sentence.

    Libraries raise almost anything then, so nothing but their own calls belongs inside.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if isinstance(error, PermissionError):
            raise FormatError(
                f"{self.path} may not be read; ask its owner for permission"
            ) from error
        if isinstance(error, Exception) and not isinstance(error, CounterBCError):
            raise FormatError(
                f"{self.path} cannot be read, it may be cut short or damaged ({reason(error)}); "
                "copy or download it again"
            ) from error


def check_there(path: Path) -> None:
    """Refuse a path that is not there, or may not be read."""
    with guarded(path):
        if not path.exists():
            raise FormatError(f"{path} does not exist; give the path of a file or folder")
        if path.is_file():
            path.open("rb").close()


def check_size(what: str, size: int, stored: int) -> None:
    """Refuse what claims far more bytes than are there for it."""
    if size > LARGE and size > _RATIO * stored:
        raise FormatError(
            f"{what} claims {size / 1e9:,.1f} GB but stores {stored / 1e9:,.3f}; "
            "give a file whose arrays are filled"
        )


def reason(error: BaseException) -> str:
    """The first line of what a library said."""
    return (str(error) or type(error).__name__).strip("'\"").split("\n")[0]
