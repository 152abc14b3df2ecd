"""Table 1: how much better Counter-BC is than each baseline, relative to the baseline."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from counterbc.studies.statistics import by_subject

PAPER: Mapping[str, Mapping[str, float]] = {
    "intersection": {"bc": 10, "weighted-bc": 144, "bc-rnn": 8, "bcnd": 9},
    "cartpole": {"bc": 39, "weighted-bc": 129, "bc-rnn": 51, "bcnd": 38},
    "car-racing": {"bc": 2370, "weighted-bc": 1179, "bc-rnn": 276, "bcnd": 563},
    "can": {"bc": 21, "weighted-bc": 13, "bc-rnn": 15, "bcnd": 11},
}
"""Per cent, from the paper's appendix; can is a task of its Robomimic column."""
MOST = {"cartpole": 200.0}
"""The largest return of a world, where there is one: no improvement can go beyond it."""
RESAMPLES = 2000


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

    def __str__(self) -> str:
        return f"{self.percent:.0f} % [{self.low:.0f}, {self.high:.0f}]"


def improvements(rows: pd.DataFrame) -> list[Improvement]:
    """100 · (C − B) / |B|, C and B the mean returns over all teachers, sizes and runs.

    Every teacher and size counts alike. The interval is a bootstrap of runs, each with all its
    teachers and sizes, since datasets of one run overlap.
    """
    found = []
    for (world, act), part in rows.groupby(["world", "act"], sort=False):
        cells = by_subject(part, "return", ("teacher", "pairs", "seed"))
        each = cells.groupby(level="seed").mean()  # (runs, methods)
        for baseline in (m for m in each.columns if m != "counter-bc"):
            pair = each[["counter-bc", baseline]].dropna().to_numpy()
            low, high = _bootstrap(pair)
            paper = PAPER.get(world, {}).get(baseline)
            means = [float(mean) for mean in pair.mean(axis=0)]
            said = (_percent(*means), low, high, len(pair), paper)
            found.append(Improvement(world, baseline, act, *said, *means))
    return found


def _percent(ours: float, baseline: float) -> float:
    return float(100 * (ours - baseline) / abs(baseline))


def _bootstrap(pair: np.ndarray) -> tuple[float, float]:
    rng = np.random.default_rng(0)
    chosen = rng.integers(len(pair), size=(RESAMPLES, len(pair)))
    means = pair[chosen].mean(axis=1)  # (RESAMPLES, 2)
    low, high = np.percentile([_percent(a, b) for a, b in means], [2.5, 97.5])
    return float(low), float(high)
