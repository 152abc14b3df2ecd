"""Say what a file or folder in no supported format holds, and what to do with it."""

from __future__ import annotations

from pathlib import Path

import h5py

from counterbc.data.names import shorten
from counterbc.errors import FormatError
from counterbc.files import Guard, check_regular
from counterbc.formats import hdf5, parquet

_START = 2**12  # bytes that are looked at
_LINE = 80  # characters of a first line that are shown
_RECIPE = "save its arrays as npz (docs/formats.md has ten lines for it)"
_BEGINNINGS = (
    (b"MATLAB", "a MATLAB file", _RECIPE),
    (b"\x80\x02", "a Python pickle, which can run any code and is never opened here", _RECIPE),
    (b"\x80\x03", "a Python pickle, which can run any code and is never opened here", _RECIPE),
    (b"\x80\x04", "a Python pickle, which can run any code and is never opened here", _RECIPE),
    (b"\x80\x05", "a Python pickle, which can run any code and is never opened here", _RECIPE),
    (b"\x93NUMPY", "a single numpy array", _RECIPE),
    (b"\x89MCAP", "an MCAP file of ROS", _RECIPE),
    (b"SQLite format 3", "an SQLite database, such as a ROS bag", _RECIPE),
    (b"\x1f\x8b", "compressed with gzip", "unpack it with gunzip or tar"),
)


def describe(path: Path) -> tuple[str, str]:
    """Return what is at a path, in a few words, and the next step."""
    with Guard(path):
        return _folder(path) if path.is_dir() else _file(path)


def _folder(path: Path) -> tuple[str, str]:
    names = sorted(p.name for p in path.iterdir())
    if not names:
        return "an empty folder", "give the path of a dataset"
    if any(name in names for name in (".zgroup", "zarr.json")):
        return f"a zarr archive with {shorten(names)}", _RECIPE
    if any(".tfrecord" in name for name in names):
        return f"a TensorFlow dataset with {shorten(names)}", _RECIPE
    tables = [name for name in names if name.lower().endswith((".csv", ".tsv", ".txt"))]
    if len(tables) > 1:
        step = (
            "begin each with the same row of column names, and leave other data out of the folder"
        )
        return f"a folder with {len(tables)} tables: {shorten(tables)}", step
    suffixes = {Path(name).suffix.lower() for name in names}
    if suffixes & {".mat", ".pkl", ".pickle", ".npy"}:
        return f"a folder with {shorten(names)}", _RECIPE
    if suffixes & {".hdf5", ".h5", ".npz"}:
        return f"a folder with {shorten(names)}", f"give its files instead: {path}/*"
    return f"a folder with {shorten(names)}", "give the path of one dataset in it"


def _file(path: Path) -> tuple[str, str]:
    check_regular(path)  # a pipe would be waited for
    with path.open("rb") as file:
        start = file.read(_START)
    if not start:
        return "an empty file", "copy or download it again"
    for beginning, content, step in _BEGINNINGS:
        if start.startswith(beginning):
            return content, step
    if h5py.is_hdf5(path):
        return _hdf5(path)
    if start.startswith(b"PAR1"):
        return _table(path)
    return _text(start)


def _hdf5(path: Path) -> tuple[str, str]:
    with hdf5.open_file(path) as file:
        names = hdf5.names(file, path)
        arrays = [name for name in names if not hdf5.is_group(file, name, path)]
    is_flat = not {"terminals", "timeouts"}.isdisjoint(arrays)  # the ends of episodes are known
    step = "choose its arrays with --format d4rl --obs KEY --action KEY" if is_flat else _RECIPE
    return f"an HDF5 file with {shorten(names) or 'nothing in it'}", step


def _table(path: Path) -> tuple[str, str]:
    step = "give the folder of its dataset, which has meta/info.json"
    try:
        names = parquet.names(path)
    except FormatError:
        return "a damaged Parquet file", "copy or download it again"
    return f"a Parquet table with columns {shorten(names)}", step


def _text(start: bytes) -> tuple[str, str]:
    """Return what a text begins with, or the first bytes of anything else."""
    line = start.decode("utf-8-sig", errors="replace").split("\n")[0].strip()
    if not line.isprintable() or "\ufffd" in line:
        return f"a file that begins with the bytes {start[:8]!r}", _RECIPE
    if line.startswith(("{", "[")):
        return f"JSON that begins with {line[:_LINE]!r}", _RECIPE
    step = "begin it with a line of column names" if set(",;\t") & set(line) else _RECIPE
    return f"a text whose first line is {line[:_LINE]!r}", step
