"""Δ from the data: folds, the population behind them, what is chosen, and doubts about it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from counterbc.data.demonstrations import Array, Demonstrations, Episode
from counterbc.errors import CounterBCError, DataError, Diverged, OptionError
from counterbc.selection.radius import (
    RadiusSearch,
    choose_radius,
)
from counterbc.selection.shares import Share
from tests.fixture_types import Make
from tests.selection.datasets import noisy_demos

pytestmark = pytest.mark.filterwarnings("ignore::counterbc.errors.InfeasibleActions")

SMALL: dict[str, Any] = {"hidden": (32, 32), "progress": False}
COARSE = RadiusSearch(radii=(0.0, 0.2, 0.4, 0.6, 0.8), steps=2000)


# What is chosen


def with_a_huge_observation(demos: Demonstrations) -> Demonstrations:
    """Return the demonstrations with two observations on which every policy diverges."""
    first = demos.episodes[0]
    obs = first.obs.copy()
    obs[3], obs[4] = 3e38, -3e38
    return replace(demos, episodes=(replace(first, obs=obs), *demos.episodes[1:]))


def test_folds_in_which_every_policy_diverges_do_not_stop_the_search() -> None:
    demos = with_a_huge_observation(noisy_demos(0.4))  # four folds of five learn from it
    with pytest.warns(Diverged, match="radius 0.8"):
        choice = choose_radius(demos, search=COARSE, scale_obs=False, **SMALL)
    assert np.isfinite(choice.error).all()
    assert np.isfinite(choice.mean_action_error)
    assert choice.radius in choice.radii or 0 < choice.radius < 0.8
    assert "nan" not in choice.explanation


def test_a_search_in_which_every_policy_diverges_says_what_to_do() -> None:
    demos = noisy_demos(0.4)
    wild = replace(demos, episodes=tuple(
        with_a_huge_observation(replace(demos, episodes=(e,))).episodes[0] for e in demos.episodes
    ))  # fmt: skip
    with (
        pytest.warns(Diverged),
        pytest.raises(CounterBCError, match="every policy diverged while choosing Δ; lower"),
    ):
        choose_radius(wild, search=COARSE, scale_obs=False, **SMALL)


def test_a_radius_that_wins_because_zero_diverged_is_explained_without_a_percentage() -> None:
    choice = choose_radius(noisy_demos(0.4), search=replace(COARSE, steps=20), **SMALL)
    first_lost = replace(choice, error=(np.nan, *choice.error[1:]))
    g = int(np.nanargmin(first_lost.error))
    words = f"least at Δ {choice.radii[g]:g}, while policies with Δ = 0 diverged"
    explained = replace(first_lost.explained, present=Share(0.9, 0.8, 0.95))
    assert words in replace(first_lost, explained=explained).explanation


def test_without_errors_a_radius_near_zero_is_chosen() -> None:
    choice = choose_radius(noisy_demos(0.0), search=COARSE, **SMALL)
    assert choice.plateau[0] == 0
    assert choice.plateau[-1] < 0.4
    assert choice.radius == choice.plateau[-1] / 2
    assert any("Δ = 0 predicts best" in w for w in choice.warnings)


def test_uniform_errors_choose_a_radius_about_as_large() -> None:
    choice = choose_radius(noisy_demos(0.4), search=COARSE, **SMALL)
    assert 0.2 < choice.radius < 0.5
    assert choice.warnings == ()
    assert "whole episodes" in choice.explanation
    assert choice.difference[0] == choice.difference_se[0] == 0
    np.testing.assert_allclose(choice.error, np.sum(choice.dimension_error, 0), rtol=1e-6)
    above = np.subtract(choice.error, choice.error[0])
    np.testing.assert_allclose(choice.difference, above, atol=1e-7)


def test_a_dimension_without_errors_chooses_none_for_itself() -> None:
    choice = choose_radius(noisy_demos(0.5, 0.0), search=COARSE, **SMALL)
    assert 0.2 < choice.per_dimension[0] < 0.6
    assert choice.per_dimension[1] < 0.05


def test_the_same_call_twice_chooses_the_same_and_repeats_deal_anew(make_demos: Make) -> None:
    demos = make_demos(episodes=8)
    coarse: dict[str, Any] = {"radii": (0.0, 0.2, 0.4), "steps": 30}
    first, second, third = (
        choose_radius(demos, search=RadiusSearch(**coarse, repeats=r), **SMALL) for r in (1, 1, 2)
    )
    assert first.as_dict() == second.as_dict()
    assert third.error != first.error
    assert "2 repeats" in third.protocol


def test_of_much_data_a_part_is_used_and_said(make_demos: Make) -> None:
    search = RadiusSearch(radii=(0.0, 0.2, 0.4), steps=5, pairs=50)
    choice = choose_radius(make_demos(episodes=12), search=search, **SMALL)
    assert (choice.pairs, choice.pairs_used) == (120, 50)
    assert "50 pairs of 120" in choice.explanation


# Doubts


def test_two_goals_at_the_same_state_are_noticed() -> None:
    search = RadiusSearch(radii=(0.0, 0.2, 0.4), steps=600)
    choice = choose_radius(noisy_demos(0.1, 0.1, goals=0.5, episodes=30), search=search, **SMALL)
    (doubt,) = [w for w in choice.warnings if "peak" in w]
    assert "action[1]" in doubt
    assert "action[0]" not in doubt
    assert "1%" in doubt


def test_a_short_search_says_what_it_did_not_look_for() -> None:
    search = RadiusSearch(radii=(0.0, 0.2, 0.4), steps=499)
    (doubt,) = choose_radius(noisy_demos(0.0), search=search, **SMALL).warnings
    assert "499 training steps are too few to look for several modes, or for a Δ of 0" in doubt
    longer = choose_radius(noisy_demos(0.0), search=RadiusSearch(search.radii, steps=500), **SMALL)
    assert [w for w in longer.warnings if "too few to look" in w] == []


# Refusals


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda m: m(episodes=1, length=19), "needs 20 pairs or more; there are 19"),
        (lambda m: m(noise=0).map_actions(np.zeros_like), "all 40 actions are the same"),
        (
            lambda m: Demonstrations((Episode(np.zeros((30, 8, 8, 3), np.uint8), _ramp(30)),)),
            "images are .*; the convolutions need 36×36",
        ),
        (
            lambda m: Demonstrations(m(episodes=1, length=4000).episodes, selected=np.arange(25)),
            "a gap of 10 steps leave . pairs to learn from",
        ),
    ],
)
def test_data_that_cannot_choose_are_refused_in_one_sentence(
    make: Callable[[Make], Demonstrations], words: str, make_demos: Make
) -> None:
    with pytest.raises(DataError, match=words) as error:
        choose_radius(make(make_demos), steps=5, **SMALL)
    assert "\n" not in str(error.value)


def _ramp(count: int) -> Array:
    return np.linspace(-1, 1, count)[:, None]


def test_one_episode_is_enough_when_it_is_long(make_demos: Make) -> None:
    choice = choose_radius(make_demos(episodes=1, length=60), steps=5, **SMALL)
    assert (choice.folds_by, choice.gap) == ("blocks", 3)
    assert "blocks, gap 3 steps" in choice.explanation


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"radii": (0.0, 0.1)}, "radii is .* it must be 0 and two or more above it"),
        ({"radii": (0.1, 0.2, 0.3)}, "radii is"),
        ({"radii": (0.0, 0.3, 0.2)}, "radii is"),
        ({"folds": 1}, "folds is 1; it must be 2 or more"),
        ({"repeats": 0}, "repeats is 0"),
        ({"steps": 0}, "steps is 0"),
        ({"pairs": 19}, "pairs is 19; it must be 20 or more"),
    ],
)
def test_a_search_that_cannot_be_is_refused(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(OptionError, match=words):
        RadiusSearch(**changes)


def test_a_method_without_radius_is_refused(tiny: Demonstrations) -> None:
    with pytest.raises(OptionError, match="bc has no counterfactuals"):
        choose_radius(tiny, "bc", progress=False)
