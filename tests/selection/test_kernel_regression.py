"""Kernel regression: held-out predictions in closed form, and what a kernel reads."""

from __future__ import annotations

import numpy as np
import torch

from counterbc.selection.folds import Folds
from counterbc.selection.kernel_regression import KernelRegression
from counterbc.selection.readings import LENGTH_SCALES, NOISE_VARIANCES, predict_held_out

CPU = torch.device("cpu")


def problem(n: int = 30) -> tuple[np.ndarray, np.ndarray, Folds]:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(n, 2))
    y = np.stack([np.sin(x[:, 0]), x[:, 1]], 1) + 3 + 0.1 * rng.normal(size=(n, 2))
    parts = np.array_split(np.arange(n), 3)
    learned = tuple(np.setdiff1d(np.arange(n), part) for part in parts)
    return x, y, Folds("episodes", 0, tuple(parts), learned)


def regression_by_hand(
    x: np.ndarray, y: np.ndarray, at: np.ndarray, length: float, noise: float
) -> np.ndarray:
    def kernel(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        square = ((a[:, None] - b[None]) ** 2).sum(-1) / a.shape[1]
        linear = 1 + 0.1 / a.shape[1] * (a @ b.T)
        return np.asarray(np.exp(-square / (2 * length**2)) + linear)

    weights = np.linalg.solve(kernel(x, x) + noise * np.eye(len(x)), y - y.mean(0))
    return np.asarray(y.mean(0) + kernel(at, x) @ weights)


def test_each_fold_is_predicted_as_if_only_the_others_had_been_seen() -> None:
    x, y, folds = problem()
    predicted = KernelRegression(x, CPU).predict(y, folds, np.ones(len(x), bool))
    models = [(length, noise) for length in LENGTH_SCALES for noise in NOISE_VARIANCES]
    assert predicted.shape == (len(models), *y.shape)
    for values, model in zip(predicted, models, strict=True):
        for part, learned in zip(folds.held_out, folds.learned, strict=True):
            expected = regression_by_hand(x[learned], y[learned], x[part], *model)
            np.testing.assert_allclose(values[part], expected, rtol=1e-6)
    np.testing.assert_allclose(predict_held_out(x, y, folds), predicted, rtol=1e-6)


def test_nothing_is_learned_from_targets_that_are_not_known() -> None:
    x, y, folds = problem()
    known = np.arange(len(x)) % 4 != 0
    predicted = KernelRegression(x, CPU).predict(y, folds, known)
    nonsense = np.where(known[:, None], y, 1e6)
    np.testing.assert_array_equal(
        KernelRegression(x, CPU).predict(nonsense, folds, known), predicted
    )
    seen = folds.learned[0][known[folds.learned[0]]]
    part = folds.held_out[0]
    expected = regression_by_hand(x[seen], y[seen], x[part], LENGTH_SCALES[0], NOISE_VARIANCES[0])
    np.testing.assert_allclose(predicted[0][part], expected, rtol=1e-6)


def test_a_gap_beside_a_fold_is_not_learned_from() -> None:
    x, y, folds = problem()
    gapped = Folds("blocks", 2, folds.held_out, tuple(part[2:] for part in folds.learned))
    predicted = KernelRegression(x, CPU).predict(y, gapped, np.ones(len(x), bool))
    seen, part = gapped.learned[0], gapped.held_out[0]
    expected = regression_by_hand(x[seen], y[seen], x[part], LENGTH_SCALES[0], NOISE_VARIANCES[0])
    np.testing.assert_allclose(predicted[0][part], expected, rtol=1e-6)
