"""Table 1: how much better Counter-BC is than each baseline, relative to the baseline."""

from __future__ import annotations

import numpy as np
import pandas as pd

from reproduction.anova import by_subject, per_run
from reproduction.figure_numbers import Improvement
from reproduction.paper import PAPER_IMPROVEMENTS, PAPER_TEACHERS

RESAMPLES = 2000
FEW_RUNS = 20
"""A bootstrap of fewer runs gives intervals that are too narrow."""


def of_paper(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of the paper's teachers; only these are pooled."""
    return rows[rows["teacher"].isin(PAPER_TEACHERS)]


def improvements(rows: pd.DataFrame) -> list[Improvement]:
    """Return 100 · (C − B) / |B| for each baseline, world and way of acting.

    C and B are mean returns over the paper's teachers, sizes and runs, all with equal weight. The
    interval is over runs, each with all its teachers and sizes, since datasets of a run overlap.
    """
    results = []
    for (world, act), part in of_paper(rows).groupby(["world", "act"], sort=False):
        by_run = per_run(
            by_subject(part, "return", ("teacher", "pairs", "seed"))
        )  # (runs, methods)
        is_small = len(by_run) < FEW_RUNS
        interval_name, interval = (
            ("jackknife-t", jackknife) if is_small else ("bootstrap", bootstrap)
        )
        for baseline in (m for m in by_run.columns if m != "counter-bc"):
            pair = by_run[["counter-bc", baseline]].to_numpy()
            ours, other = (float(mean) for mean in pair.mean(axis=0))
            low, high = interval(pair)
            results.append(
                Improvement(
                    world=world,
                    baseline=baseline,
                    act=act,
                    percent=_percent(ours, other),
                    low=low,
                    high=high,
                    runs=len(pair),
                    paper=PAPER_IMPROVEMENTS.get(world, {}).get(baseline),
                    ours=ours,
                    other=other,
                    interval=interval_name,
                )
            )
    return results


def _percent(ours: float, baseline: float) -> float:
    return float(100 * (ours - baseline) / abs(baseline))


def bootstrap(pair: np.ndarray) -> tuple[float, float]:
    """Return the interval of a bootstrap of runs."""
    rng = np.random.default_rng(0)
    resamples = rng.integers(len(pair), size=(RESAMPLES, len(pair)))
    means = pair[resamples].mean(axis=1)  # (RESAMPLES, 2)
    low, high = np.percentile([_percent(a, b) for a, b in means], [2.5, 97.5])
    return float(low), float(high)


def jackknife(pair: np.ndarray) -> tuple[float, float]:
    """Return θ ± t · se, with se² = (n − 1) / n · Σ (θ_i − mean of θ_i)² and θ_i without run i."""
    from scipy import stats

    n = len(pair)
    if n < 2:
        return np.nan, np.nan
    without = (pair.sum(axis=0) - pair) / (n - 1)  # (n, 2)
    se = np.sqrt((n - 1) * np.var([_percent(a, b) for a, b in without]))
    half = float(stats.t.ppf(0.975, n - 1) * se)
    middle = _percent(*pair.mean(axis=0))
    return middle - half, middle + half
