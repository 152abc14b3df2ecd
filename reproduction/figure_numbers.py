"""The numbers of each figure as types; `figure_json` writes and reads them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from counterbc.acting.intervals import Interval


def p_text(p: float) -> str:
    """Return "p < .001", "p = .012" or "p = 1.0"; "no p" for NaN."""
    if not math.isfinite(p):
        return "no p"
    if p < 0.001:
        return "p < .001"
    return "p = 1.0" if p > 0.9995 else f"p = {p:.3f}".replace("0.", ".")


class PairedTest(Protocol):
    """A paired difference and its adjusted p-value, whatever was compared."""

    @property
    def difference(self) -> Interval: ...

    @property
    def p(self) -> float: ...


@dataclass(frozen=True, kw_only=True)
class Anova:
    """A one-way repeated measures ANOVA with the Greenhouse–Geisser correction."""

    F: float
    df: tuple[float, float]
    """Degrees of freedom, both multiplied by ε."""
    p: float
    epsilon: float
    effect: float
    """Generalized η²."""
    subjects: int
    left_out: int
    """Subjects without a number because a method diverged."""
    text: str = field(init=False)
    """The sentence that a paper prints."""

    def __post_init__(self) -> None:
        text = f"F({self.df[0]:.2f}, {self.df[1]:.2f}) = {self.F:.1f}, {p_text(self.p)}"
        if not math.isfinite(self.F):
            text = "no F: the methods do not differ in any run"
        object.__setattr__(self, "text", text)


@dataclass(frozen=True, kw_only=True)
class PostHoc:
    """A paired comparison of two methods over subjects."""

    method: str
    other: str
    difference: Interval
    p: float
    """Two-sided paired t-test, Bonferroni-adjusted over all pairs of methods."""
    p_by_runs: float
    """The same test over runs, since datasets of one run overlap."""
    effect: float
    """Cohen's d, by the methods' pooled standard deviation."""


@dataclass(frozen=True, kw_only=True)
class MethodTest:
    """The ANOVA and the post hoc tests of one world and teacher, or of one measure."""

    world: str | None = None
    act: str
    teacher: str | None = None
    measure: str | None = None
    anova: Anova
    post_hoc: tuple[PostHoc, ...]
    resolvable: float
    """The smallest difference that the subjects resolve with power 0.8."""
    means: Mapping[str, float] | None = None
    """The mean of each method."""


@dataclass(frozen=True, kw_only=True)
class FigureCell:
    """The mean return of one method at one point of a figure, over runs."""

    world: str
    teacher: str
    pairs: int | None = None
    sigma: float | None = None
    radius: float | None
    method: str
    act: str
    mean: float
    sem: float
    count: int


@dataclass(frozen=True, kw_only=True)
class Lead:
    """Counter-BC's mean return above another method at one point, or the growth of that lead."""

    world: str
    act: str
    at: float
    other: str
    difference: Interval
    p: float


@dataclass(frozen=True, kw_only=True)
class Gain:
    """What one method gains from the first point of the x-axis to the last."""

    world: str
    act: str
    start: float = field(metadata={"key": "from"})
    at: float
    method: str
    difference: Interval
    p: float


@dataclass(frozen=True, kw_only=True)
class Alike:
    """The difference between two methods at the first point."""

    world: str
    act: str
    at: float
    mean: float
    """The mean return over all methods."""
    method: str
    other: str
    difference: Interval
    p: float


@dataclass(frozen=True, kw_only=True)
class AboveBC:
    """Counter-BC's difference to BC at one Δ."""

    world: str
    teacher: str
    act: str
    bc: float
    """BC's mean return."""
    radius: float
    difference: Interval
    p: float


@dataclass(frozen=True, kw_only=True)
class DemonstratedReturn:
    """The return of the demonstrations themselves, over datasets."""

    world: str
    teacher: str
    mean: float
    std: float


@dataclass(frozen=True, kw_only=True)
class Spread:
    """A mean over runs with its standard deviation."""

    mean: float
    sd: float


@dataclass(frozen=True, kw_only=True)
class RecoveryRow:
    """What BC (radius None) or Counter-BC at one Δ learned of |s| − 0.5."""

    radius: float | None
    runs: int
    variation: Spread
    to_examples: Spread
    to_meant: Spread
    variation_of_mean: Spread


@dataclass(frozen=True, kw_only=True)
class Improvement:
    """The improvement over one baseline in per cent, with its 95 % interval."""

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
    """The mean return of the baseline."""
    difference: Interval
    """Counter-BC's mean return minus the baseline's, which means something near zero too."""


@dataclass(frozen=True)
class Figure2:
    """The loss of each policy by its name."""

    loss: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Figure3:
    """What is learned of |s| − 0.5 as Δ grows, BC first."""

    by_radius: tuple[RecoveryRow, ...] = field(default=(), metadata={"key": "by radius"})
    made: tuple[str, ...] = ()
    """Devices and versions that computed the rows, in words, as in the other figures."""


@dataclass(frozen=True, kw_only=True)
class Figure4:
    """Mean returns against the number of pairs."""

    cells: tuple[FigureCell, ...] = ()
    statistics: tuple[MethodTest, ...] = ()
    leads: tuple[Lead, ...] = ()
    gains: tuple[Gain, ...] = ()
    epsilon_greedy: tuple[Lead, ...] = ()
    """Counter-BC above BCND under ε-greedy."""
    shown: tuple[DemonstratedReturn, ...] = ()
    made: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Figure5:
    """Mean returns against the noise σ."""

    cells: tuple[FigureCell, ...] = ()
    statistics: tuple[MethodTest, ...] = ()
    leads: tuple[Lead, ...] = ()
    steps: tuple[Lead, ...] = ()
    """The growth of each lead from one σ to the next; `at` is the second."""
    alike: tuple[Alike, ...] = ()
    made: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Figure6:
    """Mean returns against Δ."""

    cells: tuple[FigureCell, ...] = ()
    above_bc: tuple[AboveBC, ...] = ()
    made: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Figure7:
    """The measures of air hockey."""

    statistics: tuple[MethodTest, ...] = ()
    made: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Table1:
    """The improvements over every baseline."""

    improvements: tuple[Improvement, ...] = ()
    made: tuple[str, ...] = ()


FigureNumbers = Figure2 | Figure3 | Figure4 | Figure5 | Figure6 | Figure7 | Table1
