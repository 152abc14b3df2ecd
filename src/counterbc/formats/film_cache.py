"""Films that were decoded before, kept on disk: within a bound, and only while they are right.

Decoding a film takes many times as long as reading its pixels, and every command reads the data
again. An entry holds the frames of one episode under a name that is a hash of the film's content,
of the frames that were asked for and of the decoder, so that another film never meets an old entry.
It is written aside and renamed, and starts with a checksum: an entry that is damaged, incomplete or
no plain file is decoded again. Entries that were not used for the longest time are removed first.
The cache is never in the way: where it cannot be written, films are decoded each time.

    COUNTERBC_CACHE       the folder; by default ~/.cache/counterbc. Empty: films are not kept
    COUNTERBC_CACHE_GB    the most that entries take together; by default 10
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from math import prod
from os.path import isfile
from pathlib import Path

import numpy as np

from counterbc.data.arrays import Array
from counterbc.data.resizing import asked_size, resize
from counterbc.data.user_cache import cache_folder
from counterbc.errors import CounterBCError, OptionError
from counterbc.files import aside, sha256
from counterbc.formats.frames import decode_video

_LIMIT = "COUNTERBC_CACHE_GB"
_DEFAULT_GB = 10.0
_LAYOUT = 1  # of an entry; raise it when its bytes change
_CHECKSUM = 32  # bytes of BLAKE2b at the start of an entry
_SUFFIX = ".frames"


def cached_video(
    path: Path, *, begin: float, count: int, fps: float, shape: Sequence[int], label: str
) -> Array:
    """Return what `decode_video` returns, from the cache if it is there.

    The cache holds images as they were asked for, resized or not.
    """
    size = asked_size()

    def decode() -> Array:
        frames = decode_video(path, begin=begin, count=count, fps=fps, shape=shape, label=label)
        return resize(frames, size)

    folder = cache_folder("films")
    if folder is None or not isfile(path):
        return decode()
    about = (_LAYOUT, _content(path), begin, count, fps, tuple(shape), size, _decoder())
    name = hashlib.sha256(repr(about).encode()).hexdigest() + _SUFFIX
    return _kept(folder / name, count, decode)


def _kept(entry: Path, count: int, decode: Callable[[], Array]) -> Array:
    """Return the frames of an entry; decode and store them if it is missing or damaged."""
    with suppress(OSError, ValueError):
        frames = _read(entry)
        if len(frames) == count:
            os.utime(entry)  # it was used
            return frames
    frames = decode()
    limit = _limit()
    if prod(frames.shape) <= limit:
        with suppress(OSError, CounterBCError):  # a full or read-only disk
            _write(entry, frames)
            _remove_oldest(entry, limit)
    return frames


def _read(entry: Path) -> Array:
    """Return the frames of an entry; raise an error if it is not what was written."""
    descriptor = os.open(entry, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | _nonblocking())
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise ValueError("not a plain file")
        checksum, head = file.read(_CHECKSUM), file.read(32)
        shape = tuple(np.frombuffer(head, "<i8").tolist())
        size = os.fstat(descriptor).st_size - _CHECKSUM - len(head)
        if len(shape) != 4 or min(shape) < 0 or prod(shape) != size:
            raise ValueError("not whole")
        frames = np.fromfile(file, np.uint8, size).reshape(shape)
    if _checksum(head, frames) != checksum:
        raise ValueError("damaged")
    return frames


def _write(entry: Path, frames: Array) -> None:
    """Write an entry whole or not at all; only its owner can read it."""
    entry.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    head = np.array(frames.shape, "<i8").tobytes()
    with aside(entry, replace=True) as temporary, temporary.open("wb") as file:
        file.write(_checksum(head, frames) + head)
        file.write(np.ascontiguousarray(frames).data)


def _checksum(head: bytes, frames: Array) -> bytes:
    digest = hashlib.blake2b(head, digest_size=_CHECKSUM)
    digest.update(np.ascontiguousarray(frames).data)
    return digest.digest()


def _remove_oldest(newest: Path, limit: float) -> None:
    """Remove the entries that were not used for the longest time, until the rest is in bounds."""
    entries = []
    for entry in os.scandir(newest.parent):
        if entry.name.endswith(_SUFFIX) and entry.name != newest.name:
            with suppress(OSError):  # another process removed it
                about = entry.stat(follow_symlinks=False)
                entries.append((about.st_mtime, about.st_size, entry.path))
    total = newest.stat().st_size + sum(size for _, size, _ in entries)
    for _, size, name in sorted(entries):
        if total <= limit:
            return
        with suppress(OSError):
            os.unlink(name)
            total -= size


def _limit() -> float:
    """Return the most bytes that entries take together."""
    text = os.environ.get(_LIMIT, str(_DEFAULT_GB))
    with suppress(ValueError):
        if (limit := float(text)) >= 0:
            return limit * 1e9
    raise OptionError(f"{_LIMIT} is {text!r:.40}; expected gigabytes, a number of 0 or more")


def _content(path: Path) -> str:
    """Return the hash of a film's bytes, computed once while its time and size stay the same."""
    about = path.stat()
    return _hash(str(path.resolve()), about.st_size, about.st_mtime_ns)


@lru_cache(maxsize=4096)
def _hash(path: str, size: int, time: int) -> str:
    return sha256(Path(path))


def _decoder() -> str:
    try:
        return version("av")
    except PackageNotFoundError:
        return "none"


def _nonblocking() -> int:
    """Return the flag with which opening a pipe does not wait for a writer."""
    return getattr(os, "O_NONBLOCK", 0)
