"""Tests along the x-axis of figures 4 and 5, over runs.

A run's number is its mean over the paper's teachers, since datasets of one run overlap and are not
independent. Tests are paired and adjusted over all comparisons of a claim.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from itertools import combinations, pairwise
from typing import Any, Protocol, TypeVar

import numpy as np
import pandas as pd

from counterbc.acting.intervals import Interval, paired_difference
from reproduction.anova import ALPHA, bonferroni
from reproduction.figure_numbers import Alike, Gain, Lead
from reproduction.improvement import of_paper

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
COUNTER_BC = "counter-bc"


class Make(Protocol[T_co]):
    """A constructor of a test that lacks only its difference and its p-value."""

    def __call__(self, *, difference: Interval, p: float) -> T_co: ...


def by_run(rows: pd.DataFrame, column: str) -> pd.DataFrame:
    """Return runs × (point, method), every teacher with the same weight.

    A teacher's run with a gap anywhere is left out, so that points and methods stay paired.
    """
    wide = rows.pivot(index=["teacher", "seed"], columns=[column, "method"], values="return")
    wide = wide[list(dict.fromkeys(zip(rows[column], rows["method"], strict=True)))]
    return wide[np.isfinite(wide.to_numpy()).all(axis=1)].groupby(level="seed").mean()


def leads(runs: pd.DataFrame, world: str, act: str) -> list[Lead]:
    """Return the lead of Counter-BC over each other method at every point."""
    points, baselines = _axes(runs)
    return adjusted_tests(
        (partial(Lead, world=world, act=act, at=x, other=m), runs[x, COUNTER_BC], runs[x, m])
        for x in points
        for m in baselines
    )


def steps(runs: pd.DataFrame, world: str, act: str) -> list[Lead]:
    """Return the growth of each lead from a point to the next; `at` is the second point."""
    points, baselines = _axes(runs)
    return adjusted_tests(
        (
            partial(Lead, world=world, act=act, at=b, other=m),
            runs[b, COUNTER_BC] - runs[b, m],
            runs[a, COUNTER_BC] - runs[a, m],
        )
        for a, b in pairwise(points)
        for m in baselines
    )


def gains(runs: pd.DataFrame, world: str, act: str) -> list[Gain]:
    """Return the gain of each method from the first point to the last."""
    points, baselines = _axes(runs)
    a, b = points[0], points[-1]
    return adjusted_tests(
        (partial(Gain, world=world, act=act, start=a, at=b, method=m), runs[b, m], runs[a, m])
        for m in (*baselines, COUNTER_BC)
    )


def alike(runs: pd.DataFrame, world: str, act: str) -> list[Alike]:
    """Return the difference between every two methods at the first point.

    Comparing with the best would choose it on the rows that it is tested on.
    """
    at = _axes(runs)[0][0]
    first = runs[at]
    make = partial(Alike, world=world, act=act, at=at, mean=float(first.mean().mean()))
    return adjusted_tests(
        (partial(make, method=a, other=b), first[a], first[b])
        for b, a in combinations(first.columns, 2)
    )


def adjusted_tests(comparisons: Iterable[tuple[Make[T], pd.Series, pd.Series]]) -> list[T]:
    """Return paired t-tests of a − b; p and 95 % intervals are adjusted over all of them.

    The adjustment is Bonferroni's, so an interval excludes 0 exactly where its p is below .05.
    """
    pairs = [(make, a.to_numpy(), b.to_numpy()) for make, a, b in comparisons]
    level = 1 - ALPHA / max(1, len(pairs))
    differences = [paired_difference(a, b, level=level) for _, a, b in pairs]
    p = bonferroni([difference.p for difference in differences])
    return [
        make(difference=difference.interval, p=adjusted_p)
        for (make, *_), difference, adjusted_p in zip(pairs, differences, p, strict=True)
    ]


def in_each_world(
    rows: pd.DataFrame, column: str, compare: Callable[[pd.DataFrame, str, str], list[T]]
) -> tuple[T, ...]:
    """Return the comparisons of every world and way of acting with two complete runs or more.

    Only rows of the paper's teachers count.
    """
    results = []
    for (world, act), part in of_paper(rows).groupby(["world", "act"], sort=False):
        runs = by_run(part, column)
        if len(runs) > 1:
            results += compare(runs, world, act)
    return tuple(results)


def _axes(runs: pd.DataFrame) -> tuple[list[Any], list[str]]:
    """Return the points in their order, and the methods beside Counter-BC."""
    points, methods = (list(dict.fromkeys(level)) for level in zip(*runs.columns, strict=True))
    return sorted(points), [m for m in methods if m != COUNTER_BC]
