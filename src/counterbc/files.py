"""Files and folders that are written completely or not at all, and hashes of files."""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from counterbc.errors import FormatError


def check_free(path: Path) -> None:
    """Refuse a path that exists, or whose folder does not exist."""
    if os.path.lexists(path):
        raise FormatError(f"{path} already exists; choose another name, or delete it first")
    if not path.parent.is_dir():
        raise FormatError(f"the folder {path.parent} does not exist; create it first")


@contextmanager
def aside(path: Path) -> Iterator[Path]:
    """Yield a temporary path that becomes `path` on success and is deleted on an error."""
    try:
        folder = Path(tempfile.mkdtemp(prefix=f".{path.name}.", dir=path.parent))
    except OSError as error:
        raise _unwritable(path, error) from error
    try:
        yield folder / path.name
        os.replace(folder / path.name, path)
    except OSError as error:
        raise _unwritable(path, error) from error
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def sha256(path: Path) -> str:
    """Return the SHA-256 of a file's bytes in hexadecimal digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _unwritable(path: Path, error: OSError) -> FormatError:
    full = error.errno == errno.ENOSPC
    text = " ".join((error.strerror or str(error)).split())
    reason = "the disk is full" if full else text
    return FormatError(
        f"{path} could not be written ({reason}); check permissions and free space, "
        "or choose another folder"
    )
