"""Means with standard errors over clusters of dependent values."""

from __future__ import annotations

import numpy as np
import pytest

from counterbc.selection.clusters import (
    Estimate,
    cluster_mean,
    cluster_ratio,
    cluster_sums,
    episode_clusters,
    trimmed_ratio,
)
from tests.fixture_types import Make


def test_clusters_of_one_value_give_the_usual_standard_error() -> None:
    values = np.array([1.0, 2.0, 4.0, 9.0])
    estimate = cluster_mean(values, np.arange(4))
    assert estimate.value == pytest.approx(4.0)
    assert estimate.se == pytest.approx(values.std(ddof=1) / np.sqrt(4))


def test_repeated_values_of_a_cluster_add_no_certainty() -> None:
    values, cluster = np.array([1.0, 2.0, 4.0, 9.0]), np.arange(4)
    ten_times = cluster_mean(np.repeat(values, 10), np.repeat(cluster, 10))
    assert ten_times.se == pytest.approx(cluster_mean(values, cluster).se)


def test_a_ratio_of_sums_by_hand() -> None:
    # 6 / 4 = 1.5; what the clusters are off it: 2 - 1.5 = 0.5 and 4 - 4.5 = -0.5.
    estimate = cluster_ratio(np.array([2.0, 4.0]), np.array([1.0, 3.0]))
    assert estimate.value == pytest.approx(1.5)
    assert estimate.se == pytest.approx(np.sqrt(2 * 0.5) / 4)


def test_a_trimmed_ratio_leaves_out_both_ends_by_hand() -> None:
    # Of differences to 2 · denominator, −9, −1, 0, 1 and 99, the ends are left out: the rest is 0.
    denominator = np.full(5, 3.0)
    numerator = 2 * denominator + np.array([99.0, 0.0, -1.0, 1.0, -9.0])
    estimate = trimmed_ratio(numerator, denominator, 0.2)
    assert estimate.value == pytest.approx(2.0)
    # Winsorized differences are −1, −1, 0, 1 and 1, with a standard deviation of 1.
    assert estimate.se == pytest.approx(np.sqrt(5) / 9)


def test_too_few_clusters_are_not_trimmed() -> None:
    numerator, denominator = np.array([2.0, 4.0, 5.0]), np.array([1.0, 3.0, 0.0])
    for trim in (0.1, 0.4):  # 0 of 3 clusters; 1 at either end, which leaves no denominator
        whole = cluster_ratio(numerator, denominator)
        assert trimmed_ratio(numerator, denominator, trim) == whole


def test_one_cluster_has_no_standard_error_to_speak_of() -> None:
    assert cluster_mean(np.array([1.0, 3.0]), np.zeros(2, int)) == Estimate(2.0, 0.0)


def test_sums_are_by_cluster() -> None:
    assert cluster_sums(np.array([1.0, 2.0, 4.0]), np.array([1, 0, 1])).tolist() == [2, 5]


def test_clusters_are_episodes_or_stretches_of_few_long_ones(make_demos: Make) -> None:
    assert episode_clusters(make_demos(episodes=5, length=3), 2).tolist() == [
        0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4,
    ]  # fmt: skip
    few = episode_clusters(make_demos(episodes=2, length=5), 2)
    assert few.tolist() == [0, 0, 1, 1, 2, 3, 3, 4, 4, 5]
