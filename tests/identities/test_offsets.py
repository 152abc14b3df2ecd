"""A member with offsets learns what one without learns from actions that were shifted by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

import counterbc as cb
from counterbc.acting.member import Member
from counterbc.acting.policies import Policies
from counterbc.data.demonstrations import Demonstrations
from counterbc.data.lags import undo_lag
from counterbc.data.offsets import Offsets, remove_offsets
from counterbc.errors import OptionError
from counterbc.methods import METHODS
from counterbc.settings import settings_for
from counterbc.trainer import train
from counterbc.training.plan import plan_training
from counterbc.training.run import run
from tests.equality import same
from tests.fixture_types import Make
from tests.selection.datasets import crowd_demos

BOB: Offsets = (("bob", (0.3, -0.125)),)


def trained(demos: Demonstrations, *offsets: Offsets, **options: Any) -> Policies:
    """One member for each of these offsets, all with the same seed and radius."""
    method, lag = options.pop("method", "counter-bc"), options.pop("lag", (0.0,))
    settings = settings_for("default", **({"hidden": (8, 8), "steps": 30} | options))
    members = [Member(3, (0.4, 0.4), lag=lag, offsets=b) for b in offsets]
    plan = plan_training([demos], settings.apply(METHODS[method]), settings, members)
    return run(plan, device=torch.device("cpu"))


def by_hand(demos: Demonstrations) -> Demonstrations:
    """Return the demonstrations with bob's actions moved."""
    shift = np.array(BOB[0][1], np.float32)
    episodes = [
        replace(e, action=e.action - shift) if e.operator == "bob" else e for e in demos.episodes
    ]
    return replace(demos, episodes=tuple(episodes))


@pytest.mark.parametrize(
    "kernel", ["torch", pytest.param("numba", marks=pytest.mark.needs("numba"))]
)
@pytest.mark.parametrize("method", ["bc", "counter-bc"])
def test_offsets_equal_actions_shifted_by_hand(kernel: str, method: str, make_demos: Make) -> None:
    demos = make_demos(episodes=6)
    options = {"method": method, "kernel": kernel}
    assert same(trained(demos, BOB, **options), trained(by_hand(demos), (), **options))
    assert not same(trained(demos, BOB, **options), trained(demos, (), **options))


@pytest.mark.parametrize("method", ["bc-rnn", "bcnd", "weighted-bc", "posterior", "ileed"])
def test_every_kind_of_method_removes_offsets(method: str, make_demos: Make) -> None:
    demos = make_demos(episodes=6)
    assert same(trained(demos, BOB, method=method), trained(by_hand(demos), (), method=method))


def test_offsets_and_lags_go_together(make_demos: Make) -> None:
    demos = make_demos(episodes=6)
    options: dict[str, Any] = {"lag": (2.0,)}
    assert same(trained(demos, BOB, **options), trained(by_hand(demos), (), **options))


def test_bounds_that_come_from_the_data_are_those_without_offsets(make_demos: Make) -> None:
    demos = replace(make_demos(episodes=6), action_low=None, action_high=None)
    assert same(trained(demos, BOB), trained(by_hand(demos), ()))


def test_projecting_to_the_bounds_comes_after_the_offsets(make_demos: Make) -> None:
    demos = make_demos(episodes=6)
    assert same(
        trained(demos, BOB, feasible="project"), trained(by_hand(demos), (), feasible="project")
    )


def test_members_with_and_without_offsets_train_side_by_side(make_demos: Make) -> None:
    demos = make_demos(episodes=6)
    together = trained(demos, BOB, (), kernel="torch")
    for i, offsets in enumerate((BOB, ())):
        alone = trained(demos, offsets, kernel="torch")
        for name, value in alone.params.items():
            torch.testing.assert_close(together.params[name][[i]], value, rtol=1e-4, atol=1e-6)


def test_offsets_given_to_train_equal_training_on_shifted_actions(make_demos: Make) -> None:
    demos = make_demos(episodes=6)
    options: dict[str, Any] = {"steps": 20, "hidden": (8, 8), "lag": 0.0, "progress": False}
    given = train(demos, radius=0.2, offsets=dict(BOB), **options)
    assert given.members[0].offsets == BOB
    assert given.members[0].fingerprint == demos.fingerprint()  # the data stay as recorded
    assert same(given, train(by_hand(demos), radius=0.2, offsets="none", **options))


@pytest.mark.filterwarnings("ignore::counterbc.errors.CannotTell")  # 20 steps explain little
def test_the_meant_action_excludes_the_offset_of_its_operator() -> None:
    demos = crowd_demos(0.8, 0.0, 0.0, 0.0, late=1)
    options: dict[str, Any] = {"radius": 0.0, "lag": 1.0, "progress": False, "hidden": (8, 8)}
    short = cb.HeldOut(folds=2, repeats=1, rounds=1, steps=20)
    told = cb.meaning(demos, held_out=short, offsets={"p0": [0.8]}, **options)
    assert told.offsets == (("p0", (0.8,)),)
    np.testing.assert_array_equal(told.shown, demos.action)
    answer = undo_lag(remove_offsets(demos, told.offsets), (1.0,))[0]
    expected = np.where(told.has_answer[:, None], answer, demos.action)
    np.testing.assert_allclose(told.meant, expected, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(told.moved[told.has_answer], 0, atol=1e-6)
    np.testing.assert_allclose(told.cleaned.action, told.meant, rtol=1e-6, atol=1e-7)
    kept = cb.meaning(demos, held_out=short, offsets="none", **options)
    assert kept.offsets == ()
    found = cb.meaning(demos, held_out=short, **options)
    assert "p0" in dict(found.offsets)


def test_censored_actions_keep_their_offsets(make_demos: Make) -> None:
    demos = replace(make_demos(episodes=6), actions_are="taken")
    with pytest.raises(OptionError, match="offsets cannot be removed from censored actions"):
        trained(demos, BOB)
    assert trained(demos, BOB, censored=False).members[0].offsets == BOB
