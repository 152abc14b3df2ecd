"""When actions are censored, and on which side."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest
import torch

from counterbc.data.demonstrations import Demonstrations, Episode
from counterbc.errors import DataError, OptionError, UncensoredActions
from counterbc.methods import METHODS
from counterbc.settings import Settings, settings_for
from counterbc.training.censoring import REACH, is_censored, lagged_sides
from counterbc.training.plan import plan_training, seed_members
from counterbc.training.run import plan_view
from tests.equality import same
from tests.fixture_types import Train

AUTO, ON, OFF = Settings(), Settings(censored=True), Settings(censored=False)
BC, ILEED = METHODS["bc"], METHODS["ileed"]


def cut(*action: float) -> Demonstrations:
    """One episode with these actions, whose bounds are ±1, taken."""
    rows = np.array(action)[:, None]
    episode = Episode(np.arange(len(rows), dtype=float)[:, None], rows)
    return Demonstrations(
        (episode,), action_low=-np.ones(1), action_high=np.ones(1), actions_are="taken"
    )


def test_auto_censors_exactly_what_was_declared_as_taken() -> None:
    data = cut(1, 0.5, -1)
    assert is_censored([data], BC, AUTO)
    assert is_censored([data], BC, ON)
    assert not is_censored([data], BC, OFF)
    for declaration in (None, "asked"):
        assert not is_censored([replace(data, actions_are=declaration)], BC, AUTO)
    for preset in ("paper", "authors"):
        assert not is_censored([data], BC, settings_for(preset))


def test_what_cannot_be_censored_is_refused_in_one_sentence_with_the_next_step() -> None:
    data = cut(1, 0.5, -1)
    cases = [
        (replace(data, actions_are=None), r"do not declare .*; .* declare it: --actions-are taken"),
        (replace(data, actions_are="asked"), r"asked for, which no bound cuts; leave censored out"),
        (replace(data, action_low=None, action_high=None), r"no bounds .*; add action_low and "),
        (replace(data, action_set="ball"), r"a ball, which cuts the length"),
    ]
    for demos, sentence in cases:
        with pytest.raises(OptionError, match=f"censored is True, but the .*{sentence}"):
            is_censored([demos], BC, ON)
    for demos, sentence in cases[2:]:
        with pytest.warns(UncensoredActions, match=f"actions are not censored: the .*{sentence}"):
            assert not is_censored([demos], BC, AUTO)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert not is_censored([cases[0][0]], BC, AUTO)
        assert not is_censored([cases[2][0]], BC, OFF)


def test_ileed_which_compares_densities_does_not_censor() -> None:
    data = cut(1, 0.5, -1)
    sentence = r"OperatorExpertise compares densities, .* probability; train with censored=False"
    with pytest.raises(OptionError, match=f"censored is True, but the .*{sentence}"):
        is_censored([data], ILEED, ON)
    with pytest.warns(UncensoredActions, match=f"actions are not censored: the .*{sentence}"):
        assert not is_censored([data], ILEED, AUTO)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert not is_censored([data], ILEED, OFF)
        assert not is_censored([replace(data, actions_are="asked")], ILEED, AUTO)


def test_ileed_trains_on_actions_taken_as_recorded_with_a_warning(quick: Train) -> None:
    data = cut(*np.linspace(-1, 1, 30))
    data = replace(data, episodes=tuple(replace(e, operator="a") for e in data.episodes))
    with pytest.warns(UncensoredActions, match="compares densities"):
        policies = quick(data, "ileed", lag=0.0)
    assert policies.config["censored"] is False
    assert policies.policy.reach == 1
    plain = quick(data, "ileed", lag=0.0, censored=False)
    assert same(policies, plain)


def test_one_population_does_not_mix_censored_data_with_others(quick: Train) -> None:
    data = cut(1, 0.5, -1)
    with pytest.raises(DataError, match=r"some datasets declare actions taken, .* separately, or "):
        quick([data, replace(data, actions_are="asked")], "bc", seeds=2, lag=0.0)
    quick([data, replace(data, actions_are="asked")], "bc", seeds=2, lag=0.0, censored=False)


def test_a_lag_moves_the_side_with_the_action() -> None:
    data = cut(1, 0.5, -1, 0, 1, -1)
    assert lagged_sides(data, (0.0,))[:, 0].tolist() == [1, 0, -1, 0, 1, -1]
    assert lagged_sides(data, (2.0,))[:4, 0].tolist() == [-1, 0, 1, -1]
    # Halfway between a bound and another action one end is still open; between both bounds none is.
    assert lagged_sides(data, (0.5,))[:5, 0].tolist() == [1, -1, -1, 1, 0]


def test_batches_hold_the_side_of_each_action() -> None:
    data = cut(1, 0.5, -1, 0)
    members = seed_members([data], [0], [[0.0]])
    for settings, censored in ((AUTO, True), (OFF, False)):
        plan = plan_training([data], METHODS["bc"], settings, members)
        assert plan.censored is censored
        assert plan.method.policy.reach == (REACH if censored else 1)
        view = plan_view(plan, torch.device("cpu"), torch.float32)
        position = torch.tensor([[2, 0, 1]])
        side = view.batch(position, position * 0).side
        assert (side is None) is not censored
        if side is not None:
            assert side[0, :, 0].tolist() == [-1, 1, 0]


def test_a_training_continues_with_the_reach_of_its_start(quick: Train) -> None:
    data = cut(*np.linspace(-1, 1, 30))
    first = quick(data, "bc", lag=0.0)
    plain = quick(replace(data, actions_are="asked"), "bc", start=first, lag=0.0)
    assert plain.policy.reach == first.policy.reach == REACH
    later = quick(data, "bc", start=quick(data, "bc", censored=False, lag=0.0), lag=0.0)
    assert (later.policy.reach, later.config["censored"]) == (1, True)
