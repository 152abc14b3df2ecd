"""Meant actions that use time, from those that do not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import counterbc as cb
from counterbc.selection.held_out import HeldOut
from tests.fixture_types import Make

pytestmark = pytest.mark.filterwarnings("ignore::counterbc.errors.InfeasibleActions")
SMALL: dict[str, Any] = {
    "progress": False, "hidden": (16,), "steps": 200, "held_out": HeldOut(folds=3, repeats=2),
}  # fmt: skip


def test_smoothing_uses_time_and_a_radius_that_is_given_limits_it(make_demos: Make) -> None:
    demos = make_demos(episodes=6, noise=0.5)
    plain, smooth = (
        cb.meaning(demos, radius=0.2, smooth=use_time, **SMALL) for use_time in (False, True)
    )
    np.testing.assert_array_equal(plain.smooth().meant, smooth.meant)
    assert (plain.reach, smooth.reach) == ((), (0.2, 0.2))
    assert not np.array_equal(plain.meant, smooth.meant)
    assert np.array_equal(plain.residual, smooth.residual)
    inside = np.abs(demos.action).max(axis=1) <= 1
    assert smooth.moved[inside].max() <= 0.2 + 1e-6
    assert np.abs(smooth.meant).max() <= 1
