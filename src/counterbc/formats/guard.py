"""Protection against damaged and malicious files: clear errors and a limit on claimed sizes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from counterbc.errors import FormatError
from counterbc.files import Guard, check_regular, reason

LARGE = 2**28  # bytes; arrays up to this size are read whatever their compression
_RATIO = 200  # compression that recorded data never reach; a larger ratio means a false size


@contextmanager
def dataset_file(path: Path, *errors: type[Exception]) -> Iterator[None]:
    """Turn what goes wrong with one file of a dataset into a `FormatError`.

    These are errors of the system, text that is not UTF-8, and the `errors` of a library.
    """
    kinds: tuple[type[Exception], ...] = (OSError, UnicodeDecodeError, *errors)
    try:
        check_regular(path)
        yield
    except FileNotFoundError:
        raise FormatError(f"{path} is missing; copy or download the dataset again") from None
    except PermissionError:
        raise FormatError(
            f"{path} cannot be read: permission denied; check its permissions"
        ) from None
    except kinds as error:
        raise FormatError(
            f"{path} cannot be read; it may be incomplete or damaged ({reason(error).strip()}); "
            "copy or download it again"
        ) from error


def check_there(path: Path) -> None:
    """Raise a `FormatError` if a path does not exist or cannot be read."""
    with Guard(path):
        if not path.exists():
            raise FormatError(f"{path} does not exist; give the path of a file or folder")
        if path.is_file():
            path.open("rb").close()


def check_size(label: str, size: int, stored_bytes: int) -> None:
    """Raise a `FormatError` if an array claims far more bytes than the file stores for it."""
    if size > LARGE and size > _RATIO * stored_bytes:
        raise FormatError(
            f"{label} claims {size / 1e9:,.1f} GB but the file stores {stored_bytes / 1e9:,.3f} GB "
            "for it; use a file whose arrays are filled"
        )
