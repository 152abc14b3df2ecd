"""The paper's three noises, by their moments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from counterbc.demonstrators import (
    NOISES,
    EpisodeBatch,
    EpsilonGreedy,
    GaussianNoise,
    Teacher,
    UniformNoise,
)
from counterbc.errors import OptionError

MANY = np.full((100_000, 2), 0.25)


def errors(teacher: Teacher) -> NDArray[Any]:
    """The first step of many episodes: (N, A)."""
    takes = EpisodeBatch(np.arange(len(MANY)), np.arange(len(MANY)), size=2, steps=1, rate=10)
    return np.asarray(teacher.begin(takes)(MANY, 0) - MANY)


@pytest.mark.parametrize("teacher", [UniformNoise(0.5), GaussianNoise(0.5), EpsilonGreedy(0.5)])
def test_the_errors_of_an_episode_are_independent_from_step_to_step(teacher: Teacher) -> None:
    steps = 20_000
    show = teacher.begin(EpisodeBatch(np.array([7]), np.array([0]), size=2, steps=steps, rate=10))
    error = np.concatenate([show(MANY[:1], t) for t in range(steps)]) - MANY[0]  # (T, A)
    for lag in (1, 2, 5):
        assert abs(np.corrcoef(error[lag:, 0], error[:-lag, 0])[0, 1]) < 4 / np.sqrt(steps)


def test_uniform_noise_fills_its_interval_evenly() -> None:
    error = errors(UniformNoise(0.5))
    assert abs(error).max() < 0.5
    assert abs(error).max() > 0.499
    share, _ = np.histogram(error, bins=10, range=(-0.5, 0.5))
    np.testing.assert_allclose(share / error.size, 0.1, atol=0.003)
    assert abs(np.corrcoef(*error.T)[0, 1]) < 0.01


def test_gaussian_noise_has_the_moments_of_a_gaussian() -> None:
    z = errors(GaussianNoise(0.5)) / 0.5
    moments = [(z**n).mean() for n in (1, 2, 3, 4)]
    np.testing.assert_allclose(moments, [0, 1, 0, 3], atol=0.05)
    assert abs(np.corrcoef(*z.T)[0, 1]) < 0.01


@pytest.mark.parametrize("sigma", [0.2, 0.5, 1.0])
def test_epsilon_greedy_errs_with_probability_sigma_in_all_dimensions_at_once(sigma: float) -> None:
    error = errors(EpsilonGreedy(sigma))
    erred = error != 0
    assert (erred[:, 0] == erred[:, 1]).all()
    assert erred[:, 0].mean() == pytest.approx(sigma, abs=0.005)
    slips = error[erred[:, 0]]
    assert abs(slips).max() < sigma
    assert slips.var() == pytest.approx(sigma**2 / 3, rel=0.02)


@pytest.mark.parametrize("noise", NOISES.values())
def test_zero_sigma_shows_the_action_that_was_meant(noise: Callable[[float], Teacher]) -> None:
    assert (errors(noise(0.0)) == 0).all()


@pytest.mark.parametrize("name", NOISES)
@pytest.mark.parametrize("sigma", [-0.1, float("nan"), float("inf")])
def test_a_sigma_that_is_no_spread_is_refused(name: str, sigma: float) -> None:
    with pytest.raises(OptionError, match=f"sigma of {name} noise is {sigma}; allowed: 0 "):
        NOISES[name](sigma)


def test_epsilon_greedy_sigma_is_a_probability() -> None:
    with pytest.raises(
        OptionError, match=r"sigma of epsilon-greedy noise is 1\.5; allowed: 0 to 1"
    ):
        EpsilonGreedy(1.5)
