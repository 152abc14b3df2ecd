"""Table 1: how much better Counter-BC is than each baseline, relative to the baseline."""

from __future__ import annotations

import numpy as np
import pandas as pd

from counterbc.acting.intervals import paired_difference
from reproduction.anova import by_subject, per_run
from reproduction.figure_numbers import Improvement
from reproduction.paper import PAPER_IMPROVEMENTS, PAPER_TEACHERS


def of_paper(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of the paper's teachers; only these are pooled."""
    return rows[rows["teacher"].isin(PAPER_TEACHERS)]


def improvements(rows: pd.DataFrame) -> list[Improvement]:
    """Return 100 · (C − B) / |B| for each baseline, world and way of acting.

    C and B are mean returns over the paper's teachers, sizes and runs, all with equal weight. The
    intervals are over runs, each with all its teachers and sizes, since datasets of a run overlap.
    """
    results = []
    for (world, act), part in of_paper(rows).groupby(["world", "act"], sort=False):
        by_run = per_run(
            by_subject(part, "return", ("teacher", "pairs", "seed"))
        )  # (runs, methods)
        for baseline in (m for m in by_run.columns if m != "counter-bc"):
            pair = by_run[["counter-bc", baseline]].to_numpy()
            ours, other = (float(mean) for mean in pair.mean(axis=0))
            low, high = jackknife(pair)
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
                    difference=paired_difference(*pair.T).interval,
                )
            )
    return results


def _percent(ours: float, baseline: float) -> float:
    return float(100 * (ours - baseline) / abs(baseline))


def jackknife(pair: np.ndarray) -> tuple[float, float]:
    """Return the jackknife-t interval of the improvement θ in per cent.

    θ ± t · se, with se² = (n − 1) / n · Σ (θ_i − mean of θ_i)² and θ_i without run i.
    With normal errors it covers the truth in 95 % of the cases, for 5 runs as for 50 (a test checks
    both). A percentile bootstrap of five runs does so in about 83 % (tested too).
    """
    from scipy import stats

    n = len(pair)
    if n < 2:
        return np.nan, np.nan
    without = (pair.sum(axis=0) - pair) / (n - 1)  # (n, 2)
    se = np.sqrt((n - 1) * np.var([_percent(a, b) for a, b in without]))
    half = float(stats.t.ppf(0.975, n - 1) * se)
    middle = _percent(*pair.mean(axis=0))
    return middle - half, middle + half
