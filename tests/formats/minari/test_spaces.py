from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from counterbc.errors import FormatError
from counterbc.formats import (
    load,
)
from counterbc.formats.minari import spaces
from tests.formats.minari.foreign import (
    box,
    foreign,
)


def test_open_bounds_are_unknown_bounds(tmp_path: Path) -> None:
    half = box(2, low=[-1.0, -np.inf], high=[1.0, 1.0])
    assert load(foreign(tmp_path, action_space=json.dumps(half))).action_low is None


def test_spaces_within_spaces_without_end_are_refused(tmp_path: Path) -> None:
    space: dict[str, Any] = box(1)
    for _ in range(100):
        space = {"type": "Tuple", "subspaces": [space]}
    with pytest.raises(FormatError, match="expected a space"):
        load(foreign(tmp_path, observation_space=json.dumps(space)))


def test_a_space_is_flattened_to_its_leaves_in_order() -> None:
    space = {"type": "Dict", "subspaces": {"b": box(2), "a": {"type": "Tuple", "subspaces": [
        {"type": "Discrete", "n": 9}, {"type": "MultiBinary", "n": 3}]}}}  # fmt: skip
    parts = spaces.leaves(space, "a space")
    assert [(leaf.name, leaf.kind, leaf.width) for leaf in parts] == [
        ("b", "Box", 2), ("a.0", "Discrete", 1), ("a.1", "MultiBinary", 3),
    ]  # fmt: skip
    assert all(leaf.numeric and not leaf.image for leaf in parts)
    (whole,) = spaces.leaves(box(2), "a space")
    assert whole.name == "state"


@pytest.mark.parametrize(
    ("shape", "high", "image"),
    [((32, 40, 3), 255, True), ((32, 40), 255, True), ((31, 40, 3), 255, False),
     ((32, 40, 3), 254, False)],
)  # fmt: skip
def test_an_image_is_what_minari_takes_for_one(
    shape: tuple[int, ...], high: int, image: bool
) -> None:
    (leaf,) = spaces.leaves(spaces.box(shape, 0, high, "uint8"), "a space")
    assert leaf.image is image


def test_bounds_are_known_only_if_every_side_is_finite_and_ordered() -> None:
    def bounds(low: list[float], high: list[float]) -> dict[str, Any]:
        return spaces.action_bounds(spaces.leaves(spaces.box([2], low, high), "a space"))

    limits = bounds([-1, -2], [1, 2])
    assert (limits["action_low"].tolist(), limits["action_high"].tolist()) == (
        [-1, -2],
        [1, 2],
    )
    assert bounds([-1, -np.inf], [1, 1]) == {}
    assert bounds([1, 0], [1, 1]) == {}


def test_a_ragged_space_is_refused(tmp_path: Path) -> None:
    space = {"type": "MultiDiscrete", "nvec": [[1, 2], [3]]}
    with pytest.raises(FormatError, match="has lists of different lengths; repair it"):
        load(foreign(tmp_path, observation_space=json.dumps(space)))
    huge = box(2, low=[-(10**400)] * 2)
    with pytest.raises(FormatError, match="expected 2 numbers; repair it"):
        load(foreign(tmp_path / "b", action_space=json.dumps(huge)))
