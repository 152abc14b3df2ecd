"""What a choice of Δ says where nothing was predicted."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from counterbc.data.demonstrations import Demonstrations, Episode
from counterbc.selection.doubts import one_episode, zero_is_best
from counterbc.selection.explained import explain_quickly
from counterbc.selection.radius import RadiusSearch, choose_radius
from counterbc.selection.shares import Explained, Past, Share
from tests.selection.datasets import noisy_demos


def test_nothing_is_said_about_small_errors_where_nothing_is_predicted() -> None:
    rng = np.random.default_rng(0)
    episodes = [Episode(rng.uniform(-1, 1, (12, 3)), rng.uniform(-1, 1, (12, 1))) for _ in range(8)]
    demos = Demonstrations(tuple(episodes), np.full(1, -1.0), np.ones(1))
    search = RadiusSearch(radii=(0.0, 0.2, 0.4), steps=500)
    choice = choose_radius(demos, search=search, progress=False, hidden=(8, 8))
    assert not choice.explained.tells
    assert "nothing predicted" in [d.kind for d in choice.doubts]
    assert "zero is best" not in [d.kind for d in choice.doubts]
    assert "a guess" in choice.explanation
    assert choice.error[0] > 0.9 * choice.mean_action_error


def test_policies_that_read_a_history_are_told_from_the_present_observation() -> None:
    demos, search = noisy_demos(0.1), RadiusSearch(radii=(0.0, 0.2, 0.4), steps=20)
    choice = choose_radius(demos, search=search, progress=False, hidden=(8, 8), history=3)
    assert choice.explained.history == 3
    assert choice.explained.policies is not None
    assert choice.explained.present == explain_quickly(demos).present


def test_a_guess_is_not_praised_where_policies_may_only_repeat_the_previous_action() -> None:
    search = RadiusSearch(radii=(0.0, 0.2, 0.4), steps=20)
    choice = choose_radius(noisy_demos(0.1), search=search, progress=False, hidden=(8, 8))
    doubtful = replace(choice, doubts=(zero_is_best(), one_episode()))
    high, zero = Share(0.95, 0.92, 0.98), Share(0.0, 0.0, 0.0)
    telling = Explained(high, (high,), ("a",))
    repeating = replace(telling, past=Past(high, zero, high, high, high))
    assert doubtful.with_shares(telling).doubts == doubtful.doubts
    assert doubtful.with_shares(repeating).doubts == (one_episode(),)


def test_the_error_of_the_mean_action_is_the_variance_of_the_actions() -> None:
    demos = noisy_demos(0.1)
    search = RadiusSearch(radii=(0.0, 0.2, 0.4), steps=500)
    choice = choose_radius(demos, search=search, progress=False, hidden=(8, 8))
    assert choice.explained.tells
    np.testing.assert_allclose(choice.mean_action_error, demos.action.var(), rtol=1e-4)
    assert choice.as_dict()["explained"]["tells"] is True


def test_no_radius_is_recommended_where_plain_bc_is_as_good() -> None:
    search = RadiusSearch(radii=(0.0, 0.2, 0.4), steps=500)
    choice = choose_radius(noisy_demos(0.1), search=search, progress=False, hidden=(8, 8))
    flat = replace(choice, radius=0.3, plateau=(0.0, 0.2, 0.4))
    assert flat.is_flat
    assert flat.explanation.startswith("No radius is recommended, plain BC is as good")
    assert "at most Δ 0.3 does no harm" in flat.explanation
    clear = replace(choice, radius=0.3, plateau=(0.2, 0.4))
    assert not clear.is_flat
    assert clear.explanation.startswith("Δ 0.3: ")
