"""Numbers made up for the tests of claims, verdicts and tables."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from counterbc.acting.intervals import Interval
from reproduction.figure_json import to_json
from reproduction.figure_numbers import (
    Anova,
    FigureCell,
    FigureNumbers,
    Improvement,
    MethodTest,
    PostHoc,
)

BASELINES = ("bc", "weighted-bc", "bc-rnn", "bcnd")
T = TypeVar("T")


def write_numbers(
    folder: Path, figure: str, numbers: FigureNumbers, study: str | None = None
) -> None:
    """Write the numbers of a figure as `reproduction draw` does."""
    path = folder / (study or figure) / "numbers.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps({figure: to_json(numbers)}))


def interval(mean: float, half: float = 1.0) -> Interval:
    return Interval(mean, half / 2, mean - half, mean + half, 50)


def paired(kind: Callable[..., T], difference: float, p: float, **about: Any) -> T:
    """Return a paired test in the cartpole, acting by samples, with an interval of ± 1."""
    return kind(**{"world": "cartpole", "act": "sample", **about},
                difference=interval(difference), p=p)  # fmt: skip


def post_hoc(other: str, difference: float, p: float, p_by_runs: float) -> PostHoc:
    """Return a test of Counter-BC against another method."""
    return PostHoc(
        method="counter-bc", other=other, difference=interval(difference), p=p,
        p_by_runs=p_by_runs, effect=math.nan,
    )  # fmt: skip


def compared(
    differences: dict[str, tuple[float, float]], by_runs: float | None = None, **about: Any
) -> MethodTest:
    """Return statistics in which Counter-BC is above others by (difference, p), by runs too."""
    tests = [post_hoc(m, d, p, by_runs or p) for m, (d, p) in differences.items()]
    anova = Anova(
        F=5.0, df=(2.0, 98.0), p=0.009, epsilon=1.0, effect=0.1, subjects=50, left_out=0
    )  # fmt: skip
    return MethodTest(anova=anova, post_hoc=tuple(tests), resolvable=0.1, **about)


def cells(means: dict[str, float], **about: Any) -> tuple[FigureCell, ...]:
    """Return a point of a figure for each method."""
    known = {"radius": None, "sem": 0.1, "count": 50} | about
    return tuple(FigureCell(method=m, mean=v, **known) for m, v in means.items())


def improvement(baseline: str, paper: float | None, low: float, high: float) -> Improvement:
    """Return an improvement in the cartpole, acting by samples, over a mean return of 160."""
    return Improvement(
        world="cartpole", act="sample", baseline=baseline, percent=(low + high) / 2, low=low,
        high=high, runs=50, paper=paper, ours=168.0, other=160.0,
        difference=interval(8.0, 2.0),
    )  # fmt: skip
