"""Fast and slow episodes, made comparable."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from counterbc.data.arrays import Array
from counterbc.data.demonstrations import Demonstrations, Episode
from counterbc.diagnosis.components import by_episode
from counterbc.diagnosis.effort import Effort, comparable_residuals

EPISODES, STEPS = 24, 40


def walks(speed: Array, noise: Array, seed: int = 0) -> tuple[Demonstrations, Array, Array]:
    """Return episodes that move at these speeds, (E,), with noise of these sizes, (E,).

    The action is the step of the observation; courses move at speed 1.
    """
    rng, episodes, courses = np.random.default_rng(seed), [], []
    for k, sigma in zip(speed, noise, strict=True):
        angle = rng.uniform(0, 2 * np.pi) + 0.1 * np.arange(STEPS)
        aim = np.stack([np.cos(angle), np.sin(angle)], axis=1)
        action = k * aim + sigma * rng.normal(size=aim.shape)
        episodes.append(Episode(np.cumsum(action, axis=0), action))
        courses.append(aim)
    bounds = np.full(2, 1.0)
    demos = Demonstrations(tuple(episodes), -bounds, bounds)
    aims = np.concatenate(courses)
    return demos, demos.action - aims, aims


def sizes(demos: Demonstrations, residual: Array) -> Array:
    return np.array([np.sqrt((r**2).sum(1).mean()) for r in by_episode(demos, residual)])


def test_episodes_that_differ_by_little_stay_as_they_are() -> None:
    demos, residual, aims = walks(np.ones(EPISODES), np.full(EPISODES, 0.3))
    assert comparable_residuals(demos, residual, aims) is residual


def test_noisy_episodes_are_not_taken_for_fast_ones() -> None:
    noise = np.where(np.arange(EPISODES) < 6, 0.9, 0.3)
    demos, residual, aims = walks(np.ones(EPISODES), noise)
    assert comparable_residuals(demos, residual, aims) is residual


def test_gains_are_the_speeds() -> None:
    speed = np.geomspace(0.5, 1.5, EPISODES)
    demos, residual, aims = walks(speed, np.full(EPISODES, 0.1))
    effort = Effort.of(demos, residual, aims)
    np.testing.assert_allclose(effort.gain, speed, rtol=0.1)


def test_errors_in_proportion_to_speed_get_the_same_size() -> None:
    speed = np.geomspace(0.5, 1.5, EPISODES)
    demos, residual, aims = walks(speed, 0.2 * speed)
    assert abs(stats.spearmanr(sizes(demos, residual), np.abs(speed - 1)).statistic) > 0.8
    now = sizes(demos, comparable_residuals(demos, residual, aims))
    assert abs(stats.spearmanr(now, speed).statistic) < 0.35
    assert now.max() < 1.7 * now.min()


def test_a_real_error_stays_large_at_every_speed() -> None:
    speed, noise = np.geomspace(0.5, 1.5, EPISODES), np.full(EPISODES, 0.2)
    bad = [2, 11, 21]
    noise[bad] *= 2.5
    demos, residual, aims = walks(speed, noise * speed)
    now = sizes(demos, comparable_residuals(demos, residual, aims))
    assert sorted(np.argsort(-now)[:3].tolist()) == bad


def test_pairs_without_a_residual_stay_without_one() -> None:
    speed = np.geomspace(0.5, 1.5, EPISODES)
    demos, residual, aims = walks(speed, np.full(EPISODES, 0.1))
    residual = residual.astype(float)
    residual[[0, 50]] = np.nan
    residual[STEPS * 3 : STEPS * 4] = np.nan
    now = comparable_residuals(demos, residual, aims)
    assert (np.isnan(now) == np.isnan(residual)).all()


@pytest.mark.parametrize("episodes", [1, 9])
def test_few_episodes_are_left_alone(episodes: int) -> None:
    demos, residual, aims = walks(np.geomspace(0.5, 1.5, episodes), np.full(episodes, 0.1))
    assert comparable_residuals(demos, residual, aims) is residual
