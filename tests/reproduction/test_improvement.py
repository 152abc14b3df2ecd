"""Table 1 against numbers worked out by hand."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from reproduction.improvement import improvements, jackknife


def make_rows(values: Mapping[tuple[str, str], tuple[float, ...]]) -> pd.DataFrame:
    """Rows of one size, a return per run, by teacher and method."""
    return pd.DataFrame(
        {"world": "intersection", "act": "sample", "teacher": teacher, "pairs": 100,
         "method": method, "seed": seed, "return": float(value)}
        for (teacher, method), returns in values.items()
        for seed, value in enumerate(returns)
    )  # fmt: skip


PAIR = {
    ("uniform", "bc"): (8.0, 12.0), ("uniform", "counter-bc"): (12.0, 16.0),
    ("quick-crowd", "bc"): (1.0, 3.0), ("quick-crowd", "counter-bc"): (3.0, 5.0),
}  # fmt: skip


def test_improvement_pools_teachers_and_sizes_before_it_divides() -> None:
    (improvement,) = improvements(make_rows(PAIR))
    # Means: BC (8 + 12 + 1 + 3) / 4 = 6, Counter-BC (12 + 16 + 3 + 5) / 4 = 9.
    assert (improvement.percent, improvement.paper, improvement.runs) == (50.0, 10, 2)
    # Without run 0: 10.5 against 7.5, 40 %; without run 1: 7.5 against 4.5, 66.7 %. Their
    # standard error by the jackknife is √(1/2 · 2 · 13.33²) = 13.33, on one degree of freedom.
    half = stats.t.ppf(0.975, 1) * 13.333333
    assert (improvement.low, improvement.high) == pytest.approx((50 - half, 50 + half))
    # The difference is 3 in both runs.
    assert (improvement.difference.mean, improvement.difference.low) == (3.0, 3.0)


def test_teachers_that_the_paper_does_not_have_are_not_pooled() -> None:
    rest = {("typical", "bc"): (100.0, 50.0), ("typical", "counter-bc"): (0.0, 1.0)}
    assert improvements(make_rows(PAIR | rest)) == improvements(make_rows(PAIR))
    assert improvements(make_rows(rest)) == []


def test_recorded_people_are_the_paper_s() -> None:
    people = {("people", "bc"): (8.0, 12.0), ("people", "counter-bc"): (12.0, 16.0)}
    assert [i.percent for i in improvements(make_rows(people))] == [40.0]


def test_a_run_that_diverged_leaves_the_means_paired() -> None:
    gap = PAIR | {("uniform", "bc"): (8.0, np.nan)}
    (improvement,) = improvements(make_rows(gap))
    # Run 0: 7.5 against 4.5; of run 1 only the crowd is left, 5 against 3. Means 6.25 and 3.75.
    assert (improvement.ours, improvement.other) == (6.25, 3.75)


@pytest.mark.parametrize("runs", [5, 50])
def test_intervals_cover_the_truth_as_often_as_they_say(runs: int) -> None:
    rng, trials = np.random.default_rng(1), 2000
    common = rng.normal(0, 10, (trials, runs))  # what the methods of a run share
    b, c = (common + rng.normal(mean, sd, common.shape) for mean, sd in ((100, 10), (120, 15)))
    pairs = np.stack([c, b], axis=-1)  # (trials, runs, 2)
    is_covered = [low < 20 < high for low, high in map(jackknife, pairs)]
    # Three standard errors of 0.5 %.
    assert np.mean(is_covered) == pytest.approx(0.95, abs=0.015)


def test_a_percentile_bootstrap_of_five_runs_covers_the_truth_too_rarely() -> None:
    rng, trials, resamples = np.random.default_rng(2), 1000, 500
    common = rng.normal(0, 10, (trials, 5))
    b, c = (common + rng.normal(mean, sd, common.shape) for mean, sd in ((100, 10), (120, 15)))
    chosen = rng.integers(0, 5, (trials, resamples, 5))
    means = [np.take_along_axis(x[:, None], chosen, axis=2).mean(axis=2) for x in (b, c)]
    percent = 100 * (means[1] - means[0]) / means[0]  # (trials, resamples)
    low, high = np.percentile(percent, (2.5, 97.5), axis=1)
    # About 83 %, of the 95 that it should be.
    assert np.mean((low < 20) & (high > 20)) == pytest.approx(0.83, abs=0.04)
