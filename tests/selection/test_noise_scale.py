"""The scale of noise from held-out residuals: the truth, the policy's own error, and refusals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from counterbc.errors import DataError, OptionError
from counterbc.selection.noise_scale import noise_scale
from counterbc.supports import Ball, Box, Metric, Normal, StudentT, Support


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("policy_error", [0.0, 0.05, 0.15])
def test_the_half_width_of_uniform_noise_is_found_under_the_error_of_a_policy(
    seed: int, policy_error: float
) -> None:
    noise = rng(seed).uniform(-1, 1, (800, 2)) * [0.4, 0.6]
    residual = noise + policy_error * rng(seed + 100).normal(size=noise.shape)
    assert noise_scale(residual, Box()) == pytest.approx([0.4, 0.6], rel=0.1)


def test_a_few_bad_predictions_do_not_hide_uniform_noise() -> None:
    residual = rng().uniform(-0.4, 0.4, (400, 1)) + 0.05 * rng(1).normal(size=(400, 1))
    residual[:4] = 2.0
    assert noise_scale(residual, Box()) == pytest.approx([0.4], rel=0.1)


def test_a_ball_is_wider_than_the_box_of_the_same_variance() -> None:
    direction = rng().normal(size=(4000, 3))
    length = rng(1).uniform(size=(4000, 1)) ** (1 / 3)
    residual = 0.5 * direction / np.linalg.norm(direction, axis=1, keepdims=True) * length
    box = noise_scale(residual, Box())
    assert noise_scale(residual, Ball()) == pytest.approx(box * np.sqrt(5 / 3))
    assert noise_scale(residual, Ball()) == pytest.approx([0.5] * 3, rel=0.15)
    assert noise_scale(residual[:, :1], Ball()) == pytest.approx(box[:1])


def test_uniform_noise_is_not_seen_where_the_policy_alone_errs() -> None:
    heavy = 0.1 * rng().standard_t(3, size=(400, 1))
    assert noise_scale(heavy, Box()).tolist() == [0.0]
    widths = [noise_scale(0.1 * rng(s).normal(size=(400, 1)), Box())[0] for s in range(20)]
    assert sum(width > 0 for width in widths) <= 4  # a test at 5 %


@pytest.mark.parametrize("df", [2, 4])
def test_the_scale_of_student_t_noise_is_found(df: int) -> None:
    residual = rng().standard_t(df, size=(4000, 1)) * 0.2
    assert noise_scale(residual, StudentT(df=df)) == pytest.approx([0.2], rel=0.06)
    normal, chi = rng(1).normal(size=(4000, 2)), rng(2).chisquare(df, size=(4000, 1))
    together = normal * [0.3, 0.1] / np.sqrt(chi / df)
    assert noise_scale(together, StudentT(df=df)) == pytest.approx([0.3, 0.1], rel=0.06)


def test_outliers_widen_gaussian_noise_and_hardly_student_t() -> None:
    residual = 0.1 * rng().normal(size=(400, 1))
    wild = residual.copy()
    wild[::20] += 1.5
    growth = [
        float(noise_scale(wild, noise)[0] / noise_scale(residual, noise)[0])
        for noise in (Normal(), StudentT())
    ]
    assert growth[0] > 3
    assert growth[1] < 1.3


@pytest.mark.parametrize("noise", [Ball(), Box(), Normal(), StudentT()])
def test_perfect_predictions_leave_no_noise(noise: Support) -> None:
    assert noise_scale(np.zeros((50, 2)), noise) == pytest.approx([0.0, 0.0])


@pytest.mark.parametrize("residual", [np.zeros((5, 1)), np.zeros(50), np.full((50, 1), np.nan)])
def test_too_few_or_broken_residuals_are_refused(residual: Any) -> None:
    with pytest.raises(DataError, match="needs 20 or more finite rows"):
        noise_scale(residual, Box())


def test_a_metric_has_no_density() -> None:
    with pytest.raises(OptionError, match="Metric is not a noise of known density"):
        noise_scale(np.zeros((50, 1)), Metric())
