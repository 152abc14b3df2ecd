"""Bounds, angles and rate in small arrays of an .npz file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from counterbc.errors import DataError, FormatError
from counterbc.formats import load, open_stream, save
from tests.formats.npz.arrays import four, write_npz

FACTS: dict[str, Any] = {"low": -1.0, "high": [2.0], "angles": ["state[1]"], "rate": 50}


def test_arrays_declare_bounds_angles_and_rate_and_a_copy_keeps_them(tmp_path: Path) -> None:
    path = write_npz(tmp_path / "a.npz", **four(), **FACTS)
    save(load(path), tmp_path / "b.npz")
    save(load(path), tmp_path / "b.hdf5")
    for name in ("a.npz", "b.npz", "b.hdf5"):
        demos = load(tmp_path / name)
        assert (demos.bounds, demos.angles) == ("[-1, 2] in every dimension", ("state[1]",))
        assert demos.rate == 50
    assert not set(FACTS) & set(open_stream(path).header.left_out)


def test_bounds_are_not_those_of_another_action_and_angles_not_of_another_array(
    tmp_path: Path,
) -> None:
    arrays = four() | {"pose": np.zeros((4, 3)), "command": np.zeros((4, 2))}
    facts = FACTS | {"angles": ["pose[2]", "state[0]"]}
    path = write_npz(tmp_path / "a.npz", **(arrays | {"angles": ["pose[2]"]}))
    assert load(path).angles == ()
    path = write_npz(tmp_path / "b.npz", **(arrays | facts))
    assert load(path).angles == ("state[0]",)
    narrow_demos = load(path, ["pose"], action=["command"])
    assert (narrow_demos.angles, narrow_demos.action_low, narrow_demos.rate) == (
        ("pose[2]",),
        None,
        50,
    )
    del arrays["action"]
    path = write_npz(tmp_path / "d.npz", **(arrays | {"low": [-1, -2], "high": 1}))
    assert load(path, action=["command"]).bounds == "[-1, 1] [-2, 1]"


@pytest.mark.parametrize(
    ("facts", "sentence"),
    [
        ({"low": [-1.0, 0, 0], "high": 1}, r"low has shape \(3,\); expected one number, or one b"),
        ({"low": "a", "high": 1}, "low has shape"),
        ({"high": 1}, "action_low and action_high must both be given"),
        ({"angles": [1, 2]}, "angles has type int64 and shape"),
        ({"angles": ["yaw"]}, "'yaw' cannot be an angle: there is no such observation"),
        ({"angles": "state[7]"}, r"'state\[7\]' cannot be an angle"),
        ({"rate": [1, 2]}, r"rate has shape \(2,\); expected one number"),
        ({"rate": -2}, "rate is -2.0; expected"),
    ],
)
def test_a_declaration_that_makes_no_sense_is_refused(
    facts: dict[str, Any], sentence: str, tmp_path: Path
) -> None:
    with pytest.raises((FormatError, DataError), match=sentence):
        load(write_npz(tmp_path / "a.npz", **four(), **facts))
