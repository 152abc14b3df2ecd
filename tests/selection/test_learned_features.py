"""Kernel regression on learned features: held out, right gradients, and fewer pairs needed."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from counterbc.selection import learned_features
from counterbc.selection.folds import Folds
from counterbc.selection.kernel_regression import KernelRegression
from counterbc.selection.learned_features import FeatureRegression
from counterbc.selection.readings import LENGTH_SCALES, NOISE_VARIANCES

CPU = torch.device("cpu")


def problem(n: int = 150, noise: float = 0.0) -> tuple[np.ndarray, np.ndarray, Folds]:
    """Return six inputs, of which each target sees one direction."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(n, 6))
    y = np.stack([np.tanh(2 * (x[:, 0] - x[:, 1])), np.tanh(2 * x[:, 2] + x[:, 3])], 1)
    y = y + noise * rng.normal(size=y.shape) + 1
    parts = tuple(np.array_split(np.arange(n), 5))
    learned = tuple(np.setdiff1d(np.arange(n), part) for part in parts)
    return x, y, Folds("episodes", 0, parts, learned)


def all_known(x: np.ndarray) -> np.ndarray:
    return np.ones(len(x), bool)


def test_features_need_fewer_pairs_for_a_function_of_few_directions() -> None:
    x, y, folds = problem()
    plain = ((KernelRegression(x, CPU).predict(y, folds, all_known(x)) - y) ** 2).mean((1, 2))
    learned = ((FeatureRegression(x, CPU).predict(y, folds, all_known(x)) - y) ** 2).mean((1, 2))
    assert learned.shape == (len(NOISE_VARIANCES),)
    assert learned.min() < 0.3 * plain.min()


def test_without_rounds_it_is_the_plain_regression_of_length_scale_1(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(learned_features, "ROUNDS", 0)
    x, y, folds = problem(40)
    at = LENGTH_SCALES.index(1.0) * len(NOISE_VARIANCES)
    plain = KernelRegression(x, CPU).predict(y, folds, all_known(x))
    predicted = FeatureRegression(x, CPU).predict(y, folds, all_known(x))
    np.testing.assert_allclose(predicted, plain[at : at + len(NOISE_VARIANCES)], rtol=1e-6)


def test_a_fold_is_predicted_without_its_own_targets() -> None:
    x, y, folds = problem(60, noise=0.1)
    predicted = FeatureRegression(x, CPU).predict(y, folds, all_known(x))
    changed, part = y.copy(), folds.held_out[2]
    changed[part] = 1e3
    again = FeatureRegression(x, CPU).predict(changed, folds, all_known(x))
    np.testing.assert_array_equal(again[:, part], predicted[:, part])
    assert not np.allclose(again, predicted)


def test_nothing_is_learned_from_targets_that_are_not_known() -> None:
    x, y, folds = problem(60)
    known = np.arange(len(x)) % 4 != 0
    predicted = FeatureRegression(x, CPU).predict(y, folds, known)
    nonsense = np.where(known[:, None], y, 1e6)
    np.testing.assert_array_equal(
        FeatureRegression(x, CPU).predict(nonsense, folds, known), predicted
    )
    assert np.isfinite(predicted).all()


def test_gradients_agree_with_finite_differences() -> None:
    x = torch.tensor(problem(12)[0])[None]
    weight = torch.linspace(-1, 1, 12, dtype=x.dtype)[None, :, None]

    def value(at: torch.Tensor) -> torch.Tensor:
        kernel = learned_features._bumps(at, x) + learned_features._linear(at, x)
        return (kernel @ weight)[..., 0]

    gradient = learned_features._gradients(x, learned_features._bumps(x, x), weight)
    step = 1e-6
    for d in range(x.shape[-1]):
        nudge = torch.zeros_like(x)
        nudge[..., d] = step
        difference = (value(x + nudge) - value(x - nudge)) / (2 * step)
        torch.testing.assert_close(gradient[..., d], difference, rtol=1e-5, atol=1e-7)


def test_constant_targets_are_predicted_by_their_value() -> None:
    x, y, folds = problem(30)
    predicted = FeatureRegression(x, CPU).predict(np.full_like(y, 3.0), folds, all_known(x))
    np.testing.assert_allclose(predicted, 3.0)


def test_pairs_beyond_the_limit_are_not_learned_from(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(learned_features, "LEARNED_PAIRS", 2)
    x, y, folds = problem(30)
    changed = y.copy()
    changed[10:20] = 1e3  # neither the first nor the last pair of what any other fold learns from
    predicted = FeatureRegression(x, CPU).predict(y, folds, all_known(x))
    again = FeatureRegression(x, CPU).predict(changed, folds, all_known(x))
    np.testing.assert_array_equal(again, predicted)
