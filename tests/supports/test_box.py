"""A box, cut by the feasible actions, is filled uniformly."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from counterbc.data.feasible import Everywhere, UnitBox
from counterbc.supports import Box
from tests.supports.placing import COUNT, looks_uniform, many


@pytest.mark.parametrize("size", [1, 2, 28])
def test_a_box_cut_by_the_box_is_uniform_in_every_dimension(size: int) -> None:
    points = many(Box(COUNT), [1.0] * size, 0.4, UnitBox())
    for d in range(size):
        assert stats.kstest((points[:, d] - 0.6) / 0.4, "uniform").pvalue > 1e-4


def test_a_box_may_have_a_width_per_dimension() -> None:
    offset = many(Box(COUNT), [0.5, -2.0], [0.1, 3.0], Everywhere()) - [0.5, -2.0]
    for d, radius in enumerate((0.1, 3.0)):
        assert looks_uniform((offset[:, d] / radius + 1) / 2)
    assert abs(float(np.corrcoef(offset.T)[0, 1])) < 4.5 / np.sqrt(COUNT)
