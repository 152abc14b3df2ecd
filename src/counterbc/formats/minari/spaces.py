"""The spaces in the metadata of a Minari dataset, flattened to their leaves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from counterbc.data.arrays import Array
from counterbc.errors import FormatError
from counterbc.formats import json_files

_NUMERIC = ("Box", "Discrete", "MultiDiscrete", "MultiBinary")
_MAX_WIDTH = 2**28  # numbers per row; ten times a 4K colour image
_MAX_DEPTH = 20  # of nested spaces
_IMAGE_SIDE = 32  # pixels; Minari treats a smaller Box as numbers


@dataclass(frozen=True)
class Leaf:
    """A space without parts; `path` has keys of Dict spaces and indices of Tuple spaces."""

    path: tuple[str | int, ...]
    kind: str
    shape: tuple[int, ...]
    dtype: str
    low: Array
    high: Array
    pixels: bool = False
    """Whether our writer stored it as an image; any size is allowed then."""

    @property
    def name(self) -> str:
        return ".".join(map(str, self.path)) or "state"

    @property
    def width(self) -> int:
        return prod(self.shape)

    @property
    def numeric(self) -> bool:
        return self.kind in _NUMERIC

    @property
    def image(self) -> bool:
        """Whether Minari treats it as an image, which it stores as JPEG by default."""
        return self.pixels or (
            (self.kind, self.dtype) == ("Box", "uint8")
            and len(self.shape) in (2, 3)
            and min(self.shape[:2]) >= _IMAGE_SIDE
            and bool((self.low == 0).all() and (self.high == 255).all())
        )


def leaves(space: Any, label: str, path: tuple[str | int, ...] = ()) -> list[Leaf]:
    """Return the leaves of a space in order."""
    if not isinstance(space, dict) or len(path) > _MAX_DEPTH:
        raise FormatError(f"{label} contains {space!r:.60}; expected a space; repair it")
    kind = json_files.entry(space, "type", str, label)
    if kind == "Dict":
        parts = json_files.entry(space, "subspaces", dict, label)
        return [leaf for key, s in parts.items() for leaf in leaves(s, label, (*path, key))]
    if kind == "Tuple":
        spaces = json_files.entry(space, "subspaces", list, label)
        return [leaf for i, s in enumerate(spaces) for leaf in leaves(s, label, (*path, i))]
    return [_leaf(space, kind, label, path)]


def _leaf(space: dict[str, Any], kind: str, label: str, path: tuple[str | int, ...]) -> Leaf:
    shape: Any = ()
    if kind == "Box":
        shape = json_files.entry(space, "shape", list, label)
    elif kind == "MultiDiscrete":
        shape = _nested_shape(json_files.entry(space, "nvec", list, label), label)
    elif kind == "MultiBinary":
        n = space.get("n")
        shape = n if isinstance(n, list) else [n]
    if not all(isinstance(s, int) and s > 0 for s in shape) or prod(shape) > _MAX_WIDTH:
        raise FormatError(
            f"{label} has shape {list(shape)!r:.60}; expected positive sizes; repair it"
        )
    size = prod(shape)
    low, high = (_bound(space.get(k), size, label) for k in ("low", "high"))
    return Leaf(path, kind, tuple(shape), str(space.get("dtype")), low, high)


def _nested_shape(values: list[Any], label: str) -> tuple[int, ...]:
    try:
        return np.shape(values)
    except ValueError:  # lists of different lengths
        raise FormatError(f"{label} has lists of different lengths; repair it") from None


def _bound(values: Any, size: int, label: str) -> Array:
    """Return one bound for each dimension; NaN if there is none."""
    try:
        bound = np.array(np.nan if values is None else values, np.float64)
        return np.broadcast_to(bound.ravel(), (size,))
    except (TypeError, ValueError, OverflowError):
        raise FormatError(
            f"{label} has the bound {values!r:.60}; expected {size} numbers; repair it"
        ) from None


def action_bounds(parts: Sequence[Leaf]) -> dict[str, Array]:
    """Return action bounds for a `Header`, or nothing if a dimension is unbounded."""
    low = np.concatenate([p.low for p in parts])
    high = np.concatenate([p.high for p in parts])
    is_bounded = np.isfinite(low).all() and np.isfinite(high).all() and (low < high).all()
    return {"action_low": low, "action_high": high} if is_bounded else {}


def box(shape: Sequence[int], low: Any, high: Any, dtype: str = "float32") -> dict[str, Any]:
    """Return a Box as Minari writes it; low and high are numbers or nested lists."""
    full = {
        "low": np.broadcast_to(low, shape).tolist(),
        "high": np.broadcast_to(high, shape).tolist(),
    }
    return {"type": "Box", "dtype": dtype, "shape": list(shape), **full}
