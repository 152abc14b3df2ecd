"""Kernel regression: held-out predictions in closed form, and what a kernel reads."""

from __future__ import annotations

import numpy as np
import torch

from counterbc.selection.folds import Folds
from counterbc.selection.kernel_regression import (
    LENGTH_SCALES,
    NOISE_VARIANCES,
    KernelRegression,
    readings,
    standardize,
)

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


def test_whitened_a_velocity_in_two_positions_is_a_direction_of_its_own() -> None:
    rng = np.random.default_rng(0)
    position, velocity = rng.normal(size=200), 0.01 * rng.normal(size=200)
    obs = np.stack([position, position - velocity, np.full(200, 7.0)], 1)
    standardized, whitened = readings(obs)
    assert standardized.shape == whitened.shape == (200, 2)  # what is constant is not read
    np.testing.assert_allclose(np.cov(whitened.T, bias=True), np.eye(2), atol=1e-6)
    correlation = [abs(np.corrcoef(velocity, column)[0, 1]) for column in whitened.T]
    assert max(correlation) > 0.99
    assert all(abs(np.corrcoef(velocity, column)[0, 1]) < 0.3 for column in standardized.T)


def test_images_are_read_by_their_principal_components() -> None:
    rng = np.random.default_rng(0)
    brightness = rng.integers(0, 255, 60).astype(np.uint8)
    images = np.broadcast_to(brightness[:, None, None, None], (60, 8, 8, 3))
    components, whitened = readings(images)
    assert components.shape == whitened.shape == (60, 1)
    assert abs(np.corrcoef(brightness, whitened[:, 0])[0, 1]) > 0.999
    assert readings(np.zeros((60, 8, 8, 3), np.uint8))[0].shape == (60, 1)


def test_constant_observations_tell_nothing() -> None:
    (reading,) = readings(np.ones((10, 3)))
    assert not reading.any()


def test_states_are_standardized_and_constant_dimensions_are_0() -> None:
    obs = np.array([[1.0, 5.0, 1e9], [3.0, 5.0, 1e9 + 1]])  # the last changes by rounding alone
    assert standardize(obs).tolist() == [[-1.0, 0.0, 0.0], [1.0, 0.0, 0.0]]
