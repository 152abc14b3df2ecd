"""The radius that an error curve chooses, by hand."""

from __future__ import annotations

import numpy as np
import pytest

from counterbc.selection.error_curve import (
    best_radius,
    finite_mean,
    least_radius,
    mean_and_error,
    plateau,
    without_diverged,
)


def test_the_standard_error_is_that_of_the_folds_by_hand() -> None:
    errors = np.array([[[1.0], [3.0]], [[2.0], [4.0]]])  # two repeats of two folds, one radius
    mean, se = mean_and_error(errors)
    assert mean.tolist() == [2.5]
    assert se.tolist() == [1.0]  # √(variance 2 of each repeat / 2 folds)


def test_the_least_of_a_parabola_is_found_between_the_radii() -> None:
    radii = (0.0, 0.1, 0.2, 0.3)
    curve = (np.array(radii) - 0.14) ** 2
    assert least_radius(radii, curve[None, None]) == pytest.approx(0.14)
    assert least_radius(radii, curve[::-1][None, None]) == pytest.approx(0.16)
    assert least_radius(radii, np.array([[[1.0, 2.0, 3.0, 4.0]]])) == 0
    assert least_radius(radii, np.array([[[4.0, 3.0, 2.0, 1.0]]])) == 0.3
    assert least_radius(radii, np.array([[[4.0, 3.0, 2.0, np.nan]]])) == 0.2


def test_the_radius_leans_towards_the_largest_that_is_as_good() -> None:
    radii = (0.0, 0.1, 0.2, 0.3)
    folds = np.array([[[4.0, 3.0, 3.3, 5.0], [4.0, 3.0, 2.9, 5.0]]])  # 0.2 is 0.1 ± 0.2 above 0.1
    assert plateau(radii, folds) == (0.1, 0.2)
    smallest = least_radius(radii, folds)
    assert 0.1 < smallest < 0.2
    assert best_radius(radii, folds) == pytest.approx((smallest + 0.2) / 2, abs=1e-3)
    steep = np.array([[[4.0, 3.0, 4.0, 5.0], [4.0, 3.0, 4.0, 5.0]]])
    assert best_radius(radii, steep) == pytest.approx(0.1)


def test_a_fold_in_which_every_candidate_diverged_is_left_out() -> None:
    errors = np.array([[[3.0, 1.0, 2.0], [np.nan] * 3, [5.0, 3.0, 4.0]]])[..., None]
    kept = without_diverged(errors)
    assert kept[..., 0].tolist() == [[[3.0, 1.0, 2.0], [5.0, 3.0, 4.0]]]
    assert least_radius((0.0, 0.1, 0.2), kept.sum(-1)) == pytest.approx(0.117, abs=1e-3)


def test_a_candidate_that_diverged_in_a_fold_of_the_others_loses_in_all() -> None:
    errors = np.array([[[1.0, 3.0], [np.nan, 3.0]], [[1.0, 3.0], [1.0, 3.0]]])[..., None]
    kept = without_diverged(errors)
    assert kept.shape == errors.shape
    assert np.isnan(kept[:, :, 0]).all()
    assert (kept[:, :, 1] == 3.0).all()
    assert least_radius((0.0, 0.4), kept.sum(-1)) == 0.4
    assert plateau((0.0, 0.4), kept.sum(-1)) == (0.4,)


def test_candidates_that_all_diverged_somewhere_are_compared_where_the_steadiest_did_not() -> None:
    nan = np.nan
    errors = np.array([[[nan, 2.0, nan], [1.0, 2.0, 3.0], [1.0, nan, nan]]])[..., None]
    kept = without_diverged(errors)[..., 0]
    np.testing.assert_array_equal(kept, [[[1.0, nan, nan], [1.0, nan, nan]]])
    assert least_radius((0.0, 0.4, 0.8), kept) == 0.0


def test_errors_without_divergence_stay_as_they_are() -> None:
    errors = np.random.default_rng(0).random((2, 5, 3, 2))
    assert without_diverged(errors) is errors


def test_the_mean_of_what_is_finite_by_hand() -> None:
    values = np.array([[1.0, np.nan, np.nan], [3.0, 5.0, np.nan]])
    np.testing.assert_array_equal(finite_mean(values), [2.0, 5.0, np.nan])
