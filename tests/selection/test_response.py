"""What policies predict beyond the last two actions: by hand, and where the answer is known."""

from __future__ import annotations

import numpy as np
import pytest

from counterbc.data.arrays import Array
from counterbc.data.demonstrations import Demonstrations, Episode
from counterbc.selection.explained import explain_errors, explain_quickly
from counterbc.selection.shares import Explained, Share

LONG = (30, 40)
UNMEASURED = Explained(Share(0.0, 0.0, 0.0), (), ())


def demos(obs: Array, action: Array) -> Demonstrations:
    """Return episodes of observations and actions, (E, T, ·) each."""
    pairs = zip(obs, action, strict=True)
    size = action.shape[-1]
    return Demonstrations(
        tuple(Episode(o, a) for o, a in pairs), np.full(size, -2.0), np.full(size, 2.0)
    )


def follow(noise: Array) -> Array:
    """Return an AR(1) process along each episode."""
    action = noise.copy()
    for t in range(1, noise.shape[1]):
        action[:, t] = 0.9 * action[:, t - 1] + np.sqrt(1 - 0.9**2) * noise[:, t]
    return action


def innovations(seed: int) -> Array:
    return 0.5 * np.random.default_rng(seed).normal(size=(*LONG, 1))


def signs(seed: int) -> Array:
    """Return signs that hide one another and twelve dimensions of noise: (E, T, 14)."""
    rng = np.random.default_rng(seed)
    pair = rng.choice([-1.0, 1.0], (*LONG, 2))
    return np.concatenate([pair, rng.normal(size=(*LONG, 12))], axis=-1)


def before(action: Array) -> Array:
    """Return the previous actions, of the first step that action itself."""
    return np.concatenate([action[:, :1], action[:, :-1]], axis=1)


def errors(data: Demonstrations, prediction: Array) -> Array:
    """Return the residuals of predictions (E, T, ·); actions span [−2, 2]."""
    return (data.action - prediction.reshape(data.action.shape)) / 2


def test_policies_that_read_a_hidden_previous_action_and_repeat_it_do_not_tell() -> None:
    action, cues = follow(innovations(1)), signs(2)
    view = before(action) * cues[..., :1] * cues[..., 1:2]  # a regression on few pairs sees little
    data = demos(np.concatenate([view, cues], axis=-1), action)
    shares = explain_errors(data, errors(data, 0.9 * before(action)))
    assert shares.past is not None
    relayed = shares.past.visible.value * shares.past.last_two.value
    assert shares.past.present.value < relayed
    assert shares.present.value > 1.5 * relayed
    assert shares.response is not None
    assert shares.response.high < 0.02
    assert not shares.tells


@pytest.mark.parametrize("noise", [0.3, 0.5, 0.8])
def test_policies_that_read_a_noisy_view_of_the_previous_action_do_not_tell(noise: float) -> None:
    action = follow(innovations(1))
    view = before(action) + noise * action.std() * innovations(2) / 0.5
    data = demos(view, action)
    shares = explain_errors(data, errors(data, 0.9 / (1 + noise**2) * view))
    assert shares.present.is_enough
    assert shares.response is not None
    assert shares.response.high < 0.03
    assert not shares.tells


def test_repeating_an_action_along_a_curve_is_not_predicting_beyond_it() -> None:
    action = 0.4 * innovations(1)
    for t in range(1, LONG[1]):
        action[:, t] += np.sin(2 * action[:, t - 1])
    data = demos(before(action) + 0.3 * action.std() * innovations(2) / 0.5, action)
    shares = explain_errors(data, errors(data, np.sin(2 * before(action))))
    assert shares.present.low > 0.8
    assert shares.response is not None
    assert shares.response.high < 0.05
    assert not shares.tells


@pytest.mark.slow
def test_policies_that_predict_smooth_actions_from_a_state_that_few_pairs_do_not_show_tell() -> (
    None
):
    state = np.random.default_rng(2).uniform(-1, 1, (*LONG, 2))
    answer = np.sin(20 * state).prod(-1, keepdims=True)
    action = follow(answer + 0.1 * innovations(3))
    view = before(action) + 0.5 * action.std() * innovations(4) / 0.5
    data = demos(np.concatenate([view, state], axis=-1), action)
    assert not explain_quickly(data).tells
    repeating, ideal = 0.9 * before(action), np.sqrt(1 - 0.9**2) * answer
    shares = explain_errors(data, errors(data, repeating + ideal))
    assert shares.may_be_noisy_view
    assert not shares.history_tells
    assert shares.response is not None
    assert shares.response.low > 0.9
    assert shares.tells
    assert not explain_errors(data, errors(data, repeating)).tells


def test_the_share_beyond_the_last_two_actions_by_hand() -> None:
    last = np.array([[1.0, 3.0], [1.0, -3.0], [-1.0, 3.0], [-1.0, -3.0]])
    action = np.zeros((4, 3, 2))
    action[:, 0], action[:, 1], action[:, 2] = 0.5, -0.5, last  # the past is the same everywhere
    data = demos(np.zeros((4, 3, 1)), action)
    prediction = np.zeros((4, 3, 2))
    prediction[:, 2, 0] = [1.0, 0.0, 0.0, -1.0]  # b = 1 leaves 2 of 4
    prediction[:, 2, 1] = [-3.0, 3.0, -3.0, 3.0]  # the wrong way: all of 36 is left
    response = explain_errors(data, errors(data, prediction), quick=UNMEASURED).response
    assert response is not None
    assert response.value == pytest.approx(1 - (2 + 36) / (4 + 36))
    larger = 7 * prediction * np.array([1.0, -1.0])  # b = 1/7, and the right way
    response = explain_errors(data, errors(data, larger), quick=UNMEASURED).response
    assert response is not None
    assert response.value == pytest.approx(1 - 2 / (4 + 36))


def test_with_a_lag_predictions_count_beyond_the_two_actions_before_the_state() -> None:
    action = follow(innovations(1))
    data = demos(np.zeros((*LONG, 1)), action)
    answer, rows = np.roll(action, -1, axis=1), np.arange(LONG[1]) < LONG[1] - 1
    for prediction, share in ((0.81 * before(action), 0.0), (0.9 * action, 0.81 / 1.81)):
        residual = np.where(rows[:, None], answer - prediction, np.nan).reshape(-1, 1) / 2
        response = explain_errors(data, residual, quick=UNMEASURED, lag=(1,)).response
        assert response is not None
        assert response.value == pytest.approx(share, abs=0.03)


def test_episodes_of_two_steps_have_no_response() -> None:
    action = np.random.default_rng(0).uniform(-1, 1, (20, 2, 1))
    data = demos(action, action)
    assert explain_errors(data, errors(data, 0.5 * action)).response is None
