"""Checks of the arguments that all environments take."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from counterbc.errors import OptionError


def check_render_mode(render_mode: str | None) -> None:
    """Raise an error for a render mode that no world has."""
    if render_mode not in (None, "rgb_array"):
        raise OptionError(f"render_mode is {render_mode!r}; allowed: 'rgb_array', or None")


def check_actions(actions: Any, shape: tuple[int, ...]) -> NDArray[Any]:
    """Return the actions as float64, or raise an error if they have another shape."""
    array = np.asarray(actions, np.float64)
    if array.shape != shape:
        raise OptionError(f"actions have shape {array.shape}; expected {shape}")
    return array


def slot_seeds(seed: int | Sequence[int | None] | None, count: int) -> list[int | None]:
    """Return the seed of each slot: of one number, its successors; None where there is none."""
    if isinstance(seed, (int, np.integer)):
        return [int(seed) + i for i in range(count)]
    seeds: list[int | None] = [None] * count if seed is None else list(seed)
    if len(seeds) != count:
        raise OptionError(f"{len(seeds)} seeds for {count} slots; give one per slot")
    return seeds
