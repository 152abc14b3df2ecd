"""Tests along the x-axis of figures 4 and 5, over runs.

A run's number is its mean over the paper's teachers, since datasets of one run overlap and are not
independent. Tests are paired and adjusted over all comparisons of a claim.
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
COUNTER_BC = "counter-bc"


def trends(rows: pd.DataFrame, column: str) -> dict[str, list[Test]]:
    """Return the tests behind the claims of sections 5.1 (ε-greedy), 5.2 and 5.3."""
    paper_rows = of_paper(rows)
    if column == "pairs":
        greedy = paper_rows[paper_rows["teacher"] == "epsilon-greedy"]
        return {
            "leads": _compare_worlds(paper_rows, column, leads),
            "gains": _compare_worlds(paper_rows, column, gains),
            "epsilon_greedy": _compare_worlds(
                greedy[greedy["method"].isin((COUNTER_BC, "bcnd"))], column, leads
            ),
        }
    return {
        "leads": _compare_worlds(paper_rows, column, leads),
        "steps": _compare_worlds(paper_rows, column, steps),
        "alike": _compare_worlds(paper_rows, column, alike),
    }


def by_run(rows: pd.DataFrame, column: str) -> pd.DataFrame:
    """Return runs × (point, method), every teacher with the same weight.

    A teacher's run with a gap anywhere is left out, so that points and methods stay paired.
    """
    wide = rows.pivot(index=["teacher", "seed"], columns=[column, "method"], values="return")
    wide = wide[list(dict.fromkeys(zip(rows[column], rows["method"], strict=True)))]
    return wide[np.isfinite(wide.to_numpy()).all(axis=1)].groupby(level="seed").mean()


def leads(runs: pd.DataFrame) -> list[Test]:
    """Return the lead of Counter-BC over each other method at every point."""
    points, baselines = _axes(runs)
    return adjusted_tests(
        ({"at": x, "other": m}, runs[x, COUNTER_BC], runs[x, m]) for x in points for m in baselines
    )


def steps(runs: pd.DataFrame) -> list[Test]:
    """Return the growth of each lead from a point to the next; `at` is the second point."""
    points, baselines = _axes(runs)
    return adjusted_tests(
        ({"at": b, "other": m}, runs[b, COUNTER_BC] - runs[b, m], runs[a, COUNTER_BC] - runs[a, m])
        for a, b in pairwise(points)
        for m in baselines
    )


def gains(runs: pd.DataFrame) -> list[Test]:
    """Return the gain of each method from the first point to the last."""
    points, baselines = _axes(runs)
    a, b = points[0], points[-1]
    return adjusted_tests(
        ({"from": a, "at": b, "method": m}, runs[b, m], runs[a, m])
        for m in (*baselines, COUNTER_BC)
    )


def alike(runs: pd.DataFrame) -> list[Test]:
    """Return each other method's difference to the best at the first point."""
    at = _axes(runs)[0][0]
    first = runs[at]
    best = str(first.mean().idxmax())
    about = {"at": at, "best": best, "mean_of_best": float(first[best].mean())}
    return adjusted_tests(
        (about | {"method": m}, first[m], first[best]) for m in first.columns if m != best
    )


def adjusted_tests(comparisons: Iterable[tuple[Test, pd.Series, pd.Series]]) -> list[Test]:
    """Return paired t-tests of a − b with p adjusted by Bonferroni over all of them."""
    differences = [
        (about, paired_difference(a.to_numpy(), b.to_numpy())) for about, a, b in comparisons
    ]
    p = bonferroni([difference.p for _, difference in differences])
    return [
        about | {"difference": vars(difference.interval), "p": adjusted_p}
        for (about, difference), adjusted_p in zip(differences, p, strict=True)
    ]


def _compare_worlds(rows: pd.DataFrame, column: str, compare: Compare) -> list[Test]:
    """Return the comparisons of every world and way of acting with two complete runs or more."""
    results = []
    for (world, act), part in rows.groupby(["world", "act"], sort=False):
        runs = by_run(part, column)
        if len(runs) > 1:
            results += [{"world": world, "act": act} | test for test in compare(runs)]
    return results


def _axes(runs: pd.DataFrame) -> tuple[list[Any], list[str]]:
    """Return the points in their order, and the methods beside Counter-BC."""
    points, methods = (list(dict.fromkeys(level)) for level in zip(*runs.columns, strict=True))
    return sorted(points), [m for m in methods if m != COUNTER_BC]
