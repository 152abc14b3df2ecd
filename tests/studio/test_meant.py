"""Meant actions for any Δ are those of the library with the same predictions."""

from __future__ import annotations

import numpy as np
import pytest

from counterbc.data.lags import lag_of
from counterbc.data.offsets import NO_OFFSETS
from counterbc.diagnosis.meaning import meaning_of_predictions
from counterbc.studio.meant import MeantActions
from tests.fixture_types import Make


@pytest.mark.parametrize("lag", [0.0, 2.0])
@pytest.mark.parametrize("radius", [0.0, 0.1, 0.5])
def test_the_meant_actions_are_those_of_the_library(
    make_demos: Make, lag: float, radius: float
) -> None:
    demos = make_demos(episodes=5, noise=0.4)
    rng = np.random.default_rng(1)
    predictions = demos.action + rng.normal(size=(3, *demos.action.shape)) * 0.2
    steps = lag_of(lag, demos)
    reference = meaning_of_predictions(demos, predictions, (radius,) * 2, "ball", steps, NO_OFFSETS)
    actions = MeantActions(demos, predictions, lag)
    np.testing.assert_allclose(actions.meant(slice(None), radius), reference.meant, atol=1e-9)
    np.testing.assert_allclose(actions.meant(slice(10, 20), radius), reference.meant[10:20])
    np.testing.assert_array_equal(actions.has_answer, reference.has_answer)
    distances = reference.moved[reference.has_answer]
    assert actions.moved(radius) == pytest.approx(float(np.sqrt((distances**2).mean())), abs=1e-6)


def test_with_no_radius_nothing_moves(make_demos: Make) -> None:
    demos = make_demos()
    actions = MeantActions(demos, np.zeros((2, *demos.action.shape)), 0.0)
    np.testing.assert_allclose(actions.meant(slice(None), 0.0), demos.action, atol=1e-6)
    assert actions.moved(0.0) == pytest.approx(0.0, abs=1e-9)
