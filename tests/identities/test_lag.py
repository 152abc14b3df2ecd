"""With a lag, actions are learned from and measured as if they had been shifted by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from counterbc.acting.member import Member
from counterbc.acting.policies import Policies
from counterbc.data.demonstrations import Demonstrations
from counterbc.data.offsets import remove_offsets
from counterbc.diagnosis.meaning import meaning
from counterbc.methods import METHODS
from counterbc.selection.explained import explain_quickly
from counterbc.selection.held_out import HeldOut
from counterbc.selection.shares import Share
from counterbc.settings import settings_for
from counterbc.training.plan import plan_training
from counterbc.training.run import run
from tests.equality import assert_near, same
from tests.fixture_types import Make

CPU = torch.device("cpu")
Lag = tuple[float, ...]


def trained(
    demos: Demonstrations, *lags: Lag, method: str = "counter-bc", **options: Any
) -> Policies:
    """One member per lag, all with the same seed and radius."""
    dtype = options.pop("dtype", torch.float32)
    changes: dict[str, Any] = {"hidden": (8, 8), "steps": 30, "scale_obs": False}
    settings = settings_for("default", **(changes | options))
    members = [Member(3, (0.4, 0.4), lag=lag) for lag in lags]
    plan = plan_training([demos], settings.apply(METHODS[method]), settings, members)
    return run(plan, device=CPU, dtype=dtype)


def shifted(demos: Demonstrations, **steps: int) -> Demonstrations:
    """The action of each operator, `steps` later; the last steps are not learned from."""
    episodes, inside = [], []
    for e in demos.episodes:
        k = steps[str(e.operator)]
        action = np.concatenate([e.action[k:], e.action[:k]])
        episodes.append(replace(e, action=action))
        inside.append(np.arange(len(e)) < len(e) - k)
    return replace(demos, episodes=tuple(episodes), selected=np.flatnonzero(np.concatenate(inside)))


@pytest.mark.parametrize(
    "kernel", ["torch", pytest.param("numba", marks=pytest.mark.needs("numba"))]
)
@pytest.mark.parametrize("method", ["bc", "counter-bc"])
def test_a_lag_equals_actions_shifted_by_hand(kernel: str, method: str, make_demos: Make) -> None:
    demos = make_demos(episodes=6)
    late = trained(demos, (2.0,), method=method, kernel=kernel)
    by_hand = trained(shifted(demos, ada=2, bob=2), (0.0,), method=method, kernel=kernel)
    assert same(late, by_hand)
    assert not same(late, trained(demos, (0.0,), method=method, kernel=kernel))


@pytest.mark.parametrize("method", ["bc-rnn", "bcnd", "weighted-bc", "posterior", "ileed"])
def test_every_kind_of_method_undoes_a_lag(method: str, make_demos: Make) -> None:
    demos = make_demos(episodes=6)
    late = trained(demos, (2.0,), method=method)
    assert same(late, trained(shifted(demos, ada=2, bob=2), (0.0,), method=method))


def test_a_lag_per_operator_shifts_the_actions_of_each(make_demos: Make) -> None:
    demos = make_demos(episodes=6)
    late = trained(demos, (1.0, 4.0))
    assert same(late, trained(shifted(demos, ada=1, bob=4), (0.0,)))


def test_the_explained_share_is_that_of_the_actions_shown_later_without_offsets(
    make_demos: Make,
) -> None:
    demos = make_demos(episodes=9)  # actions span [−1, 1]
    held_out = HeldOut(folds=3, repeats=1, rounds=1, steps=100)
    result = meaning(
        demos, radius=0.4, held_out=held_out, lag=(1, 4), offsets={"ada": [0.4, 0.0]}, hidden=(8,),
        device="cpu", progress=False,
    )  # fmt: skip
    plain = remove_offsets(demos, result.offsets)
    by_hand = shifted(plain, ada=1, bob=4)
    rows = by_hand.learned
    action, cluster = by_hand.action[rows], np.repeat(np.arange(9), 10)[rows]
    spread, squares = (action - action.mean(0)) ** 2, result.residual[rows] ** 2
    share = result.explained.present
    by_hand_share = Share.of(squares.sum(1), spread.sum(1), cluster)
    assert np.isnan(np.delete(result.residual, rows, axis=0)).all()
    assert [share.value, share.low] == pytest.approx([by_hand_share.value, by_hand_share.low])
    assert result.explained.past == explain_quickly(plain, (1, 4)).past


def test_a_fraction_lies_halfway_between_two_actions(make_demos: Make) -> None:
    demos = make_demos(episodes=6)
    one, two = (shifted(demos, ada=k, bob=k) for k in (1, 2))
    episodes = tuple(
        replace(a, action=(a.action + b.action) / 2)
        for a, b in zip(one.episodes, two.episodes, strict=True)
    )
    half = replace(two, episodes=episodes)
    assert_near(trained(demos, (1.5,)), trained(half, (0.0,)), within=1e-5)


@pytest.mark.parametrize(
    "kernel", ["torch", pytest.param("numba", marks=pytest.mark.needs("numba"))]
)
def test_members_with_different_lags_agree_with_each_alone(kernel: str, make_demos: Make) -> None:
    demos = make_demos(episodes=6)
    # Members that learn from fewer pairs would take smaller batches alone.
    options: dict[str, Any] = {"kernel": kernel, "batch": 5}
    lags: tuple[Lag, ...] = ((0.0,), (2.0,), (1.0, 4.0))
    together = trained(demos, *lags, **options)
    for i, lag in enumerate(lags):
        assert_near(together[i], trained(demos, lag, **options), within=1e-5)


def test_labels_of_pairs_that_were_not_sampled_are_never_read(make_demos: Make) -> None:
    demos = make_demos(episodes=6)
    chosen = demos.sample_pairs(40, seed=0)
    other = np.setdiff1d(np.arange(60), chosen.learned)
    action = demos.action.copy()
    action[other] = -action[other]
    lengths = np.cumsum([len(e) for e in demos.episodes])[:-1]
    episodes = tuple(
        replace(e, action=a) for e, a in zip(demos.episodes, np.split(action, lengths), strict=True)
    )
    assert same(trained(chosen, (2.0,)), trained(replace(chosen, episodes=episodes), (2.0,)))
