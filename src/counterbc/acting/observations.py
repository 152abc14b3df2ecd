"""What policies read of an observation: a vector, images, or both, also from a dict by name."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from counterbc.data.arrays import Array
from counterbc.data.names import shape_text
from counterbc.data.obs_rows import pack_arrays
from counterbc.data.packing import pack, unpack
from counterbc.data.resizing import resize
from counterbc.data.scaling import Scaling
from counterbc.errors import DataError
from counterbc.policies import Policy

_PREFIXES = ("observation.images.", "observation.")
"""What LeRobot puts before the names that environments use."""
_ELEMENT = re.compile(r"(.+?)(?:[_.](\d{1,6})|\[(\d{1,6})\])")
"""A number of a part, as the columns of tables are named: pos_0, pos.0 or pos[0]."""


class ReadsRows(Protocol):
    """What the conversion of rows needs of policies."""

    @property
    def policy(self) -> Policy: ...
    @property
    def scales(self) -> Scaling: ...


def pixel_count(policy: Policy) -> int:
    """Return the pixels of all cameras of one observation."""
    return sum(map(prod, policy.images))


def scaled_rows(policies: ReadsRows, rows: Tensor) -> Tensor:
    """Return observations (P, …, R) in the user's units as the policies read them."""
    policy, scales = policies.policy, policies.scales
    if rows.dtype != torch.uint8 or not policy.reads_vector:
        return scales.obs(rows)
    pixels, vector = unpack(rows, pixel_count(policy), torch.float32)
    return pack(pixels, scales.obs(vector))


def row_vectors(policies: ReadsRows, rows: Tensor) -> Tensor:
    """Return the vectors of observations (P, …, R) in the user's units; of images, themselves."""
    policy = policies.policy
    if rows.dtype != torch.uint8 or not policy.reads_vector:
        return rows
    return unpack(rows, pixel_count(policy), torch.float32)[1]


