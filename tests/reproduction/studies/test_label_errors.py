"""Errors that are added to recorded actions, and the filter that smooths them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from counterbc.data.arrays import Array
from reproduction.studies.label_errors import (
    CORRELATION,
    ERRORS,
    OUTLIER_SIZE,
    correlated,
    outliers,
    smoothed,
    uniform,
    with_errors,
)
from tests.fixture_types import Make

SHAPE = (20_000, 2)


def _rng() -> np.random.Generator:
    return np.random.default_rng(0)


def test_uniform_errors_fill_their_range_evenly() -> None:
    errors = uniform(0.2, SHAPE, _rng())
    assert 0.199 < np.abs(errors).max() <= 0.2
    assert errors.std() == pytest.approx(0.2 / np.sqrt(3), rel=0.02)


def test_outliers_change_this_share_of_the_steps_in_all_dimensions() -> None:
    errors = outliers(0.2, SHAPE, _rng())
    hit = errors != 0
    assert np.array_equal(hit[:, 0], hit[:, 1])
    assert hit[:, 0].mean() == pytest.approx(0.2, rel=0.05)
    assert 0.99 * OUTLIER_SIZE < np.abs(errors).max() <= OUTLIER_SIZE


def test_correlated_errors_have_the_deviation_and_the_correlation_asked_for() -> None:
    errors = correlated(0.1, SHAPE, _rng())
    assert errors.std() == pytest.approx(0.1, rel=0.05)
    after = np.corrcoef(errors[:-1, 0], errors[1:, 0])[0, 1]
    assert after == pytest.approx(CORRELATION, rel=0.02)
    later = np.corrcoef(errors[:-5, 0], errors[5:, 0])[0, 1]
    assert later == pytest.approx(CORRELATION**5, rel=0.1)
    assert abs(np.corrcoef(errors.T)[0, 1]) < 0.1, "dimensions err on their own"


@pytest.mark.parametrize("kind", ERRORS)
def test_errors_are_in_units_of_half_the_table_and_a_function_of_the_seed(
    kind: str, make_demos: Make
) -> None:
    demos = make_demos()
    size = {"uniform 0.2": 0.2, "20 % outliers": OUTLIER_SIZE, "correlated 0.1": 0.3}[kind]

    def added(seed: int) -> Array:
        return with_errors(demos, kind, seed).action - demos.action

    assert 0.5 * size < np.abs(added(0)).max() / 256 < 1.3 * size
    assert np.array_equal(added(0), added(0))
    assert not np.array_equal(added(0), added(1))


def test_other_kinds_of_data_keep_their_actions(make_demos: Make) -> None:
    demos = make_demos()
    assert with_errors(demos, "people", 0) is demos


def test_smoothing_keeps_a_parabola_and_short_episodes_and_removes_a_spike(
    make_demos: Make,
) -> None:
    time = np.linspace(-1, 1, 20)
    demos = make_demos(episodes=2, length=20, action_size=1)
    short = make_demos(episodes=1, length=5, action_size=1).episodes[0]
    spike = np.zeros((20, 1))
    spike[10] = 0.9
    actions = (time[:, None] ** 2, spike, short.action)
    episodes = (*demos.episodes, replace(short, name="short"))
    episodes = tuple(replace(e, action=a) for e, a in zip(episodes, actions, strict=True))
    parabola, flat, same = smoothed(replace(demos, episodes=episodes)).episodes
    assert parabola.action[:, 0] == pytest.approx(time**2, rel=1e-4, abs=1e-6)
    assert np.abs(flat.action).max() < 0.3
    assert np.array_equal(same.action, short.action.astype(same.action.dtype))
