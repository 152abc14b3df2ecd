"""Clear errors for the files of a dataset that are missing, damaged or not readable."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from counterbc.errors import FormatError
from counterbc.files import Guard, check_regular, reason

_POINTER = b"version https://git-lfs.github.com/spec/"


@contextmanager
def dataset_file(path: Path, *errors: type[Exception]) -> Iterator[None]:
    """Turn what goes wrong with one file of a dataset into a `FormatError`.

    These are errors of the system, text that is not UTF-8, and the `errors` of a library.
    """
    kinds: tuple[type[Exception], ...] = (OSError, UnicodeDecodeError, *errors)
    try:
        check_regular(path)
        check_content(path)
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
            check_content(path)


def check_content(path: Path) -> None:
    """Refuse a small text that Git LFS puts in place of a file until it is fetched."""
    with path.open("rb") as file:
        if file.read(len(_POINTER)) == _POINTER:
            raise FormatError(
                f"{path} is a Git LFS pointer in place of the file; run git lfs pull in its folder"
            )