@dataclass(frozen=True)
class Observed:
    """The parts of an observation that policies read, by name."""

    keys: tuple[str, ...]
    """The keys that are joined to the vector."""
    size: int
    """The numbers of the vector; 0 without one."""
    cameras: tuple[str, ...]
    images: tuple[tuple[int, ...], ...]
    """Height, width and channels of each camera."""
    is_resized: bool = False
    """Whether images of other sizes are resized, as they were for the training."""

    @property
    def is_mixed(self) -> bool:
        """Whether there are several parts, which environments give as a dict."""
        return bool(self.images) and len(self.images) + bool(self.size) > 1

    @property
    def camera_inputs(self) -> tuple[str, ...]:
        """The names of the images in an exported file: `obs` for one camera alone."""
        if len(self.images) == 1 and not self.size:
            return ("obs",)
        names = self.cameras or [f"camera{i}" for i in range(len(self.images))]
        return tuple(f"image {n}" if n in ("obs", "noise", "actions") else n for n in names)

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of one observation: of a vector, an image, or a row of bytes for several."""
        if not self.is_mixed:
            return self.images[0] if self.images else (self.size,)
        return (sum(map(prod, self.images)) + 4 * self.size,)

    @property
    def text(self) -> str:
        """The parts in words."""
        names = self.cameras or ["images"] * len(self.images)
        parts = [f"{n} {shape_text(x)}" for n, x in zip(names, self.images, strict=False)]
        return " and ".join(parts + ([f"a vector of {self.size} numbers"] if self.size else []))

    def rows(self, obs: Mapping[str, Any] | NDArray[Any]) -> Array:
        """Return n observations as rows: numbers (n, S), or bytes where there are images.

        A dict has an array (n, …) for each name; an array is the only part, or rows already.
        """
        if isinstance(obs, Mapping):
            return self._from_parts(obs)
        obs = np.asarray(obs)
        if not self.images:
            return obs.reshape(len(obs), -1)
        if len(self.images) == 1 and not self.size:
            obs = self._resized(obs, self.images[0])
            return obs.reshape(len(obs), -1).astype(np.uint8, copy=False)
        if obs.dtype == np.uint8 and obs.ndim == 2:
            return obs
        raise DataError(
            f"obs is an array of shape {obs.shape[1:]}, but this policy reads {self.text}; give a "
            f"dict with {', '.join([*self.cameras, *self.keys])}"
        )

    def _resized(self, images: Array, shape: tuple[int, ...]) -> Array:
        """Return images in the size of the training, if that was chosen."""
        fits = images.ndim == 4 and images.dtype == np.uint8 and images.shape[3] == shape[2]
        return resize(images, shape[:2]) if self.is_resized and fits else images

    def _from_parts(self, obs: Mapping[str, Any]) -> Array:
        arrays = [np.asarray(obs[find_key(name, obs)]) for name in self.cameras]
        images = [self._resized(x, shape) for x, shape in zip(arrays, self.images, strict=True)]
        for name, image, shape in zip(self.cameras, images, self.images, strict=True):
            if image.shape[1:] != shape or image.dtype != np.uint8:
                raise DataError(
                    f"the image {name!r} has shape {image.shape[1:]} ({image.dtype}); this policy "
                    f"reads {shape} in uint8"
                )
        if not self.size:
            return pack_arrays(images, None)
        elements = find_elements(self.keys, obs)
        parts = [_read_part(name, obs, elements.get(name)) for name in self.keys]
        vector = np.concatenate(parts, axis=1)
        if vector.shape[1] != self.size:
            raise DataError(
                f"{' and '.join(self.keys)} have {vector.shape[1]} numbers; this policy reads "
                f"{self.size}"
            )
        return pack_arrays(images, vector) if images else vector


def find_key(name: str, obs: Mapping[str, Any]) -> str:
    """Return the key of an observation that stands for a name of the training.

    Names of LeRobot features are also found without `observation.` and `observation.images.`.
    """
    for spelling in spellings(name):
        if spelling in obs:
            return spelling
    raise DataError(
        f"obs has no {name!r}, which this policy was trained on; it has {', '.join(obs)}"
    )


def find_elements(names: Iterable[str], keys: Collection[str]) -> dict[str, tuple[str, int]]:
    """Return the key and the index of each name that stands for one number of a part.

    Such a name has the beginning of a key, and no key has the name itself. Indices count from 0, as
    names show that have index 0 of the same part among them; without it they are refused, since
    a table may count from 1.
    """
    candidates = {name: _find_element(name, keys) for name in names}
    elements = {name: element for name, element in candidates.items() if element is not None}
    counted = {key for key, index in elements.values() if index == 0}
    for name, (key, _) in elements.items():
        if key not in counted:
            raise DataError(
                f"columns of {key} are counted from 0, and the training reads {name} without "
                f"{key}_0; rename them {key}_0, {key}_1, …, or read {key}_0 as well"
            )
    return elements


def _find_element(name: str, keys: Collection[str]) -> tuple[str, int] | None:
    match = _ELEMENT.fullmatch(name)
    if match is None or set(spellings(name)) & set(keys):
        return None
    key = next((spelling for spelling in spellings(match[1]) if spelling in keys), None)
    return None if key is None else (key, int(match[2] or match[3]))


def part_widths(
    names: Iterable[str], shapes: Mapping[str, tuple[int, ...]]
) -> dict[str, int | None]:
    """Return how many numbers each name of the training stands for; None where nothing does."""
    names = tuple(names)
    elements, widths = find_elements(names, shapes), dict[str, int | None]()
    for name in names:
        key = next((spelling for spelling in spellings(name) if spelling in shapes), None)
        widths[name] = None if key is None else prod(shapes[key])
        if name in elements:
            key, index = elements[name]
            widths[name] = 1 if index < prod(shapes[key]) else None
    return widths


def _read_part(name: str, obs: Mapping[str, Any], element: tuple[str, int] | None) -> Array:
    """Return the numbers of n observations that a name of the training stands for: (n, W)."""
    key, index = element or (find_key(name, obs), None)
    values = np.asarray(obs[key], np.float32)
    vectors = values.reshape(len(values), -1)
    if index is None:
        return vectors
    if index >= vectors.shape[1]:
        raise DataError(
            f"{key} has {vectors.shape[1]} numbers; this policy reads {name}, counted from 0"
        )
    return vectors[:, index : index + 1]


def spellings(name: str) -> Sequence[str]:
    """Return the keys that may stand for a name of the training."""
    short = [name.removeprefix(prefix) for prefix in _PREFIXES if name.startswith(prefix)]
    return [name, *short]
