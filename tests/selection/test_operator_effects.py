"""Constants of operators from a regression on states."""

from __future__ import annotations

import numpy as np

from counterbc.data.arrays import Array
from counterbc.selection.operator_effects import operator_effects

TRUE = np.array([[0.3, 0.0], [-0.1, 0.2], [0.0, -0.3], [-0.2, 0.1]])


def samples(offset: Array, shift: float = 0.0, seed: int = 0) -> tuple[Array, Array, Array, Array]:
    """Return states, actions, operators and episodes; operators are found where they push to."""
    rng = np.random.default_rng(seed)
    operator = np.repeat(np.arange(4), 100)
    obs = rng.normal(size=(400, 2)) + shift * offset[operator]
    action = np.tanh(2 * obs) + offset[operator] + 0.2 * rng.uniform(-1, 1, (400, 2))
    return obs, action, operator, np.arange(400) // 20


def test_known_offsets_are_found_within_three_standard_errors() -> None:
    effects = operator_effects(*samples(TRUE))
    assert (np.abs(effects.offset - TRUE) < 3 * effects.se).all()
    assert effects.se.max() < 0.05
    np.testing.assert_allclose(effects.offset.sum(0), 0, atol=1e-9)


def test_an_offset_is_not_hidden_by_states_that_move_with_it() -> None:
    # Who pushes to one side is also found there. The mean residual from a prediction that averages
    # over all operators would be far smaller than the offset.
    effects = operator_effects(*samples(TRUE, shift=-3.0))
    slope = (effects.offset * TRUE).sum() / (TRUE**2).sum()
    assert 0.85 < slope < 1.15


def test_predictions_come_from_other_operators_without_their_offsets() -> None:
    obs, action, operator, cluster = samples(TRUE)
    effects = operator_effects(obs, action, operator, cluster)
    own = operator == 0
    changed = action.copy()
    changed[own] += 5.0  # a constant of operator 0 changes nothing for that operator
    again = operator_effects(obs, changed, operator, cluster)
    assert np.abs(effects.predicted[own] - np.tanh(2 * obs[own])).mean() < 0.2
    np.testing.assert_allclose(
        again.predicted[own] - again.predicted[own].mean(0),
        effects.predicted[own] - effects.predicted[own].mean(0),
        atol=0.02,
    )


def test_noise_that_stays_within_an_episode_widens_the_standard_error() -> None:
    obs, action, operator, cluster = samples(0 * TRUE)
    alone = operator_effects(obs, action, operator, cluster).se
    drift = np.random.default_rng(1).normal(size=(20, 2)) * 0.3
    together = operator_effects(obs, action + drift[cluster], operator, cluster).se
    assert (together > 2 * alone).all()
    assert 0.5 < np.median(together / (0.3 / np.sqrt(5))) < 1.5  # five episodes each
