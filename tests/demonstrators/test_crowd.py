"""Operators who take turns."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from counterbc.demonstrators import (
    Chain,
    Crowd,
    Delay,
    EpisodeBatch,
    Fatigue,
    Keyboard,
    Teacher,
    UniformNoise,
    demonstrate,
    record,
)
from counterbc.errors import OptionError

SIGMAS = (0.05, 0.2, 0.4, 0.6, 0.8, 1.0)
SIX = Crowd(tuple((f"sigma {s:g}", UniformNoise(s)) for s in SIGMAS))


def errors(teacher: Teacher, episodes: int, seed: int = 0) -> NDArray[Any]:
    """Shown minus intended on Intersection, where all episodes are equally long: (N, T, A)."""
    actions = record("intersection", teacher, episodes, seed)
    return np.array([r.episode.action - r.intended for r in actions])


def rms(error: NDArray[Any]) -> float:
    return float(np.sqrt((error**2).mean()))


def test_operators_take_turns_and_are_recorded() -> None:
    demos = demonstrate("intersection", SIX, pairs=20 * 15, seed=0)
    target = [f"sigma {SIGMAS[k % 6]:g}" for k in range(15)]
    assert [e.operator for e in demos.episodes] == target
    assert demos.operators == tuple(f"sigma {s:g}" for s in SIGMAS)
    assert demos.source == "intersection, crowd of 6, seed 0"


def test_each_operator_errs_as_its_own_teacher() -> None:
    error = errors(SIX, 600)
    for i, sigma in enumerate(SIGMAS):
        assert rms(error[i::6]) == pytest.approx(sigma / np.sqrt(3), rel=0.05)


def test_operators_keep_their_names_within_a_chain_and_when_tired() -> None:
    for teacher in (Chain((Delay(0.1), SIX, Keyboard())), Fatigue(SIX, during=1.0)):
        assert [teacher.operator(k) for k in (0, 5, 6)] == ["sigma 0.05", "sigma 1", "sigma 0.05"]
    assert Chain((Delay(0.1), Keyboard())).operator(0) is None


def test_shares_are_episodes_in_a_turn() -> None:
    crowd = Crowd((("a", UniformNoise(0.1)), ("b", UniformNoise(0.2))), shares=(3, 1))
    assert [crowd.operator(k) for k in range(9)] == list("aaabaaaba")


def test_an_operator_counts_its_own_episodes() -> None:
    tired = Fatigue(Keyboard(0.5), after=1.0, episodes=10)
    crowd = Crowd((("a", tired), ("b", UniformNoise(0.0))), shares=(2, 1))
    takes = EpisodeBatch(np.arange(8), np.arange(8), size=1, steps=1, rate=10)
    actions = crowd.begin(takes)(np.full((8, 1), 0.4), 0)[:, 0]
    # Operator a shows the episodes 0, 1, 3, 4, 6, 7 and errs by −0.4 · (1 + k/10) in its k-th.
    own_counts = {0: 0, 1: 1, 3: 2, 4: 3, 6: 4, 7: 5}
    target = [0.4 - 0.4 * (1 + own_counts[k] / 10) if k in own_counts else 0.4 for k in range(8)]
    np.testing.assert_allclose(actions, target, atol=1e-12)


def test_crowds_without_distinct_names_or_whole_shares_are_refused() -> None:
    with pytest.raises(
        OptionError, match="operators of a crowd are none; give one or more operators"
    ):
        Crowd(())
    with pytest.raises(OptionError, match="are a, a; give one or more operators with different"):
        Crowd((("a", UniformNoise(0.1)), ("a", UniformNoise(0.2))))
    for shares in ((1,), (1, 0)):
        with pytest.raises(OptionError, match="give 2 whole numbers above 0"):
            Crowd((("a", UniformNoise(0.1)), ("b", UniformNoise(0.2))), shares)
