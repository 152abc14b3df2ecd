"""Policies trained on folds, and their errors on the pairs they did not see."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import pytest
import torch

from counterbc.acting.policies import Policies
from counterbc.data.demonstrations import Demonstrations
from counterbc.errors import CounterBCError, Diverged, OptionError
from counterbc.methods import Method, find_method
from counterbc.policies import GaussianMLP
from counterbc.selection.folds import split_folds
from counterbc.selection.held_out import (
    Candidate,
    HeldOut,
    HeldOutErrors,
    Training,
    _residuals,
    held_out_errors,
    held_out_predictions,
)
from counterbc.settings import Settings, settings_for
from counterbc.training.plan import plan_training, seed_members
from counterbc.training.progress import Quiet
from counterbc.training.run import plan_view, run
from tests.fixture_types import Make, Train

CPU = torch.device("cpu")
SMALL = settings_for("default", hidden=(8, 8), steps=50)


def training(settings: Settings = SMALL) -> Training:
    name, method = find_method("counter-bc")
    return Training(
        name=name, method=settings.apply(method), settings=settings, device=CPU, progress=Quiet()
    )


def train_single(demos: Demonstrations, train_rows: Any) -> Policies:
    """The member with seed 3 and radius 0.3 that learns from these pairs."""
    members = seed_members([demos], [3], [[0.3]])
    plan = plan_training([demos], training().method, SMALL, members, lists=[train_rows])
    return run(plan, device=CPU)


def test_a_member_of_the_population_is_the_same_member_alone_on_its_fold(make_demos: Make) -> None:
    demos = make_demos(episodes=10)
    folds = split_folds(demos, 5, 0)
    member, pairs = train_single(demos, folds.learned[3]), folds.held_out[3]
    actions = [member.actor().act(obs) for obs in demos.obs[pairs]]
    ((errors,),) = held_out_errors(
        [demos], [[folds]], [[Candidate(0.0), Candidate(0.3)]], training()
    )
    together = errors.residual[0, 1, pairs]
    np.testing.assert_allclose(together, demos.action[pairs] - actions, atol=2e-5)
    second = train_single(demos, folds.learned[2])
    assert not np.allclose(second.actor().act(demos.obs[0]), member.actor().act(demos.obs[0]))


def test_pairs_lie_in_memory_once_however_many_folds_learn_from_them(make_demos: Make) -> None:
    demos = make_demos(episodes=10)
    folds = split_folds(demos, 5, 0)
    members = seed_members([demos], range(5), [[0.4]])
    plan = plan_training([demos], training().method, SMALL, members, lists=folds.learned)
    view = plan_view(plan, CPU, torch.float32)
    assert len(view.store.obs) == 100
    for row, train_rows in zip(view.nets.pairs, folds.learned, strict=True):
        assert row.tolist() == train_rows.tolist()


@dataclass(frozen=True)
class RepeatsFirst(GaussianMLP):
    """A policy that reads two observations, at the start of an episode the first one twice."""

    repeats_first: ClassVar[bool] = True
    history: int = 2


@pytest.mark.parametrize("method", ["bc-rnn", Method(policy=RepeatsFirst())])
def test_a_policy_with_memory_reads_what_came_before_a_held_out_pair(
    method: str | Method, make_demos: Make, quick: Train
) -> None:
    demos = make_demos(episodes=5)
    policies = quick(demos, method, seeds=2)
    pairs = np.array([10, 11, 13, 27])
    residual, _ = _residuals(policies, demos, pairs)
    for i, pair in enumerate(pairs):
        actor = policies[1].actor()
        actor.reset()
        for obs in demos.obs[demos.starts[pair] : pair + 1]:
            action = actor.act(obs)
        np.testing.assert_allclose(residual[1, i], demos.action[pair] - action, atol=1e-5)


def test_errors_are_means_of_squares_within_a_fold_by_hand() -> None:
    residual = np.array([[[[1.0], [3.0], [2.0]]]])  # one repeat, one radius, three pairs
    errors = HeldOutErrors(residual, np.array([[0, 0, 1]])).by_fold()
    np.testing.assert_allclose(errors, [[[[5]], [[4]]]])


def test_a_prediction_does_not_depend_on_the_demonstrated_action(make_demos: Make) -> None:
    demos = make_demos(episodes=6)
    twin = demos.map_actions(lambda a: a)
    first = twin.episodes[0]
    away = first.action + np.float32(0.2)
    twin = replace(twin, episodes=(replace(first, action=away), *twin.episodes[1:]))
    search = HeldOut(folds=6, repeats=1)
    for data in (demos, twin):
        assert held_out_predictions(data, search, (0.3, 0.3), training()).shape == (1, 60, 2)
    one, second = (
        held_out_predictions(d, search, (0.3, 0.3), training())[0, :10] for d in (demos, twin)
    )
    np.testing.assert_allclose(one, second, atol=1e-6)


def test_pairs_whose_policy_diverged_are_refused_unless_they_may_be_missing(
    make_demos: Make,
) -> None:
    demos = make_demos(episodes=6)
    first = demos.episodes[0]
    huge = first.obs.copy()
    huge[0], huge[1] = 3e38, -3e38  # policies that learn from these diverge
    wild = replace(demos, episodes=(replace(first, obs=huge), *demos.episodes[1:]))
    unscaled = replace(SMALL, scale_obs=False)
    arguments = wild, HeldOut(folds=6, repeats=1), (0.3, 0.3), training(unscaled)
    with pytest.warns(Diverged), pytest.raises(CounterBCError, match="predict some pairs diverged"):
        held_out_predictions(*arguments)
    with pytest.warns(Diverged):
        predicted = held_out_predictions(*arguments, complete=False)
    known = np.isfinite(predicted[0]).all(1)
    assert known[2:10].all()  # their policies did not see the huge observations
    assert not known[10:].all()


@pytest.mark.parametrize("name", ["folds", "repeats", "rounds", "steps"])
def test_a_number_below_its_limit_is_refused(name: str) -> None:
    with pytest.raises(OptionError, match=f"{name} is 0; it must be"):
        HeldOut(**{name: 0})


@pytest.mark.parametrize("policy", ["gaussian-mlp", "mixture"])
def test_a_prediction_beyond_the_bound_of_a_censored_action_is_no_error(
    policy: str, make_demos: Make
) -> None:
    demos = make_demos(actions_are="taken").map_actions(lambda a: np.where(a > 0, 1.0, a))
    settings = settings_for("default", hidden=(8, 8), policy=policy)
    method = settings.apply(find_method("bc")[1])
    plan = plan_training([demos], method, settings, seed_members([demos], [0], [[0.0]]))
    params = plan.method.policy.init(torch.Generator(), 3, 2)
    heads = {"head.bias": 5.0, "head.weight": 0.0}  # every mean is 2 · tanh 5
    far = {k: torch.full_like(v, heads.get(k, 0.0))[None] for k, v in params.items()}
    policies = Policies(plan.method.policy, far, plan.scales, plan.members)
    residual = _residuals(policies, demos, demos.learned)[0][0]
    on_bound = demos.action == 1
    assert on_bound.any()
    np.testing.assert_allclose(residual[on_bound], 0, atol=1e-6)
    np.testing.assert_allclose(residual[~on_bound], demos.action[~on_bound] - 1, atol=1e-6)


@pytest.mark.parametrize("policy", ["gaussian-mlp", "mixture"])
def test_a_late_policy_is_measured_as_one_whose_actions_were_shown_earlier(
    policy: str, make_demos: Make
) -> None:
    demos = make_demos(episodes=4)  # of 10 steps
    settings = settings_for("default", hidden=(8, 8), policy=policy)
    method = settings.apply(find_method("bc")[1])
    plan = plan_training([demos], method, settings, seed_members([demos], [0], [[0.0]]))
    params = method.policy.init(torch.Generator().manual_seed(0), 3, 2)
    far_apart = {k: 3 * v[None] for k, v in params.items()}

    def residuals(lag: float, data: Demonstrations) -> tuple[Any, Any]:
        members = (replace(plan.members[0], lag=(lag,)),)
        policies = Policies(method.policy, far_apart, plan.scales, members)
        return _residuals(policies, data, data.learned)

    early = replace(
        demos,
        episodes=tuple(
            replace(e, action=np.roll(e.action, -2, axis=0)) for e in demos.episodes
        ),
    )  # fmt: skip
    at_start = np.arange(40) % 10 < 2
    by_lag = {lag: residuals(lag, demos) for lag in (1, 1.5, 2)}
    for late, shown_early in zip(by_lag[2], residuals(0, early), strict=True):
        np.testing.assert_allclose(late[0, 2:][~at_start[2:]], shown_early[0, :-2][~at_start[2:]])
    for between, one, two in zip(by_lag[1.5], by_lag[1], by_lag[2], strict=True):
        middle = (one + two) / 2
        np.testing.assert_allclose(between[0, ~at_start], middle[0, ~at_start], atol=1e-7)
    assert np.isnan(by_lag[2][0][0, at_start]).all()
    assert (by_lag[2][1] > 0).any() == (policy == "mixture")
