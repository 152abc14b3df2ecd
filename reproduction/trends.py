"""What changes along the x-axis of figures 4 and 5, with the run as the cell.

A run's number is its mean over the paper's teachers: datasets of one run overlap, so they do not
count as independent. Tests are paired, and adjusted over all that one claim takes together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd

from counterbc.acting.intervals import paired_difference
from reproduction.anova import bonferroni
from reproduction.improvement import of_paper
from reproduction.numbers import Test

Compare = Callable[[pd.DataFrame], list[Test]]
OURS = "counter-bc"


def trends(rows: pd.DataFrame, column: str) -> dict[str, list[Test]]:
    """The tests behind the claims of sections 5.1 (ε-greedy), 5.2 and 5.3."""
    pooled = of_paper(rows)
    if column == "pairs":
        greedy = pooled[pooled["teacher"] == "epsilon-greedy"]
        return {
            "leads": _each(pooled, column, leads),
            "gains": _each(pooled, column, gains),
            "epsilon_greedy": _each(greedy[greedy["method"].isin((OURS, "bcnd"))], column, leads),
        }
    return {
        "leads": _each(pooled, column, leads),
        "steps": _each(pooled, column, steps),
        "alike": _each(pooled, column, alike),
    }


def by_run(rows: pd.DataFrame, column: str) -> pd.DataFrame:
    """Runs × (point, method), teachers counted alike.

    A teacher's run with a gap anywhere is left out whole, so that points and methods stay paired.
    """
    wide = rows.pivot(index=["teacher", "seed"], columns=[column, "method"], values="return")
    wide = wide[list(dict.fromkeys(zip(rows[column], rows["method"], strict=True)))]
    return wide[np.isfinite(wide.to_numpy()).all(axis=1)].groupby(level="seed").mean()


def leads(runs: pd.DataFrame) -> list[Test]:
    """Counter-BC above each other method, at every point."""
    points, others = _axes(runs)
    return adjusted(
        ({"at": x, "other": m}, runs[x, OURS], runs[x, m]) for x in points for m in others
    )


def steps(runs: pd.DataFrame) -> list[Test]:
    """How much each lead grows from a point to the next; `at` is the latter."""
    points, others = _axes(runs)
    return adjusted(
        ({"at": b, "other": m}, runs[b, OURS] - runs[b, m], runs[a, OURS] - runs[a, m])
        for a, b in pairwise(points)
        for m in others
    )


def gains(runs: pd.DataFrame) -> list[Test]:
    """How much each method gains from the first point to the last."""
    points, others = _axes(runs)
    a, b = points[0], points[-1]
    return adjusted(
        ({"from": a, "at": b, "method": m}, runs[b, m], runs[a, m]) for m in (*others, OURS)
    )


def alike(runs: pd.DataFrame) -> list[Test]:
    """Every other method against the best, at the first point."""
    at = _axes(runs)[0][0]
    first = runs[at]
    best = str(first.mean().idxmax())
    about = {"at": at, "best": best, "mean_of_best": float(first[best].mean())}
    return adjusted(
        (about | {"method": m}, first[m], first[best]) for m in first.columns if m != best
    )


def adjusted(compared: Iterable[tuple[Test, pd.Series, pd.Series]]) -> list[Test]:
    """Paired t-tests of a − b; p is Bonferroni's over all of these."""
    each = [(about, paired_difference(a.to_numpy(), b.to_numpy())) for about, a, b in compared]
    p = bonferroni([difference.p for _, difference in each])
    return [
        about | {"difference": vars(difference.interval), "p": one}
        for (about, difference), one in zip(each, p, strict=True)
    ]


def _each(rows: pd.DataFrame, column: str, compare: Compare) -> list[Test]:
    """Of every world and way of acting of which two runs or more are whole."""
    found = []
    for (world, act), part in rows.groupby(["world", "act"], sort=False):
        runs = by_run(part, column)
        if len(runs) > 1:
            found += [{"world": world, "act": act} | test for test in compare(runs)]
    return found


def _axes(runs: pd.DataFrame) -> tuple[list[Any], list[str]]:
    """The points in their order, and the methods beside Counter-BC."""
    points, methods = (list(dict.fromkeys(level)) for level in zip(*runs.columns, strict=True))
    return sorted(points), [m for m in methods if m != OURS]
