"""Rollouts: seeds of starts, and progress."""

from __future__ import annotations

import numpy as np
import pytest

from counterbc.acting.policies import Policies
from counterbc.acting.rollout import Rollout, start_seeds
from counterbc.envs import make_vec
from tests.fixture_types import Make, Train


def test_the_same_starts_give_the_same_returns(drivers: Policies) -> None:
    first, second = (
        Rollout(drivers, make_vec("intersection", 6), "intersection", [3, 4]).run("mean", 0, 1000)
        for _ in range(2)
    )
    assert np.array_equal(first[0], second[0])
    assert first[0].shape == (3, 2)


@pytest.fixture(scope="module")
def drivers(make_demos: Make, quick: Train) -> Policies:
    """Three members for the intersection."""
    return quick(make_demos(obs_size=4, action_set="ball"), "bc", seeds=3)


def test_methods_with_the_same_seeds_see_the_same_starts(
    drivers: Policies, make_demos: Make, quick: Train
) -> None:
    other_policies = quick(
        make_demos(obs_size=4, action_set="ball"), "counter-bc", seeds=3, radii=[0.1, 0.2]
    )
    assert start_seeds(other_policies[:3], [0, 1], 5) == start_seeds(drivers, [0, 1], 5)
    assert start_seeds(other_policies[3:], [0, 1], 5) == start_seeds(drivers, [0, 1], 5)
    assert start_seeds(drivers, [0, 1], 6) != start_seeds(drivers, [0, 1], 5)
    seeds = start_seeds(drivers, list(range(100)), 0)
    assert len(set(seeds)) == 300
    assert all(0 <= s < 2**31 for s in seeds)
    assert start_seeds(drivers[1], [7], 0) == [seeds[107]]


def test_progress_counts_finished_episodes_and_parts_of_those_that_run(drivers: Policies) -> None:
    shown: list[tuple[int, float, int]] = []
    env = make_vec("intersection", 6)
    rollout = Rollout(drivers, env, "intersection", [3, 4])
    _, lengths, _ = rollout.run("mean", 0, 1000, lambda *values: shown.append(values))
    assert [step for _, _, step in shown] == list(range(1, lengths.max() + 1))
    assert [finished for finished, _, _ in shown] == [
        int((lengths <= step).sum()) for _, _, step in shown
    ]
    limit = env.unwrapped.max_episode_steps  # type: ignore[attr-defined]  # of worlds of ours
    finished, share, step = shown[0]
    assert share == pytest.approx(finished + (6 - finished) * step / limit)
    assert shown[-1][:2] == (6, 6.0)
