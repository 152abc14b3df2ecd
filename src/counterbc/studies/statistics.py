"""Does the method matter? Repeated measures over runs, and what a number of runs can resolve."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from counterbc.errors import DataError
from counterbc.intervals import Interval, paired_difference

ALPHA, POWER = 0.05, 0.8


@dataclass(frozen=True)
class Anova:
    """A one-way repeated measures ANOVA with the Greenhouse–Geisser correction."""

    F: float
    df: tuple[float, float]
    """Both multiplied by ε."""
    p: float
    epsilon: float
    effect: float
    """Generalized η²."""
    subjects: int
    left_out: int
    """Subjects of which a method diverged."""

    def __str__(self) -> str:
        """As a paper prints it."""
        if not math.isfinite(self.F):
            return "no F: the methods do not differ in any run"
        return f"F({self.df[0]:.2f}, {self.df[1]:.2f}) = {self.F:.1f}, {p_text(self.p)}"


@dataclass(frozen=True)
class PostHoc:
    """One method above another, subject by subject."""

    method: str
    other: str
    difference: Interval
    p: float
    """Of a paired t-test, two-sided, Bonferroni-adjusted over all pairs of methods."""
    effect: float
    """Cohen's d, by the methods' pooled standard deviation."""

    def __str__(self) -> str:
        return f"{self.method} − {self.other}: {self.difference}, {p_text(self.p)}"


def p_text(p: float) -> str:
    """p < .001, p = .012, p = 1.0; no p where there is none."""
    if not math.isfinite(p):
        return "no p"
    if p < 0.001:
        return "p < .001"
    return "p = 1.0" if p > 0.9995 else f"p = {p:.3f}".replace("0.", ".")


def by_subject(rows: pd.DataFrame, value: str, subject: Sequence[str]) -> pd.DataFrame:
    """Subjects × methods; a subject is a dataset that all methods learned from."""
    wide = rows.pivot(index=list(subject), columns="method", values=value)
    return wide[list(dict.fromkeys(rows["method"]))]


def anova(wide: pd.DataFrame) -> Anova:
    """Of subjects × methods."""
    whole = _whole(wide)
    left_out = len(wide) - len(whole)
    if not np.ptp(whole.to_numpy(), axis=1).any():  # pingouin leaves out the columns it has not
        nan = math.nan
        return Anova(nan, (nan, nan), nan, nan, nan, len(whole), left_out)
    with _quiet():
        import pingouin as pg

        table = pg.rm_anova(
            _long(whole), dv="value", within="method", subject="subject", correction=True,
            detailed=True,
        )  # fmt: skip
    row, error = table.iloc[0], table.iloc[1]
    epsilon = float(row["eps"])
    # Two methods have no sphericity to correct for, and no such column.
    p = float(row.get("p_GG_corr", row["p_unc"]))
    df = (epsilon * float(row["DF"]), epsilon * float(error["DF"]))
    return Anova(float(row["F"]), df, p, epsilon, float(row["ng2"]), len(whole), left_out)


def post_hoc(wide: pd.DataFrame) -> list[PostHoc]:
    """Every pair of methods, the later one first."""
    whole = _whole(wide)
    with _quiet():
        import pingouin as pg

        found = []
        for other, method in combinations(whole.columns, 2):
            a, b = whole[method].to_numpy(), whole[other].to_numpy()
            difference = paired_difference(a, b)
            effect = float(pg.compute_effsize(a, b, paired=True, eftype="cohen"))
            found.append((method, other, difference, effect))
        p = pg.multicomp([d.p for _, _, d, _ in found], method="bonf")[1]
    return [
        PostHoc(method, other, difference.interval, float(adjusted), effect)
        for (method, other, difference, effect), adjusted in zip(found, p, strict=True)
    ]


def resolvable(runs: int, sd: float = 1.0) -> float:
    """The smallest mean difference that so many paired runs find (two-sided t-test, α .05) with
    power 0.8, where differences between the two methods have this standard deviation."""
    with _quiet():
        import pingouin as pg

        d = pg.power_ttest(n=runs, power=POWER, alpha=ALPHA, contrast="paired")
    return float(d) * sd


def spread(wide: pd.DataFrame, method: str = "counter-bc") -> float:
    """The largest standard deviation of the differences between `method` and any other."""
    whole = _whole(wide)
    others = [whole[method] - whole[m] for m in whole.columns if m != method]
    return float(max(d.std(ddof=1) for d in others))


def _whole(wide: pd.DataFrame) -> pd.DataFrame:
    """The subjects of which every method has a finite number."""
    whole = wide[np.isfinite(wide.to_numpy()).all(axis=1)]
    if len(whole) < 2 or wide.shape[1] < 2:
        raise DataError(
            f"{len(whole)} runs of {wide.shape[1]} methods are whole; statistics need 2 or more of "
            "both, so raise --seeds"
        )
    return whole


def _long(wide: pd.DataFrame) -> pd.DataFrame:
    numbered = wide.reset_index(drop=True).rename_axis(index="subject", columns="method")
    return numbered.stack().rename("value").reset_index()


@contextmanager
def _quiet() -> Iterator[None]:
    """pingouin's use of pandas, and zero variances, which the results show as NaN."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        yield


def as_json(wide: pd.DataFrame) -> dict[str, Any]:
    """ANOVA, post hoc tests and what the subjects resolve, for machines."""
    result, spread_ = anova(wide), spread(wide)
    return {
        "anova": {**vars(result), "text": str(result)},
        "post_hoc": [{**vars(t), "difference": vars(t.difference)} for t in post_hoc(wide)],
        "resolvable": resolvable(result.subjects, spread_),
    }
