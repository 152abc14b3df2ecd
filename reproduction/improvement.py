"""Table 1: how much better Counter-BC is than each baseline, relative to the baseline."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from reproduction.anova import by_subject, per_run

PAPER: Mapping[str, Mapping[str, float]] = {
    "intersection": {"bc": 10, "weighted-bc": 144, "bc-rnn": 8, "bcnd": 9},
    "cartpole": {"bc": 39, "weighted-bc": 129, "bc-rnn": 51, "bcnd": 38},
    "car-racing": {"bc": 2370, "weighted-bc": 1179, "bc-rnn": 276, "bcnd": 563},
    "can": {"bc": 21, "weighted-bc": 13, "bc-rnn": 15, "bcnd": 11},
}
"""Per cent, from the paper's appendix; can is a task of its Robomimic column."""
MOST = {"cartpole": 200.0}
"""The largest return of a world, where there is one: no improvement can go beyond it."""
TEACHERS = ("crowd", "uniform", "gaussian", "epsilon-greedy", "people")
"""The paper's: people, recorded or with the crowd in their place, and three noises."""
RESAMPLES, FEW = 2000, 20
"""A bootstrap of fewer runs than these comes out too narrow."""


@dataclass(frozen=True)
class Improvement:
    """Per cent, with its 95 % interval."""

    world: str
    baseline: str
    act: str
    percent: float
    low: float
    high: float
    runs: int
    paper: float | None
    ours: float
    """Counter-BC's mean return."""
    other: float
    """The baseline's."""
    interval: str
    """How it was made: a bootstrap of runs, or of few runs a jackknife-t."""

    def __str__(self) -> str:
        return f"{self.percent:.0f} % [{self.low:.0f}, {self.high:.0f}]"


def of_paper(rows: pd.DataFrame) -> pd.DataFrame:
    """Only what the paper's teachers showed, which alone is pooled."""
    return rows[rows["teacher"].isin(TEACHERS)]


def improvements(rows: pd.DataFrame) -> list[Improvement]:
    """100 · (C − B) / |B|, C and B the mean returns over the paper's teachers, sizes and runs.

    Every teacher and size counts alike. The interval is over runs, each with all its teachers and
    sizes, since datasets of one run overlap.
    """
    found = []
    for (world, act), part in of_paper(rows).groupby(["world", "act"], sort=False):
        each = per_run(by_subject(part, "return", ("teacher", "pairs", "seed")))  # (runs, methods)
        few = len(each) < FEW
        how, interval = ("jackknife-t", jackknife) if few else ("bootstrap", bootstrap)
        for baseline in (m for m in each.columns if m != "counter-bc"):
            pair = each[["counter-bc", baseline]].to_numpy()
            ours, other = (float(mean) for mean in pair.mean(axis=0))
            said = (_percent(ours, other), *interval(pair), len(pair))
            paper = PAPER.get(world, {}).get(baseline)
            found.append(Improvement(world, baseline, act, *said, paper, ours, other, how))
    return found


def _percent(ours: float, baseline: float) -> float:
    return float(100 * (ours - baseline) / abs(baseline))


def bootstrap(pair: np.ndarray) -> tuple[float, float]:
    """Of runs, drawn with replacement."""
    rng = np.random.default_rng(0)
    chosen = rng.integers(len(pair), size=(RESAMPLES, len(pair)))
    means = pair[chosen].mean(axis=1)  # (RESAMPLES, 2)
    low, high = np.percentile([_percent(a, b) for a, b in means], [2.5, 97.5])
    return float(low), float(high)


def jackknife(pair: np.ndarray) -> tuple[float, float]:
    """θ ± t · se, with se² = (n − 1) / n · Σ (θ_i − mean of θ_i)² and θ_i without run i."""
    from scipy import stats

    n = len(pair)
    if n < 2:
        return np.nan, np.nan
    without = (pair.sum(axis=0) - pair) / (n - 1)  # (n, 2)
    se = np.sqrt((n - 1) * np.var([_percent(a, b) for a, b in without]))
    half = float(stats.t.ppf(0.975, n - 1) * se)
    middle = _percent(*pair.mean(axis=0))
    return middle - half, middle + half
