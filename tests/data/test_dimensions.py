"""Observation dimensions by name, and those that are declared angles."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from counterbc.data.demonstrations import Demonstrations, Episode
from counterbc.data.dimensions import dimension_text, dims_of, find_dims, known_angles
from counterbc.errors import DataError


def arm(**fields: Any) -> Demonstrations:
    """Return one pair of two keys, in which two dimensions have the same name."""
    defaults: dict[str, Any] = {
        "obs_names": ("x", "yaw", "yaw", "tip"),
        "obs_keys": (("arm", 2), ("hand", 2)),
        "action_names": ("turn",),
    }
    return Demonstrations((Episode(np.zeros((1, 4)), np.zeros((1, 1))),), **(defaults | fields))


@pytest.mark.parametrize(
    ("entry", "dims"),
    [("x", [0]), ("hand", [2, 3]), ("hand[0]", [2]), ("arm[0:2]", [0, 1]), ("yaw", None),
     ("ti", None), ("hand[2]", None), ("hand[1:1]", None), ("", None)],
)  # fmt: skip
def test_an_entry_is_a_name_a_key_or_a_part_of_a_key(entry: str, dims: list[int] | None) -> None:
    assert find_dims(arm(), entry) == dims
    assert dims_of(arm(), [entry, "tip"]) == tuple(sorted({*(dims or ()), 3}))


def test_the_text_of_a_dimension_stands_for_it_alone() -> None:
    texts = [dimension_text(arm(), dim) for dim in range(4)]
    assert texts == ["x", "arm[1]", "hand[0]", "tip"]
    assert [find_dims(arm(), text) for text in texts] == [[0], [1], [2], [3]]


def test_declared_angles_are_listed_once_and_in_order() -> None:
    assert arm(angles=("tip", "hand", "arm[1]")).angles == ("arm[1]", "hand[0]", "tip")
    assert arm(angles=["x"]).fingerprint() != arm().fingerprint()


def test_angles_that_were_not_chosen_are_dropped() -> None:
    assert known_angles(arm(), ("tip", "elbow", "hand[0]")) == ("tip", "hand[0]")


@pytest.mark.parametrize(
    ("angles", "message"),
    [
        (("elbow",), r"'elbow' cannot be an angle: there is no such observation; .*arm \(2\)"),
        (("yaw",), "2 dimensions are named so; give KEY"),
        (("turn",), "'turn' is an action; only observations can be declared angles"),
        ("tip", "angles is 'tip'; expected a list"),
        ((3,), r"angles is \(3,\); expected a list"),
    ],
)
def test_what_is_no_angle_is_refused(angles: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        arm(angles=angles)


def test_images_have_no_angle() -> None:
    frames = Episode(np.zeros((2, 4, 4, 3), np.uint8), np.zeros((2, 1)))
    with pytest.raises(DataError, match="yaw cannot be an angle: observations are images"):
        Demonstrations((frames,), angles=("yaw",))
