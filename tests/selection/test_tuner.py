"""Lag, Δ, steps and ensemble from the data, and what a given value leaves out."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from counterbc.acting.policies import Policies
from counterbc.data.demonstrations import Demonstrations
from counterbc.data.offsets import remove_offsets
from counterbc.errors import DataError, Diverged, OptionError
from counterbc.selection.clusters import Estimate
from counterbc.selection.lag_errors import LagSearch
from counterbc.selection.tuner import tune, tune_datasets
from counterbc.selection.tuning import TuneSearch, Tuning
from counterbc.trainer import train
from tests.fixture_types import Make
from tests.selection.datasets import crowd_demos, joined, late_demos, noisy_demos, training

SEARCH = TuneSearch(radii=(0.0, 0.2, 0.4), step_counts=(100, 400))
LAGS = LagSearch(longest=3)
SMALL: dict[str, Any] = {"hidden": (16, 16), "progress": False}


def tuned(demos: Demonstrations, method: str = "counter-bc", **changes: Any) -> Tuning:
    return tune(demos, method, search=SEARCH, lag_search=LAGS, **(SMALL | changes))


def test_everything_is_chosen_together_with_one_table_as_evidence() -> None:
    choice = tuned(late_demos(2, sigma=0.3))
    assert choice.lag.lag == (2.0,)
    assert choice.radius in SEARCH.radii
    assert choice.steps in SEARCH.step_counts
    assert choice.ensemble in SEARCH.ensembles
    grid = {(r, n) for r in SEARCH.radii for n in SEARCH.step_counts}
    assert {(t.radius, t.steps) for t in choice.trials} == grid
    (chosen,) = [t for t in choice.trials if (t.radius, t.steps) == (choice.radius, choice.steps)]
    assert chosen.above == Estimate(0.0, 0.0)
    best = min(choice.trials, key=lambda t: t.error.value)
    assert -best.above.value <= best.above.se  # within one standard error of the least
    assert (choice.protocol, len(choice.sentences)) == ("5 folds of whole episodes, 300 pairs", 4)


@pytest.mark.slow
def test_the_same_call_twice_chooses_the_same() -> None:
    demos = late_demos(1)
    assert tuned(demos).as_dict() == tuned(demos).as_dict()


def test_undoing_the_lag_explains_what_the_state_alone_cannot() -> None:
    demos = late_demos(2)
    undone, late = tuned(demos), tuned(demos, lag=0.0)
    assert undone.explained is not None and undone.explained.value > 0.8  # noqa: PT018
    assert late.explained is not None and late.explained.value < 0.2  # noqa: PT018
    assert not late.tells
    assert "Cannot tell" in late.sentences[0]
    assert undone.shares is not None and undone.shares.history_tells  # noqa: PT018


@pytest.mark.parametrize("method", ["bc", "weighted-bc", "bc-rnn"])
def test_other_methods_are_given_the_same_search_without_a_radius(method: str) -> None:
    hidden = {"hidden": None} if method == "bc-rnn" else {}
    choice = tuned(late_demos(1, episodes=6), method, **hidden)
    assert (choice.radius, choice.lag.lag) == (0.0, (1.0,))
    assert [t.steps for t in choice.trials] == list(SEARCH.step_counts)
    assert f"The method {method} has no radius" in choice.sentences


def test_a_given_value_is_not_searched() -> None:
    demos = late_demos(1, episodes=6)
    choice = tuned(demos, lag=1, radius=0.2, steps=50, ensemble=2)
    assert (choice.lag.verdict, choice.lag.lag) == ("given", (1.0,))
    assert (choice.radius, choice.steps, choice.trials) == (0.2, 50, ())
    assert choice.sentences[-1].endswith("50 steps, which were not searched; average 2 networks")
    assert tuned(demos, lag=1, radius=0.2, ensemble=2).ensemble == 2
    fixed_radius = tuned(demos, lag=1, radius=0.2)
    assert {t.radius for t in fixed_radius.trials} == {0.2}
    fixed_steps = tuned(demos, lag=1, steps=150)
    assert {t.steps for t in fixed_steps.trials} == {150}
    assert fixed_steps.ensemble == 1


def test_most_steps_are_doubted_and_one_size_of_ensemble_is_not_compared() -> None:
    for counts in ((1, 100), (100,)):
        search = TuneSearch(radii=(0.0,), step_counts=counts, ensembles=(1,))
        choice = tune(late_demos(0, episodes=6), radius="auto", search=search, lag=0.0, **SMALL)
        words = ("Stop after", "") if counts[1:] else ("Train for", ", which were not searched")
        assert choice.sentences[2] == "{} 100 steps{}; one network".format(*words)
        assert choice.ensemble_gain is None
        kinds = [doubt.kind for doubt in choice.doubts]
        assert kinds == (["most steps"] if len(counts) > 1 else [])


def test_the_posterior_says_where_it_found_no_noise() -> None:
    rng = np.random.default_rng(0)  # Gaussian errors, which are not uniform in a ball
    demos = late_demos(0, sigma=0.0, episodes=6).map_actions(
        lambda action: action + 0.2 * rng.standard_normal(action.shape)
    )
    choice = tuned(demos, "posterior", shape="ball", lag=0.0, ensemble=1)
    assert choice.radius == 0.0
    assert choice.sentences[1] == "No noise of this shape was found: Δ 0"


def test_given_radii_each_have_their_own_number_of_steps() -> None:
    (row,) = tune_datasets([late_demos(1)], training(lag=1.0), SEARCH, radii=[0.0, 0.4])
    assert [c.radius for c in row] == [0.0, 0.4]
    assert len({c.ensemble for c in row}) == 1
    assert all({t.radius for t in c.trials} == {c.radius} for c in row)


# What training does with it


def quick_train(demos: Demonstrations, monkeypatch: pytest.MonkeyPatch, **options: Any) -> Policies:
    """`train` with everything chosen, by a search of few steps."""
    monkeypatch.setattr("counterbc.selection.tuner.TuneSearch", lambda: SEARCH)
    monkeypatch.setattr("counterbc.selection.lag.LagSearch", lambda: LAGS)
    return train(demos, **(SMALL | options))


def test_train_uses_what_tune_finds(monkeypatch: pytest.MonkeyPatch) -> None:
    demos = late_demos(2, sigma=0.3)
    policies, choice = quick_train(demos, monkeypatch, seeds=2), tuned(demos)
    assert {m.lag for m in policies.members} == {(2.0,)}
    assert {m.radius for m in policies.members} == {(choice.radius,)}
    assert {m.steps for m in policies.members} == {choice.steps}
    assert policies.shards == choice.ensemble
    (evidence,) = policies.config["choices"]
    assert evidence["sentences"] == choice.sentences
    assert policies.config["settings"]["steps"] == choice.steps  # not longer than it was searched


def test_members_with_chosen_numbers_equal_those_with_the_same_numbers_given(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    demos = late_demos(2, sigma=0.3)
    chosen = quick_train(demos, monkeypatch)
    member = chosen.members[0]
    given = train(
        demos, lag=member.lag, radius=member.radius, steps=member.steps,
        ensemble=chosen.shards, **SMALL,
    )  # fmt: skip
    for name, value in chosen.params.items():
        assert torch.equal(value, given.params[name])


def test_datasets_have_lags_and_steps_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    datasets: Any = [late_demos(2), late_demos(0)]
    policies = quick_train(datasets, monkeypatch, seeds=2, method="bc")
    assert [m.lag for m in policies.members] == [(2.0,), (0.0,)]
    assert len(policies.config["choices"]) == 2


# Bad input


def test_fewer_than_20_pairs_train_with_the_numbers_of_the_paper(make_demos: Make) -> None:
    with pytest.raises(DataError, match="needs 20 pairs or more; there are 19"):
        tuned(make_demos(episodes=1, length=19))
    policies = train(make_demos(episodes=1, length=19), "bc", **SMALL, steps=5)
    assert policies.members[0].lag == (0.0,)


@pytest.mark.parametrize(
    ("lag", "error", "words"),
    [
        ("0.2s", OptionError, "lag is '0.2s', but the data have no rate .*give the lag in steps"),
        ("late", OptionError, "lag is 'late'; give steps such as 3, or seconds such as 0.2s"),
        (31, DataError, "lag of 31 steps leaves no pair to learn from: the longest episode has 30"),
        ((1.0, 2.0), OptionError, "2 lags for 0 operators; give one for all"),
    ],
)
def test_a_lag_that_cannot_be_is_refused_in_one_sentence(
    lag: Any, error: type[Exception], words: str
) -> None:
    for call in (train, tuned):
        with pytest.raises(error, match=words) as caught:
            call(late_demos(1), lag=lag, radius=0.2, **SMALL)
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize("method", ["bc", "counter-bc"])
def test_constant_actions_are_refused_in_one_sentence_unless_all_is_given(method: str) -> None:
    demos = late_demos(1).map_actions(np.zeros_like)
    with pytest.raises(DataError, match="all 300 actions are the same, so there is nothing to ch"):
        tuned(demos, method)
    with pytest.raises(DataError, match="or give the radius and the number of steps yourself"):
        train(demos, method, **SMALL)
    (member,) = train(demos, method, radius=0.2, steps=5, **SMALL).members
    assert member.lag == (0.0,)


@pytest.mark.slow
def test_one_episode_is_split_into_blocks() -> None:
    demos = late_demos(1)
    choice = tuned(replace(demos, episodes=(joined(demos),)))
    assert choice.protocol == "5 folds of blocks, gap 10 steps, 300 pairs"
    assert "cannot tell whether radius, steps and ensemble suit other" in choice.doubts[0].text
    assert choice.lag.lag == (1.0,)


@pytest.mark.slow
def test_scattered_pairs_choose_all_but_the_lag() -> None:
    choice = tuned(late_demos(0).sample_pairs(200, 0))
    assert choice.lag.verdict == "cannot tell"
    assert choice.trials
    assert choice.protocol.endswith("200 pairs")


@pytest.mark.filterwarnings("ignore::counterbc.errors.InfeasibleActions")
def test_two_goals_are_noticed() -> None:
    search = TuneSearch(radii=(0.0, 0.2), step_counts=(600,), ensembles=(1,))
    demos = noisy_demos(0.1, 0.1, goals=0.5, episodes=30)
    choice = tune(demos, search=search, lag=0.0, **SMALL)
    assert any("action[1]" in doubt.text for doubt in choice.doubts)


@pytest.mark.slow
def test_the_posterior_compares_no_noise_with_the_scale_of_held_out_residuals() -> None:
    demos = noisy_demos(0.4, 0.0, episodes=20)
    choice = tuned(demos, "posterior", shape="gaussian", lag=0.0, ensemble=1)
    none, scale = sorted({t.radius for t in choice.trials})
    assert none == 0.0
    # Uniform errors of ±0.4 have a standard deviation of 0.23; the policy's own error adds to it.
    assert 0.2 < scale < 0.4
    assert not [d for d in choice.doubts if d.kind == "largest is best"]


def test_a_candidate_that_diverges_does_not_stop_the_search() -> None:
    search = TuneSearch(radii=(0.0, 1e30), step_counts=(20, 40))
    with pytest.warns(Diverged, match="radius 1e"):
        choice = tune(late_demos(0), search=search, lag=0.0, ensemble=1, **SMALL)
    assert choice.radius == 0.0
    assert {t.radius for t in choice.trials} == {0.0}


@pytest.mark.slow
def test_a_policy_with_history_is_warned_of() -> None:
    demos = late_demos(1)
    kinds = [d.kind for d in tuned(demos, "bc-rnn", hidden=None, ensemble=1).doubts]
    assert "history" in kinds
    assert "history" not in [d.kind for d in tuned(demos).doubts]


# Offsets of operators


@pytest.mark.slow
def test_offsets_are_found_after_the_lag_and_removed_before_the_rest() -> None:
    demos = crowd_demos(0.5, -0.5, 0.0, 0.0, late=1)
    choice = tuned(demos, "bc")
    assert choice.lag.lag == (1.0,)
    assert {"p0", "p1"} <= set(dict(choice.offsets.offsets))
    assert choice.sentences[1].startswith("p0 acts 0.")
    without = remove_offsets(demos, choice.offsets.offsets)
    by_hand = tuned(without, "bc", lag=1.0, offsets="none")
    assert [t.error for t in by_hand.trials] == [t.error for t in choice.trials]
    kept = tuned(demos, "bc", lag=1.0, offsets="none")
    assert min(t.error.value for t in kept.trials) > min(t.error.value for t in choice.trials)


def test_training_removes_the_offsets_that_it_finds(monkeypatch: pytest.MonkeyPatch) -> None:
    demos = crowd_demos(0.5, -0.5, 0.0, 0.0)
    policies = quick_train(demos, monkeypatch, method="bc", lag=0.0)
    (choice,) = policies.config["choices"]
    offsets = policies.members[0].offsets
    assert [name for name, _ in offsets] == [name for name, _ in choice["offsets"]["offsets"]]
    assert {"p0", "p1"} <= set(dict(offsets))
    assert choice["offsets"]["operators"][0]["explained"]["value"] > 0.5


def test_offsets_are_also_found_where_the_number_of_steps_is_given() -> None:
    demos = crowd_demos(0.5, -0.5, 0.0, 0.0)
    policies = train(demos, "bc", steps=20, lag=0.0, **SMALL)
    assert {"p0", "p1"} <= set(dict(policies.members[0].offsets))
    (choice,) = policies.config["choices"]
    assert choice["verdict"] == "to one side"


def test_policies_that_are_continued_keep_their_offsets() -> None:
    demos = crowd_demos(0.5, -0.5, 0.0, 0.0)
    options: dict[str, Any] = {"steps": 20, "lag": 0.0, **SMALL}
    start = train(demos, "bc", offsets={"p2": [0.25]}, **options)
    assert train(demos, "bc", start=start, **options).members[0].offsets == (("p2", (0.25,)),)
    others = demos.subset(operator=["p0", "p1"])  # p2 is not there, which does not matter
    assert train(others, "bc", start=start, **options).members[0].offsets == (("p2", (0.25,)),)
    assert train(demos, "bc", start=start, offsets="none", **options).members[0].offsets == ()


def test_a_run_with_offsets_is_saved_and_resumed_only_with_the_same(tmp_path: Path) -> None:
    demos = crowd_demos(0.5, -0.5, 0.0, 0.0)
    options: dict[str, Any] = {"steps": 20, "lag": 0.0, **SMALL}
    policies = train(demos, "bc", offsets={"p2": [0.25]}, out=tmp_path / "run", **options)
    assert Policies.load(tmp_path / "run").members == policies.members
    assert policies.config["settings"]["offsets"] == '{"p2": [0.25]}'
