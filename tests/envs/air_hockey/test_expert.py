"""The expert of air hockey: how well it plays, and that it can be learned."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from counterbc.demonstrators import UniformNoise, demonstrate
from counterbc.envs import make_vec
from counterbc.envs.air_hockey.expert import expert
from counterbc.envs.air_hockey.table import DT
from counterbc.envs.air_hockey.world import Rally

Array = NDArray[Any]


def hits_of_the_expert(episodes: int) -> Array:
    env = make_vec("air-hockey", episodes)
    obs, _ = env.reset(seed=0)
    hits, is_running = np.zeros(episodes), np.ones(episodes, bool)
    for t in range(600):
        obs, reward, terminated, truncated, _ = env.step(expert(obs, np.arange(episodes), t))
        hits += is_running * reward
        is_running &= ~(terminated | truncated)
    return hits


def test_the_expert_keeps_the_rally_going() -> None:
    hits = hits_of_the_expert(300)
    assert 20 < hits.mean() < 23
    assert hits.min() >= 1


def test_the_expert_acts_on_what_it_sees_alone_and_within_bounds() -> None:
    rng = np.random.default_rng(0)
    obs = Rally().observe(Rally().start(np.arange(500)))
    obs += rng.normal(0, 0.2, obs.shape).astype(np.float32)
    action = expert(obs, np.arange(500), 0)
    assert abs(action).max() <= 1
    np.testing.assert_array_equal(action, expert(obs, np.arange(500) + 9, 5))


@pytest.mark.slow
def test_a_small_network_learns_to_play_from_errorless_demonstrations() -> None:
    import counterbc as cb

    demos = demonstrate("air-hockey", UniformNoise(0.0), 3200, 0)
    policies = cb.train(demos, "bc", seeds=3, progress=False)
    result = cb.evaluate(policies, "air-hockey", episodes=50, progress=False)
    assert result.measures["hits"].mean() > 15
    np.testing.assert_array_equal(result.measures["hits"], result.returns)
    np.testing.assert_allclose(
        result.measures["time_per_hit"] * np.maximum(result.returns, 1), result.lengths * DT
    )
