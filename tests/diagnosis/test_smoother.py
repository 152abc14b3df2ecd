"""Meant actions from time and from other episodes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from counterbc.diagnosis.smoother import (
    _chain,
    _joined,
    _solve,
    error_scales,
    smooth_actions,
    two_valued,
)

Array = NDArray[Any]
LENGTHS = (60, 1, 40, 99)


def rms(x: Array) -> float:
    return float(np.sqrt((x**2).mean()))


@pytest.fixture(scope="module")
def noisy() -> tuple[Array, Array, Array]:
    """What was meant, shown and predicted: (200, 1) each; policies err slowly."""
    rng = np.random.default_rng(0)
    meant = 0.7 * np.sin(np.arange(200) / 9)[:, None]
    slow = 0.2 * np.cos(np.arange(200) / 15)[:, None]
    return meant, meant + 0.3 * rng.normal(size=(200, 1)), meant + slow


def test_smoothed_actions_are_nearer_to_what_was_meant_than_both_observations(
    noisy: tuple[Array, Array, Array],
) -> None:
    meant, demonstration, prediction = noisy
    result = smooth_actions(demonstration, prediction, np.full((200, 1), 0.001), LENGTHS)
    assert rms(result.action - meant) < 0.8 * min(
        rms(demonstration - meant), rms(prediction - meant)
    )
    assert result.error[0] == pytest.approx(0.3, rel=0.25)


def test_actions_without_errors_stay(noisy: tuple[Array, Array, Array]) -> None:
    meant, _, prediction = noisy
    result = smooth_actions(meant, prediction, np.full((200, 1), 0.001), LENGTHS)
    assert np.array_equal(result.action, meant)
    assert result.error[0] == 0


def test_grippers_and_buttons_stay_as_recorded(noisy: tuple[Array, Array, Array]) -> None:
    _, demonstration, prediction = noisy
    rng = np.random.default_rng(0)
    gripper = np.where(np.arange(200)[:, None] % 50 < 25, 1.0, -1.0)
    both = np.concatenate([demonstration, gripper], axis=1)
    guess = np.concatenate([prediction, 0.5 * gripper], axis=1)
    result = smooth_actions(both, guess, np.full((200, 2), 0.001), LENGTHS)
    assert np.array_equal(result.action[:, 1], gripper[:, 0])
    assert two_valued(gripper[:, 0] + 0.02 * rng.normal(size=200))
    assert two_valued(np.ones(5))
    assert not two_valued(np.array([-1.0, 0.0, 1.0] * 20))
    assert not two_valued(demonstration[:, 0])


def test_jumps_that_policies_miss_are_no_errors() -> None:
    rng = np.random.default_rng(0)
    levels = np.repeat(rng.uniform(-0.5, 0.5, 25), 8)[:, None]  # a jump every eight steps
    blurred = np.convolve(np.pad(levels[:, 0], 2, "edge"), np.full(5, 0.2), "valid")[:, None]
    variance = np.full((200, 1), 1e-4)
    result = smooth_actions(levels, blurred, variance, [200])
    assert np.array_equal(result.action, levels)
    shaken = levels + 0.15 * rng.normal(size=(200, 1))
    moved = smooth_actions(shaken, blurred, variance, [200])
    assert rms(moved.action - levels) < 0.8 * rms(shaken - levels)


def test_scales_of_errors_by_hand() -> None:
    joined = _joined([4, 3])
    residual = np.array([0.0, 0.0, 6.0, 0.0, 1.0, 2.0, 3.0])
    usual, overall = error_scales(residual, joined)  # second differences: 6, −12, and 0
    assert usual == pytest.approx(1.4826 * 6 / np.sqrt(6))
    assert overall == pytest.approx(np.sqrt((36 + 144) / 3 / 6))
    assert error_scales(residual[:4], _joined([2, 2])) == (0.0, 0.0)


def test_white_errors_are_not_taken_for_larger_ones_than_their_differences_show() -> None:
    rng = np.random.default_rng(1)
    meant = 0.7 * np.sin(np.arange(400) / 20)[:, None]
    white = 0.1 * rng.normal(size=(400, 1))
    guess = meant + 0.3 * np.sin(np.arange(400) / 5)[:, None]
    result = smooth_actions(meant + white, guess, np.full((400, 1), 1e-4), [400])
    most = error_scales((meant + white - guess)[:, 0], _joined([400]))[1]
    assert most == pytest.approx(0.1, rel=0.15)
    assert 0 < result.error[0] <= 1.001 * most


def test_likelihood_and_mean_equal_those_of_dense_gaussians() -> None:
    joined, rng = _joined((3, 0, 2)), np.random.default_rng(0)
    assert joined.tolist() == [True, True, False, True]
    scale = np.array([1.0, 2.0, 1.0, 0.5, 1.0])
    prior, noise = _chain(0.5, 0.8, joined, np.ones(5)), _chain(0.2, 0.3, joined, scale)
    a, centre = rng.normal(size=5), np.full(5, 0.1)
    cost, mean = _solve([(*prior, centre), (*noise, a)])
    K, N = (np.zeros((5, 5)), np.zeros((5, 5)))
    for block in (range(3), range(3, 5)):
        for i in block:
            for j in block:
                K[i, j] = 0.5 * 0.8 ** abs(i - j)
                N[i, j] = 0.2 * 0.3 ** abs(i - j) * scale[i] * scale[j]
    off = a - centre
    dense_cost = 0.5 * (off @ np.linalg.solve(K + N, off) + np.linalg.slogdet(K + N)[1])
    assert cost == pytest.approx(dense_cost)
    assert mean == pytest.approx(centre + K @ np.linalg.solve(K + N, off))
