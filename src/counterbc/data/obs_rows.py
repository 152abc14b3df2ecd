"""Observations as rows: numbers of a vector, or bytes where there are images.

A row of bytes holds the pixels of each camera one after the other, then the numbers of the vector
as they lie in memory. So whatever gathers, stacks or windows observations need not know their
parts, and images stay bytes. A row of zeros is black images and a vector of zeros. `packing.py`
does the same with tensors.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Protocol

import numpy as np

from counterbc.data.arrays import Array
from counterbc.data.demonstrations import Demonstrations
from counterbc.data.episode import is_image

_LARGE_SHARE = 0.1  # of all pairs


class _Observed(Protocol):
    """An episode, or what else has observations of one or several parts."""

    @property
    def obs(self) -> Array: ...
    @property
    def images(self) -> Mapping[str, Array]: ...


def pack_arrays(images: Sequence[Array], vector: Array | None) -> Array:
    """Return rows of bytes (n, R) from images (n, H, W, C) and a vector (n, S)."""
    parts = [np.ascontiguousarray(x, np.uint8).reshape(len(x), -1) for x in images]
    if vector is not None:
        parts.append(np.ascontiguousarray(vector, np.float32).view(np.uint8))
    return np.concatenate(parts, axis=1) if len(parts) > 1 else parts[0]


def pixel_rows(episode: _Observed) -> list[Array]:
    """Return the pixels of each camera of an episode, in order: (T, H, W, C) each."""
    first = [episode.obs] if is_image(episode.obs) else []
    return [*first, *episode.images.values()]


def obs_rows(demos: Demonstrations, index: Array) -> Array:
    """Return the observations of some pairs: numbers (n, S), or rows of bytes (n, R)."""
    if not demos.cameras and len(index) > _LARGE_SHARE * demos.lengths.sum():
        return demos.obs[index]  # copies all observations, but visits no episode alone
    size = _bytes(demos) if demos.cameras else demos.obs_shape[0]
    rows = np.empty((len(index), size), np.uint8 if demos.cameras else np.float32)
    ends = np.cumsum(demos.lengths)
    owner = np.searchsorted(ends, index, side="right")
    order = np.argsort(owner, kind="stable")
    numbers, begins = np.unique(owner[order], return_index=True)
    for number, places in zip(numbers.tolist(), np.split(order, begins[1:]), strict=False):
        e = demos.episodes[number]  # never all images at once: they are large
        at = index[places] - (ends[number] - len(e))
        vector = None if demos.camera else e.obs[at]
        images = [x[at] for x in pixel_rows(e)]
        rows[places] = pack_arrays(images, vector) if images else vector
    return rows


def _bytes(demos: Demonstrations) -> int:
    """Return the length of a row of bytes."""
    pixels = sum(prod(shape) for shape in demos.cameras.values())
    return pixels if demos.camera else pixels + 4 * demos.obs_shape[0]
