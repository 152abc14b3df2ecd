"""Files from anybody are read safely; files and folders are written completely or not at all."""

from __future__ import annotations

import ctypes
import errno
import hashlib
import os
import shutil
import stat
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import count, takewhile
from pathlib import Path
from typing import IO, Any

from counterbc.errors import CounterBCError, FormatError

interrupts: list[int] = []
"""Signals that asked this process to stop; the command line adds them.

A library may swallow the KeyboardInterrupt and raise an error of its own.
"""
_LOCK, _CLAIM = ".counterbc-lock", ".counterbc-claim"
_OLD = 3600  # seconds, after which a temporary folder without a lock is a leftover
_LINUX = sys.platform == "linux"
_AT_FDCWD = -100  # the number that stands for the current folder
_NO_REPLACE, _EXCHANGE = 1, 2  # flags of renameat2
_REASON = 200  # characters of an error message of a library


class Guard:
    """A context that turns whatever is raised while a file is read into a `FormatError`.

    Libraries raise almost anything on a damaged file. Our own errors and warnings pass unchanged.
    """

    def __init__(self, path: Path | str, step: str = "copy or download it again") -> None:
        """`step` is what to do about a damaged file."""
        self.path, self.step = path, step

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if isinstance(error, Exception) and interrupts:
            raise KeyboardInterrupt from error
        if isinstance(error, PermissionError):
            raise FormatError(
                f"{self.path} cannot be read: permission denied; ask its owner for access"
            ) from error
        if isinstance(error, Exception) and not isinstance(error, CounterBCError | Warning):
            raise FormatError(
                f"{self.path} cannot be read; it may be incomplete or damaged ({reason(error)}); "
                f"{self.step}"
            ) from error


def boundary(path: Path | str) -> Guard:
    """Return a guard around all of reading, where a mistake of ours is as likely as a bad file."""
    return Guard(path, "copy or download it again, and report this if it is whole")


def reason(error: BaseException) -> str:
    """Return the first line of an error message of a library, cut to a readable length."""
    text = error.args[0] if isinstance(error, KeyError) and error.args else error  # str() quotes it
    line = (str(text) or type(error).__name__).split("\n")[0]
    return line if len(line) <= _REASON else f"{line[:_REASON]}…"


def check_regular(path: Path) -> None:
    """Refuse what is not a plain file: reading a pipe or a device may never end."""
    if not stat.S_ISREG(os.stat(path).st_mode):
        raise FormatError(f"{path} is not a file; put a plain file in its place")


def next_free(path: Path) -> Path:
    """Return the path, or the first of name-2, name-3, … that does not exist."""
    return next(candidate for candidate in _numbered(path) if not os.path.lexists(candidate))


def last_name(path: Path) -> Path:
    """Return the last of the paths that `next_free` gave out, or the path if there is none."""
    names = takewhile(os.path.lexists, _numbered(path))
    return max(names, key=lambda name: (len(name.stem), name.stem), default=path)


def check_suffix(path: Path, allowed: tuple[str, ...], noun: str) -> None:
    """Refuse a name whose ending stands for something else than what is written."""
    if path.suffix.lower() not in allowed:
        names = " or ".join(suffix or "without an ending" for suffix in allowed)
        raise FormatError(f"{path} ends in {path.suffix!r}; name the {noun} {names}")


def _numbered(path: Path) -> Iterator[Path]:
    """Yield demos.hdf5, demos-2.hdf5, demos-3.hdf5, …"""
    yield path
    for number in count(2):
        yield path.with_name(f"{path.stem}-{number}{path.suffix}")


def check_free(path: Path) -> None:
    """Refuse a path that exists, or whose folder does not exist."""
    if os.path.lexists(path):
        with suppress(OSError):  # of a process that was killed after its work was done
            remove_leftovers(path)
        raise FormatError(f"{path} already exists; choose another name, or delete it first")
    if not path.parent.is_dir():
        raise FormatError(f"the folder {path.parent} does not exist; create it first")


