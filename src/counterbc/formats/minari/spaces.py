"""The spaces in a Minari dataset's metadata, flattened to their leaves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from counterbc.data.episode import Array
from counterbc.errors import FormatError
from counterbc.formats import json_files

_NUMERIC = ("Box", "Discrete", "MultiDiscrete", "MultiBinary")
_MOST = 2**28  # numbers in a row; ten times a 4K colour image
_DEEP = 20  # spaces within spaces
_SMALLEST = 32  # pixels on each side, from which on Minari calls a Box an image


@dataclass(frozen=True)
class Leaf:
    """A space without parts, and the way to it: keys of Dict spaces, numbers in Tuple spaces."""

    path: tuple[str | int, ...]
    kind: str
    shape: tuple[int, ...]
    dtype: str
    low: Array
    high: Array
    pixels: bool = False
    """Known to be an image, whatever its size."""

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
        """Also what Minari takes for an image, and stores as JPEG unless told otherwise."""
        return self.pixels or (
            (self.kind, self.dtype) == ("Box", "uint8")
            and len(self.shape) in (2, 3)
            and min(self.shape[:2]) >= _SMALLEST
            and bool((self.low == 0).all() and (self.high == 255).all())
        )


def leaves(space: Any, where: str, path: tuple[str | int, ...] = ()) -> list[Leaf]:
    """The leaves of a space, in its order."""
    if not isinstance(space, dict) or len(path) > _DEEP:
        raise FormatError(f"{where} has {space!r:.60} within it; expected a space; repair it")
    kind = json_files.entry(space, "type", str, where)
    if kind == "Dict":
        parts = json_files.entry(space, "subspaces", dict, where)
        return [leaf for key, s in parts.items() for leaf in leaves(s, where, (*path, key))]
    if kind == "Tuple":
        spaces = json_files.entry(space, "subspaces", list, where)
        return [leaf for i, s in enumerate(spaces) for leaf in leaves(s, where, (*path, i))]
    return [_leaf(space, kind, where, path)]


def _leaf(space: dict[str, Any], kind: str, where: str, path: tuple[str | int, ...]) -> Leaf:
    shape: Any = ()
    if kind == "Box":
        shape = json_files.entry(space, "shape", list, where)
    elif kind == "MultiDiscrete":
        shape = np.shape(json_files.entry(space, "nvec", list, where))
    elif kind == "MultiBinary":
        n = space.get("n")
        shape = n if isinstance(n, list) else [n]
    if not all(isinstance(s, int) and s > 0 for s in shape) or prod(shape) > _MOST:
        raise FormatError(
            f"{where} has shape {list(shape)!r:.60}; expected sizes from 1; repair it"
        )
    size = prod(shape)
    low, high = (_bound(space.get(k), size, where) for k in ("low", "high"))
    return Leaf(path, kind, tuple(shape), str(space.get("dtype")), low, high)


def _bound(values: Any, size: int, where: str) -> Array:
    """One number for each dimension; NaN where there is none."""
    try:
        found = np.array(np.nan if values is None else values, np.float64)
        return np.broadcast_to(found.ravel(), (size,))
    except (TypeError, ValueError):
        raise FormatError(
            f"{where} has the bound {values!r:.60}; expected {size} numbers; repair it"
        ) from None


def action_bounds(parts: Sequence[Leaf]) -> dict[str, Array]:
    """The bounds of a Header; none where a side is open."""
    low = np.concatenate([p.low for p in parts])
    high = np.concatenate([p.high for p in parts])
    bounded = np.isfinite(low).all() and np.isfinite(high).all() and (low < high).all()
    return {"action_low": low, "action_high": high} if bounded else {}


def box(shape: Sequence[int], low: Any, high: Any, dtype: str = "float32") -> dict[str, Any]:
    """A Box as Minari writes it; low and high are numbers or nested lists."""
    full = {
        "low": np.broadcast_to(low, shape).tolist(),
        "high": np.broadcast_to(high, shape).tolist(),
    }
    return {"type": "Box", "dtype": dtype, "shape": list(shape), **full}
