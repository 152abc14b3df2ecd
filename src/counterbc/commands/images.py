"""Options of commands on demonstrations with cameras, on which a default training takes hours."""

from __future__ import annotations

from collections.abc import Iterable
from math import prod, sqrt
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from counterbc.data.demonstrations import Demonstrations

FIRST_TRAINING = ("--method", "bc", "--steps", 2000)
"""A first training on images: no search for Δ and steps."""
HELD_OUT = ("--held-out", 0.2)
"""Its test on held-out episodes."""
LARGEST = 128 * 128
"""Pixels of an image up to which no smaller one is suggested."""
_SUGGESTED = 96 * 128
_MULTIPLE, _LEAST = 4, 36  # of each side; the convolutions of policies need 36 pixels


def first_training(demos: Demonstrations, episodes: int) -> tuple[object, ...]:
    """Return the options of a quick first training on this number of episodes; empty without
    cameras, where the default search is quick enough. A single episode cannot be held out."""
    if not demos.cameras:
        return ()
    return (*FIRST_TRAINING, *(HELD_OUT if episodes > 1 else ()), *image_size(demos))


def keys_with_cameras(demos: Demonstrations, keys: Iterable[str] = ()) -> tuple[str, ...]:
    """Return what to give --obs so that cameras are read as well; empty where none is left out.

    `keys` are the observations that are read, by default those of the demonstrations.
    """
    if not demos.blind_to:
        return ()
    return (*(keys or (key for key, _ in demos.obs_keys)), *demos.cameras, *demos.blind_to)


def image_size(demos: Demonstrations) -> tuple[object, ...]:
    """Return the option that makes large images small; empty where all of them are.

    Images are suggested to keep their aspect, of the largest camera, with as many pixels as 96×128.
    """
    if demos.image_size:
        return ()
    sizes = [shape[:2] for shape in demos.cameras.values()]
    largest = max(sizes, key=prod, default=(0, 0))
    if prod(largest) <= LARGEST:
        return ()
    return ("--image-size", *_smaller(largest))


def _smaller(size: Iterable[int]) -> list[int]:
    """Return a size of the same aspect with about as many pixels as are suggested."""
    sides = list(size)
    scale = sqrt(_SUGGESTED / prod(sides))
    return [max(_LEAST, _MULTIPLE * round(side * scale / _MULTIPLE)) for side in sides]
