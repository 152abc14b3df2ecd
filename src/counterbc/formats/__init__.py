"""Read demonstrations from whatever file they are in, one module per format."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from counterbc.demonstrations import Demonstrations
from counterbc.errors import FormatError
from counterbc.formats import robomimic

__all__ = ["load"]


def load(path: str | Path, obs: Sequence[str] | None = None) -> Demonstrations:
    """Read a dataset; the format is recognized by looking at what lies at `path`.

    `obs` names the observation keys to read, in that order; by default all low-dimensional ones.
    """
    path = Path(path)
    if not path.exists():
        raise FormatError(f"{path} does not exist; give the path of a robomimic HDF5 file")
    if path.is_dir():
        raise FormatError(f"{path} is a folder; give the path of a robomimic HDF5 file")
    return robomimic.read(path, obs)
