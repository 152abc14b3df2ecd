"""Actions of a dataset in the range [−1, 1]."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from counterbc.data.action_scale import action_range, scaled_actions, user_actions
from counterbc.data.arrays import Array
from counterbc.data.demonstrations import Demonstrations, Episode
from counterbc.data.scaling import Scaling


@pytest.fixture(params=["declared", "data"])
def demos(request: pytest.FixtureRequest) -> Demonstrations:
    action = np.random.default_rng(0).normal(size=(200, 2))
    bounds: tuple[Array | None, Array | None] = (None, None)
    if request.param == "declared":
        bounds = np.array([-2.5, -0.7]), np.array([1.3, 4.1])
    return Demonstrations((Episode(np.zeros((200, 1)), action),), *bounds)


def test_numpy_and_torch_scale_actions_alike(demos: Demonstrations) -> None:
    action = demos.action.astype(np.float64)
    scales = Scaling.fit(demos, scale_obs=True, scale_actions=True)
    expected = scales.action(torch.tensor(action)[None])[0].numpy()
    np.testing.assert_array_equal(scaled_actions(demos, action), expected)
    assert scales.bounds_from == action_range(demos)[2]


def test_scaling_is_undone(demos: Demonstrations) -> None:
    action = demos.action.astype(np.float64)
    restored = user_actions(demos, scaled_actions(demos, action))
    np.testing.assert_allclose(restored, action, rtol=1e-5, atol=1e-6)


def test_a_constant_dimension_has_a_range() -> None:
    demos = Demonstrations((Episode(np.zeros((9, 1)), np.full((9, 1), 3.0)),))
    low, high, source = action_range(demos)
    assert (low.tolist(), high.tolist(), source) == ([2.0], [4.0], "data")
