"""Read demonstrations from whatever file they are in, one module per format."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, cast

from counterbc.data.demonstrations import Demonstrations
from counterbc.errors import FormatError, OptionError, unknown
from counterbc.formats.guard import check_there

if TYPE_CHECKING:
    from counterbc.formats.stream import Stream

__all__ = ["FORMATS", "detect", "format_to_write", "load", "open_stream", "save"]


class Format(Protocol):
    """What a format module gives; see stream.py."""

    recognizes: Callable[[Path], bool]
    stream: Callable[[Path, Sequence[str] | None], Stream]


class Writable(Format, Protocol):
    write: Callable[[Demonstrations | Stream, Path], list[str]]


FORMATS = {
    "robomimic": "robomimic.reader",
    "d4rl": "d4rl",
    "npz": "npz.reader",
    "csv": "csv",
    "lerobot": "lerobot.reader",
    "minari": "minari.reader",
}
"""The module of each format, in the order in which they are tried; imported when needed."""

_WRITABLE = ("robomimic", "lerobot", "minari", "npz")
_SUFFIXES = {".hdf5": "robomimic", ".h5": "robomimic", ".npz": "npz"}


def load(
    path: str | Path, obs: Sequence[str] | None = None, *, format: str | None = None
) -> Demonstrations:
    """Read a dataset; the format is recognized by looking at what lies at `path`.

    `obs` names the observation keys to read, in that order; by default all low-dimensional ones.
    """
    return open_stream(path, obs, format=format).demonstrations()


def open_stream(
    path: str | Path, obs: Sequence[str] | None = None, *, format: str | None = None
) -> Stream:
    """The same, episode by episode, for data larger than memory."""
    path = Path(path)
    check_there(path)
    return _module(format or detect(path)).stream(path, obs)


def save(
    data: Demonstrations | Stream, path: str | Path, *, format: str | None = None
) -> list[str]:
    """Write a dataset that must not exist yet; returns what the format could not carry.

    The format is told by `format` or by the ending of `path`.
    """
    path = Path(path)
    return cast(Writable, _module(format_to_write(path, format))).write(data, path)


def format_to_write(path: Path, format: str | None = None) -> str:
    """The format that is named, or that the ending of `path` tells."""
    name = format or _SUFFIXES.get(path.suffix.lower())
    if name is None:
        endings = ", ".join(f"{s} ({f})" for s, f in _SUFFIXES.items())
        raise OptionError(
            f"the ending of {path} does not tell the format; use {endings}, or name one of "
            f"{', '.join(_WRITABLE)} with --to"
        )
    if name not in _WRITABLE:
        raise unknown("format to write", name, _WRITABLE)
    return name


def detect(path: Path) -> str:
    """The name of the format of what lies at `path`, found by its content."""
    check_there(path)
    for name in FORMATS:
        if _module(name).recognizes(path):
            return name
    kind = "folder" if path.is_dir() else "file"
    raise FormatError(
        f"{path} is a {kind} in no format that is known here ({', '.join(FORMATS)}); "
        "docs/formats.md tells what each looks like"
    )


def _module(name: str) -> Format:
    if name not in FORMATS:
        raise unknown("format", name, FORMATS)
    return cast(Format, import_module(f"counterbc.formats.{FORMATS[name]}"))
