"""robomimic HDF5, both ways.

    data                attrs: total, env_args (JSON)
    data/demo_i         attrs: num_samples; datasets: actions, rewards, dones, obs/<key>
    mask/<name>         byte strings: the names of a subset of demos

What robomimic has no place for goes to attributes and a dataset that it does not look at: on `data`
written_by, action_low, action_high, action_set, action_names, obs_names, obs_keys, rate; on a demo
name, operator, success and the dataset `selected`. A file with `written_by` is taken at its word;
in any other file bounds, rate and operators are read from robomimic's own conventions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from counterbc.data.demonstrations import Demonstrations
from counterbc.data.episode import Array
from counterbc.errors import FormatError
from counterbc.formats import hdf5
from counterbc.formats.hdf5 import member, numbers, text_of
from counterbc.formats.robomimic import layout as robomimic_layout
from counterbc.formats.robomimic.layout import Layout, is_image, width_of
from counterbc.formats.robomimic.writer import write
from counterbc.formats.stream import RawEpisode, Stream

__all__ = ["read", "recognizes", "stream", "write"]


def recognizes(path: Path) -> bool:
    """An HDF5 file with a group `data`."""
    if not path.is_file() or not h5py.is_hdf5(path):
        return False
    with hdf5.opened(path) as file:
        return isinstance(member(file, "data", path), h5py.Group)


def read(path: str | Path, obs: Sequence[str] | None = None) -> Demonstrations:
    """Read a file; `obs` names the observation keys to use, in that order.

    Without `obs`, all low-dimensional keys are joined in sorted order and images are left out; of a
    robosuite file the four that robomimic trains on, where it has them. A file with one image key
    and nothing else is read as images.
    """
    return stream(path, obs).demonstrations()


def stream(path: str | Path, obs: Sequence[str] | None = None) -> Stream:
    """The same, demo by demo."""
    parts = _parts(Path(path), obs)
    return Stream(next(parts), parts)


def _parts(path: Path, obs: Sequence[str] | None) -> Iterator[Any]:
    """The header, then each recording; opening the file takes as long as ten short demos."""
    with hdf5.opened(path) as file:
        layout = robomimic_layout.find(file, path, obs)
        yield layout.header
        data = hdf5.subgroup(file, "data", path)
        for name in layout.names:
            demo = hdf5.subgroup(data, name, path, known=True)
            yield _read_demo(demo, name, layout, path)


def _read_demo(group: h5py.Group, file_name: str, layout: Layout, path: Path) -> RawEpisode:
    name, there = layout.names[file_name], hdf5.names(group, path)
    action = numbers(group, "actions", path)
    count = hdf5.number_of(group, "num_samples", path)
    if count is not None and count != len(action):
        raise FormatError(
            f"{path}: demo {name!r} says it has {count:g} samples but holds {len(action)} actions; "
            "repair its attribute num_samples"
        )
    operator, success = text_of(group, "operator", path), hdf5.number_of(group, "success", path)
    extra = {k: numbers(group, k, path, known=True) for k in ("rewards", "selected") if k in there}
    with np.errstate(over="ignore"):  # beyond 32 bits is infinite, which is reported as such
        return RawEpisode(
            obs=_read_obs(group, name, len(action), layout, path),
            action=_kept(action),
            reward=_kept(extra["rewards"]) if "rewards" in extra else None,
            operator=layout.operators.get(file_name) if operator is None else operator,
            success=None if success is None else bool(success),
            name=name,
            selected=extra.get("selected"),
        )


def _read_obs(group: h5py.Group, name: str, length: int, layout: Layout, path: Path) -> Array:
    """The chosen keys side by side, (T, S), or the one image."""
    obs = hdf5.subgroup(group, "obs", path)
    there = hdf5.names(obs, path)
    joined = np.empty((0 if layout.image else length, sum(layout.widths)), np.float32)
    end = 0
    for key, width in zip(layout.keys, layout.widths, strict=True):
        part = numbers(obs, key, path, known=key in there)
        rows = len(part) if part.ndim else 0
        if rows != length:
            raise FormatError(
                f"{path}: demo {name!r} has {rows} rows of obs/{key} but {length} actions; "
                "each action needs the state at which it was shown"
            )
        if is_image(part) != layout.image or (not layout.image and width_of(part) != width):
            raise FormatError(
                f"{path}: obs/{key} of demo {name!r} has {width_of(part)} numbers a row; "
                f"the first demo has {width}; all must agree"
            )
        if layout.image:
            return _kept(part)
        joined[:, end : end + width] = part.reshape(length, width)
        end += width
    return _kept(joined)


def _kept(array: Array) -> Array:
    """As an `Episode` holds it, so that it need not copy: read-only, float32 unless an image."""
    if array.dtype == np.float64:
        array = array.astype(np.float32)
    array.setflags(write=False)
    return array
