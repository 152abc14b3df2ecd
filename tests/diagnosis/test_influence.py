"""Episodes that are known to hurt."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from counterbc.data.demonstrations import Demonstrations, Episode
from counterbc.diagnosis.influence import (
    _converged,
    influence,
    random_halves,
    squared_errors,
)
from counterbc.diagnosis.influence_effects import Influence
from counterbc.errors import CannotTell, CounterBCError, DataError, OptionError
from counterbc.trainer import train

QUICK: dict[str, Any] = {"progress": False, "device": "cpu", "steps": 150, "hidden": (16,)}


def reversed_episodes(wrong: int = 3, count: int = 12, seed: int = 0) -> Demonstrations:
    """Return episodes with a = s, of which the last ones show −s."""
    rng, episodes = np.random.default_rng(seed), []
    for i in range(count):
        obs = rng.uniform(-1, 1, (20, 1))
        sign, operator = (-1, "bad") if i >= count - wrong else (1, "good")
        action = sign * 0.8 * obs + 0.05 * rng.normal(size=obs.shape)
        episodes.append(Episode(obs, action, operator=operator))
    return Demonstrations(tuple(episodes), action_low=np.array([-1.0]), action_high=np.array([1.0]))


def test_halves_are_random_and_none_is_small() -> None:
    first = random_halves(10, 300, 1)
    assert first.shape == (300, 10)
    sizes = first.sum(1)
    assert (sizes.min(), sizes.max()) == (3, 7)
    assert first.mean() == pytest.approx(0.5, rel=0.1)
    assert np.array_equal(first, random_halves(10, 300, 1))


def test_errors_of_a_policy_are_those_of_its_actions() -> None:
    demos = reversed_episodes(count=4)
    policies = train(demos, "bc", seeds=2, lag=0.0, offsets="none", ensemble=1, **QUICK)
    errors = squared_errors(policies, demos)
    actor = policies[1].actor()
    second = demos.episodes[2]
    actions = np.stack([actor.act(obs) for obs in second.obs.astype(np.float32)])
    assert errors.shape == (2, 4)
    assert errors[1, 2] == pytest.approx(float(((actions - second.action) ** 2).mean()), rel=1e-4)


@pytest.fixture(scope="module")
def by_trusted() -> Influence:
    return influence(reversed_episodes(), judges=["good"], splits=60, **QUICK)


def test_episodes_that_contradict_the_others_are_called_harmful(by_trusted: Influence) -> None:
    is_bad = np.array([o == "bad" for o in by_trusted.operators])
    assert np.array_equal(by_trusted.harmful, is_bad)
    assert by_trusted.can_tell
    assert by_trusted.measure == "held-out error"
    assert by_trusted.effect[~is_bad].min() > by_trusted.effect[is_bad].max()
    low, high = by_trusted.interval.T
    assert np.all((low < by_trusted.effect) & (by_trusted.effect < high))
    bad, good = by_trusted.of_operator("bad"), by_trusted.of_operator("good")
    assert bad.value == pytest.approx(by_trusted.effect[is_bad].mean(), rel=1e-9)
    assert bad.value + 3 * bad.se < good.value
    assert "least helpful" in repr(by_trusted)


@pytest.mark.slow
def test_the_same_seed_gives_the_same_effects(by_trusted: Influence) -> None:
    second_run = influence(reversed_episodes(), judges=["good"], splits=60, **QUICK)
    assert np.allclose(second_run.effect, by_trusted.effect, rtol=1e-5, atol=1e-8)
    other_seed = influence(reversed_episodes(), judges=["good"], splits=60, seed=1, **QUICK)
    assert not np.allclose(other_seed.effect, by_trusted.effect, rtol=1e-2)


def test_nothing_is_told_where_nothing_can_be_predicted() -> None:
    demos = reversed_episodes(wrong=0)
    rng = np.random.default_rng(0)
    noise = [replace(e, action=rng.uniform(-1, 1, e.action.shape)) for e in demos.episodes]
    result = influence(replace(demos, episodes=tuple(noise)), splits=30, **QUICK)
    assert not result.can_tell
    assert result.explained is not None
    assert result.explained.value < 0.1
    assert "cannot tell: of the actions' variance" in repr(result)
    assert "least helpful" not in repr(result)
    with pytest.warns(CannotTell, match="harmful episodes mean nothing here"):
        assert not result.harmful.all()


def test_returns_judge_without_any_held_out_error() -> None:
    from counterbc.demonstrators import UniformNoise, demonstrate

    demos = demonstrate("cartpole", UniformNoise(0.2), 400, 0)
    episodes = [replace(e, name=f"e{i}") for i, e in enumerate(_pieces(demos, 50))]
    backwards = [replace(e, action=-e.action, name=f"{e.name} back") for e in episodes[:2]]
    both = replace(demos, episodes=(*episodes, *backwards), masks={})
    result = influence(both, env="cartpole", episodes=5, splits=40, **QUICK)
    assert result.explained is None
    assert result.can_tell
    assert result.measure == "return"
    assert result.effect[-2:].mean() < result.effect[:-2].mean()


def _pieces(demos: Demonstrations, length: int) -> list[Episode]:
    return [
        replace(e, **{name: getattr(e, name)[t : t + length] for name in ("obs", "action")},
                reward=None)
        for e in demos.episodes
        for t in range(0, len(e), length)
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"splits": 5}, r"splits is 5; 12 episodes need 14 or more"),
        ({"judges": ["ann"]}, "no episode is by ann; the operators are: good, bad"),
        ({"judges": ["good"], "env": "cartpole"}, "judges measure the held-out error"),
        ({"history": 2}, "policies that read one observation"),
        ({"steps": "auto"}, "with a given number of steps and radius"),
        ({"lag": 2.0}, "without a lag"),
        ({"env": "nowhere"}, "unknown environment 'nowhere'"),
        ({"env": "cartpole", "episodes": 0}, "cannot evaluate 0 episodes"),
    ],
)
def test_what_cannot_be_done_is_refused_before_a_training(
    changes: dict[str, Any], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr("counterbc.diagnosis.influence._train")
    with pytest.raises(OptionError, match=message):
        influence(reversed_episodes(), **QUICK | changes)


def test_splits_whose_policies_diverged_are_left_out() -> None:
    diverged = np.zeros(2 * 20, bool)
    diverged[[0, 7]] = True
    assert np.flatnonzero(~_converged(diverged, 12)).tolist() == [0, 3]
    diverged[20:] = True
    with pytest.raises(CounterBCError, match="of 12 of 20 splits diverged, and the others are too"):
        _converged(diverged, 12)


def test_few_episodes_are_refused() -> None:
    with pytest.raises(DataError, match="there are 4 episodes; influence compares halves of 6"):
        influence(reversed_episodes(count=4), **QUICK)
