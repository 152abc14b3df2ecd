"""Shares of the actions' variance: by hand, and on data in which the answer is known."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from counterbc.data.arrays import Array
from counterbc.data.demonstrations import Demonstrations, Episode
from counterbc.data.lags import with_actions
from counterbc.diagnosis.meaning import meaning
from counterbc.formats import load
from counterbc.selection.explained import explain_errors, explain_quickly
from counterbc.selection.held_out import HeldOut
from counterbc.selection.shares import (
    LEAST_SHARE,
    Share,
)

EPISODES, STEPS = 8, 40


def demos(obs: Array, action: Array) -> Demonstrations:
    """Return episodes of observations and actions, (E, T, ·) each."""
    pairs = zip(obs, action, strict=True)
    size = action.shape[-1]
    return Demonstrations(
        tuple(Episode(o, a) for o, a in pairs), np.full(size, -2.0), np.full(size, 2.0)
    )


def states(seed: int = 0, size: int = 1) -> Array:
    return np.random.default_rng(seed).uniform(-1, 1, (EPISODES, STEPS, size))


def follow(noise: Array, memory: float = 0.9) -> Array:
    """Return an AR(1) process along each episode."""
    action = noise.copy()
    for t in range(1, noise.shape[1]):
        action[:, t] = memory * action[:, t - 1] + np.sqrt(1 - memory**2) * noise[:, t]
    return action


def test_actions_that_answer_the_state_are_explained_by_the_present() -> None:
    obs = states()
    shares = explain_quickly(demos(obs, 0.8 * obs))
    assert shares.tells
    assert shares.present.low > 0.95
    assert shares.past is not None
    assert shares.past.previous.high < 0.1
    assert shares.past.beyond.low > 0.9
    assert shares.verdict == ()


def test_noise_is_explained_by_nothing_and_refused_with_advice() -> None:
    shares = explain_quickly(demos(states(0), states(1)))
    assert not shares.tells
    assert not shares.history_tells
    refusal, remedy = shares.verdict
    assert "Cannot tell" in refusal
    assert "--obs" in remedy
    assert shares.as_dict()["tells"] is False


def test_the_previous_action_alone_does_not_count() -> None:
    shares = explain_quickly(demos(states(0), follow(0.5 * states(1))))
    assert shares.past is not None
    assert shares.past.previous.low > 0.5
    assert shares.past.beyond.high < LEAST_SHARE
    assert not shares.tells
    assert not replace(shares, history=3, policies=Share(0.8, 0.7, 0.9)).tells


def test_what_past_observations_explain_counts_for_policies_with_a_history() -> None:
    obs = states()
    late = np.concatenate([np.zeros((EPISODES, 1, 1)), obs[:, :-1]], axis=1)
    shares = explain_quickly(demos(obs, 0.8 * late))
    assert not shares.tells
    assert shares.history_tells
    assert "--history auto" in shares.remedy
    assert "do worse" in shares.remedy
    assert replace(shares, history=3, policies=Share(0.8, 0.7, 0.9)).tells
    assert not replace(shares, history=3, policies=Share(0.1, 0.0, 0.2)).tells


def test_an_observation_that_only_shows_the_previous_action_does_not_tell() -> None:
    action = follow(0.5 * states(1))
    shown = np.concatenate([action[:, :1], action[:, :-1]], axis=1)
    shares = explain_quickly(demos(shown, action))
    assert shares.present.is_enough
    assert not shares.tells
    assert "may only repeat it" in shares.verdict[0]


@pytest.mark.parametrize("noise", [0.3, 0.5, 0.8])
def test_an_observation_that_shows_the_previous_action_with_noise_does_not_tell(
    noise: float,
) -> None:
    action = follow(0.5 * states(1))
    view = np.concatenate([action[:, :1], action[:, :-1]], axis=1)
    rng = np.random.default_rng(2)
    shares = explain_quickly(
        demos(view + noise * action.std() * rng.normal(size=view.shape), action)
    )
    assert shares.present.is_enough
    assert not shares.tells
    assert "policies may only repeat it" in shares.verdict[0]


def test_actions_that_follow_a_smooth_state_are_told_from_those_that_follow_each_other() -> None:
    state = follow(states(1))
    action = 0.8 * state + 0.3 * state.std() * np.random.default_rng(2).normal(size=state.shape)
    shares = explain_quickly(demos(state, action))
    assert shares.past is not None
    assert shares.past.visible.low > LEAST_SHARE
    assert shares.tells


def test_each_dimension_has_its_share_and_a_poor_one_is_named() -> None:
    obs = states(size=2)
    action = np.stack([0.8 * obs[..., 0], states(3)[..., 0]], axis=-1)
    shares = explain_quickly(replace(demos(obs, action), action_names=("a", "b")))
    first, second = shares.per_dimension
    assert first.low > 0.9
    assert second.high < LEAST_SHARE
    assert "The policies explain too little of b" in shares.verdict


def test_errors_of_policies_replace_the_present_share() -> None:
    obs = states()
    data = demos(obs, 0.8 * obs)
    residual = 0.4 * (data.action - data.action.mean()) / 2  # actions span [−2, 2]
    shares = explain_errors(data, residual)
    assert shares.present.value == pytest.approx(1 - 0.4**2, rel=1e-5)
    residual[:STEPS] = np.nan
    assert explain_errors(data, residual).present.value == pytest.approx(1 - 0.4**2, rel=0.01)
    with_history = explain_errors(data, 0.9 * residual, history=3)
    assert with_history.policies is not None
    assert with_history.present.value > 0.9  # from one observation, without any training


LAG = 3


def late(obs: Array) -> Demonstrations:
    """Return actions that answer the state of `LAG` steps before; the first ones answer none."""
    start = states(5)[:, :LAG]
    return demos(obs, np.concatenate([start, 0.8 * obs[:, :-LAG]], axis=1))


def test_quick_shares_of_late_actions_are_those_of_the_same_actions_in_time() -> None:
    obs = states()
    in_time = explain_quickly(demos(obs[:, :-LAG], 0.8 * obs[:, :-LAG]))
    undone = explain_quickly(late(obs), (LAG,))
    assert undone.tells
    assert undone.present == in_time.present
    assert undone.per_dimension == in_time.per_dimension
    assert not explain_quickly(late(obs)).tells


def test_with_a_lag_the_previous_action_is_the_last_that_the_observation_may_show() -> None:
    action = follow(0.5 * states(1))
    shown = np.concatenate([action[:, :1], action[:, :-1]], axis=1)
    shares = explain_quickly(demos(shown, action), (1,))
    assert shares.past is not None
    assert shares.past.is_visible
    assert shares.present.is_enough
    assert not shares.tells


def test_errors_with_a_lag_are_compared_with_the_actions_shown_later() -> None:
    data, rows = late(states()), np.arange(STEPS) < STEPS - LAG
    shown_later = np.roll(data.action.reshape(EPISODES, STEPS), -LAG, axis=1)
    shown_later = np.where(rows, shown_later, np.nan) / 2  # actions span [−2, 2]
    residual = 0.4 * (shown_later - np.nanmean(shown_later)).reshape(-1, 1)
    shares = explain_errors(data, residual, lag=(LAG,))
    assert shares.present.value == pytest.approx(1 - 0.4**2, rel=1e-5)
    assert shares.tells
    assert shares.past == explain_quickly(data, (LAG,)).past


def test_episodes_of_one_step_have_no_past() -> None:
    obs = np.random.default_rng(0).uniform(-1, 1, (40, 1, 1))
    shares = explain_quickly(demos(obs, obs))
    assert shares.past is None
    assert [label for label, _ in shares.rows] == ["from the present observation"]


def test_quick_shares_need_no_torch() -> None:
    code = "import counterbc.selection.explained, sys; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def shuffled(data: Demonstrations) -> Demonstrations:
    """Return the demonstrations with actions of other steps."""
    action = np.random.default_rng(0).permutation(data.action)
    return with_actions(data, action)


@pytest.mark.slow
def test_quick_shares_agree_with_those_of_held_out_policies(data: Path) -> None:
    people = load(data / "pusht_human_206.hdf5", ["state"]).subset(range(40))
    held_out = HeldOut(repeats=1, rounds=1, steps=1000)
    for demos in (people, shuffled(people)):
        full = meaning(demos, radius=0.1, held_out=held_out, lag=0.0, offsets="none",
                       device="cpu", progress=False).explained  # fmt: skip
        quick = explain_quickly(demos)
        assert quick.tells == full.tells
        share = max(full.present.value, 0)  # of more pairs than the quick one learns from
        assert share - 0.2 < quick.present.value < share + 0.05
