"""Read and write demonstrations in any supported file format.

`FORMATS` names every format. To add one, write a module (or any object) with the functions
`recognizes`, `stream` and, if it can write, `write`, which stream.py describes, and add one line:

    FORMATS["mine"] = Format("mypackage.mine", content="a file that begins with MINE")
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, cast

from counterbc.data.demonstrations import Demonstrations
from counterbc.data.resizing import checked_size
from counterbc.errors import FormatError, OptionError, unknown
from counterbc.files import boundary
from counterbc.formats.asked import WHOLE, AskedPart
from counterbc.formats.guard import check_there
from counterbc.formats.untrusted import trusting

if TYPE_CHECKING:
    from counterbc.formats.stream import Stream

__all__ = [
    "FORMATS",
    "Format",
    "detect",
    "format_to_write",
    "load",
    "open_stream",
    "save",
    "writable_formats",
]


class Reader(Protocol):
    """The functions of a format; stream.py describes them."""

    def recognizes(self, path: Path, /) -> bool: ...

    def stream(self, path: Path, obs: Sequence[str] | None, /) -> Stream: ...


class Writer(Protocol):
    """The function of a format that can also be written."""

    def write(self, data: Demonstrations | Stream, path: Path, /) -> list[str]: ...


@dataclass(frozen=True)
class Format:
    """A file format: where its functions are, what its files look like, what it writes."""

    functions: str | Reader
    """An object with the functions, or the name of a module, which is imported when needed."""
    content: str
    """What the format is recognized by, in a few words; file names do not matter."""
    writable: bool = False
    """Whether `write` exists."""
    suffixes: tuple[str, ...] = ()
    """File endings for which `save` chooses this format."""

    def resolve(self) -> Reader:
        """Return the object with the functions."""
        if isinstance(self.functions, str):
            return cast(Reader, import_module(self.functions))
        return self.functions


_PACKAGE = "counterbc.formats"
FORMATS = {
    "robomimic": Format(
        f"{_PACKAGE}.robomimic",
        content="an HDF5 file with a group `data`",
        writable=True,
        suffixes=(".hdf5", ".h5"),
    ),
    "d4rl": Format(
        f"{_PACKAGE}.d4rl", content="an HDF5 file with `observations` and `actions` at its root"
    ),
    "npz": Format(
        f"{_PACKAGE}.npz",
        content="a zip archive of numpy arrays",
        writable=True,
        suffixes=(".npz",),
    ),
    "csv": Format(
        f"{_PACKAGE}.csv",
        content="a text file whose first line names its columns, or a folder of them",
    ),
    "lerobot": Format(f"{_PACKAGE}.lerobot", content="a folder with meta/info.json", writable=True),
    "minari": Format(
        f"{_PACKAGE}.minari", content="a folder with Minari's metadata.json", writable=True
    ),
}
"""Every format by name, in the order in which they are tried on a path."""


def load(
    path: str | Path,
    obs: Sequence[str] | None = None,
    *,
    action: Sequence[str] | None = None,
    format: str | None = None,
    trusted: bool = False,
    image_size: Sequence[int] = (),
) -> Demonstrations:
    """Read a dataset into memory. The format is detected from the content unless it is named.

    `obs` names the observation keys to read, in that order; the default is every key that is not
    an image. `action` names the keys of the action, for files that do not call it `action`.
    `trusted` lifts the bounds of `counterbc.formats.untrusted`. `image_size` are the height and
    width to which images are resized.
    """
    stream = open_stream(
        path, obs, action=action, format=format, trusted=trusted, image_size=image_size
    )
    return stream.demonstrations()


def open_stream(
    path: str | Path,
    obs: Sequence[str] | None = None,
    *,
    action: Sequence[str] | None = None,
    format: str | None = None,
    trusted: bool = False,
    image_size: Sequence[int] = (),
    part: AskedPart | None = None,
) -> Stream:
    """Open a dataset that is read episode by episode, for data larger than memory.

    `trusted` lifts the bounds on memory and time that files from anybody are read within, and
    images are resized to the height and width `image_size`, if given. `part` are the episodes and
    rows to read; formats that can do so do not read the others. Whatever goes wrong with a file,
    here or while its episodes are read, is a `CounterBCError`.
    """
    path = Path(path)
    check_there(path)
    name = format or detect(path)
    stream_of: Callable[..., Stream] = _functions(name).stream
    keys = (obs,) if action is None else (obs, action)
    if action is not None and len(signature(stream_of).parameters) < 3:
        raise OptionError(f"the format {name} cannot choose actions; leave --action out")
    size = checked_size(image_size)
    with trusting(trusted), boundary(path):
        stream = stream_of(path, *keys).with_known_angles()
        return stream.guarded(path, trusted, size, part or WHOLE)


def save(
    data: Demonstrations | Stream, path: str | Path, *, format: str | None = None
) -> list[str]:
    """Write a dataset to a new path and return what the format could not store.

    The format is `format`, or the one that the suffix of `path` stands for.
    """
    path = Path(path)
    name = format_to_write(path, format)
    return cast(Writer, _functions(name)).write(data, path)


def format_to_write(path: Path, format: str | None = None) -> str:
    """Return the name of the format to write: `format`, or the one of the suffix of `path`."""
    suffixes = {s: name for name in reversed(FORMATS) for s in FORMATS[name].suffixes}
    name = format or suffixes.get(path.suffix.lower())
    if name is None:
        endings = ", ".join(f"{s} ({name})" for s, name in reversed(suffixes.items()))
        raise OptionError(
            f"the suffix of {path} does not stand for a format; use {endings}, or name one of "
            f"{', '.join(writable_formats())} with --to"
        )
    if name not in writable_formats():
        raise unknown("format to write", name, writable_formats())
    return name


def writable_formats() -> tuple[str, ...]:
    """Return the names of the formats that can be written."""
    return tuple(name for name, format in FORMATS.items() if format.writable)


def detect(path: Path) -> str:
    """Return the name of the format of a file or folder, detected from its content."""
    check_there(path)
    for name in FORMATS:
        with boundary(path):
            if _functions(name).recognizes(path):
                return name
    contents = ", ".join(f"{name} ({format.content})" for name, format in FORMATS.items())
    from counterbc.formats.description import describe  # imports pyarrow, which takes 50 MB

    content, step = describe(path)
    raise FormatError(
        f"{path} is not in a supported format; it is {content}; {step}; supported are {contents}"
    )


def _functions(name: str) -> Reader:
    if name not in FORMATS:
        raise unknown("format", name, FORMATS)
    return FORMATS[name].resolve()