def make_folder(path: Path) -> None:
    """Create a folder, and those above it, unless it exists; explain why that is not possible."""
    with writing(path):
        path.mkdir(parents=True, exist_ok=True)


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Explain an error of the system while something is written to a path."""
    try:
        yield
    except OSError as error:
        raise _unwritable(path, error) from error


@contextmanager
def aside(path: Path, *, replace: bool = False) -> Iterator[Path]:
    """Yield a temporary path that becomes `path` on success and is deleted on an error.

    What is at `path` by then is not overwritten, unless `replace`. The file, or every file of a
    folder, is on the disk when the block ends.
    """
    try:
        remove_leftovers(path)
        folder = Path(tempfile.mkdtemp(prefix=f".{path.name}.", dir=path.parent))
    except OSError as error:
        raise _unwritable(path, error) from error
    try:
        lock = (folder / _CLAIM).open("w")
        if _try_lock(lock):
            (folder / _CLAIM).rename(folder / _LOCK)  # so nobody finds it before it is locked
        else:
            (folder / _LOCK).touch()
    except OSError as error:
        shutil.rmtree(folder, ignore_errors=True)
        raise _unwritable(path, error) from error
    try:
        yield folder / path.name
        _synchronize(folder / path.name)
        if replace and path.is_dir():
            _exchange(folder / path.name, path)
        else:
            (os.replace if replace else _move)(folder / path.name, path)
        _synchronize(path.parent, whole=False)
    except FileExistsError as error:
        raise FormatError(
            f"{path} was created by another program meanwhile; choose another name"
        ) from error
    except OSError as error:
        if interrupts:
            raise KeyboardInterrupt from error
        raise _unwritable(path, error) from error
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        lock.close()


def remove_leftovers(path: Path) -> None:
    """Remove what `aside` left beside a path in processes that were killed."""
    prefix = f".{path.name}."
    for entry in os.scandir(path.parent):
        is_ours = entry.name.startswith(prefix) and len(entry.name) == len(prefix) + 8
        if not is_ours or not entry.is_dir(follow_symlinks=False):
            continue
        try:
            with (Path(entry) / _LOCK).open("r+") as lock:
                if _try_lock(lock):
                    shutil.rmtree(entry)
        except FileNotFoundError:  # killed before the lock was made, or by an earlier version
            with suppress(OSError):
                if time.time() - entry.stat(follow_symlinks=False).st_mtime > _OLD:
                    shutil.rmtree(entry)
        except OSError:
            continue


def _try_lock(file: IO[str]) -> bool:
    """Lock a file until it is closed; return False if another process holds the lock."""
    try:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except ImportError:  # Windows
        return False
    except OSError:  # held by another process, or a file system without locks
        return False
    return True


def _synchronize(path: Path, *, whole: bool = True) -> None:
    """Wait until a file, or a folder with all that is in it, is on the disk."""
    if whole and path.is_dir():
        for inner in path.iterdir():
            _synchronize(inner)
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except PermissionError:  # Windows cannot open folders
        return
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):  # not every file system can
            raise
    finally:
        os.close(descriptor)


def _move(source: Path, target: Path) -> None:
    """Rename a file or folder; raise a `FileExistsError` if the target exists."""
    if _renamed(source, target, _NO_REPLACE):
        return
    if source.is_dir():
        if os.path.lexists(target):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(target))
        os.rename(source, target)
        return
    os.link(source, target)  # fails if the target exists
    os.unlink(source)


def _exchange(source: Path, target: Path) -> None:
    """Let a folder and another one change places, at once where the system can do that."""
    if not _renamed(source, target, _EXCHANGE):
        old = source.with_name(f"{source.name}.old")
        os.rename(target, old)
        os.rename(source, target)


def _renamed(source: Path, target: Path, flag: int) -> bool:
    """Rename as Linux can; return False where the system or the file system cannot."""
    rename = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None) if _LINUX else None
    if rename is None:
        return False
    if rename(_AT_FDCWD, os.fsencode(source), _AT_FDCWD, os.fsencode(target), flag) == 0:
        return True
    code = ctypes.get_errno()
    if code in (errno.ENOSYS, errno.EINVAL):
        return False
    raise OSError(code, os.strerror(code), str(target))


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
