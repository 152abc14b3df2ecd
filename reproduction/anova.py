"""Repeated-measures ANOVA over runs, post hoc tests, and the power of a number of runs."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import combinations
from math import comb

import numpy as np
import pandas as pd

from counterbc.acting.intervals import paired_difference
from counterbc.errors import DataError
from reproduction.figure_numbers import Anova, MethodTest, PostHoc

ALPHA, POWER = 0.05, 0.8


def by_subject(rows: pd.DataFrame, value: str, subject: Sequence[str]) -> pd.DataFrame:
    """Return subjects × methods; a subject is a dataset that all methods learned from."""
    wide = rows.pivot(index=list(subject), columns="method", values=value)
    return wide[list(dict.fromkeys(rows["method"]))]


def per_run(wide: pd.DataFrame) -> pd.DataFrame:
    """Return runs × methods: means over the subjects of a run.

    Subjects with a gap are left out first, so that the means of two methods stay paired.
    """
    return _whole(wide).groupby(level="seed").mean()


def bonferroni(p: Sequence[float]) -> list[float]:
    """Return each p times their number, at most 1.

    NaN stays NaN and counts as a comparison, unlike in pingouin.
    """
    return [float(value) for value in np.minimum(1.0, np.multiply(p, len(p)))]


def anova(wide: pd.DataFrame) -> Anova:
    """Return the ANOVA of subjects × methods."""
    whole = _whole(wide)
    left_out = len(wide) - len(whole)
    if not np.ptp(whole.to_numpy(), axis=1).any():  # pingouin would drop columns
        nan = math.nan
        return Anova(
            F=nan,
            df=(nan, nan),
            p=nan,
            epsilon=nan,
            effect=nan,
            subjects=len(whole),
            left_out=left_out,
        )
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
    return Anova(
        F=float(row["F"]),
        df=df,
        p=p,
        epsilon=epsilon,
        effect=float(row["ng2"]),
        subjects=len(whole),
        left_out=left_out,
    )


def post_hoc(wide: pd.DataFrame, *, has_effects: bool = True) -> list[PostHoc]:
    """Return the comparison of every pair of methods, the later one first.

    Effect sizes need pingouin; without them they are NaN.
    """
    whole, runs = _whole(wide), per_run(wide)
    pairs = [(method, other) for other, method in combinations(whole.columns, 2)]
    differences = [paired_difference(whole[method], whole[other]) for method, other in pairs]
    p = bonferroni([d.p for d in differences])
    by_runs = bonferroni([paired_difference(runs[m], runs[o]).p for m, o in pairs])
    return [
        PostHoc(
            method=method,
            other=other,
            difference=d.interval,
            p=p[i],
            p_by_runs=by_runs[i],
            effect=_effect(whole[method], whole[other]) if has_effects else math.nan,
        )
        for i, ((method, other), d) in enumerate(zip(pairs, differences, strict=True))
    ]


def _effect(a: pd.Series, b: pd.Series) -> float:
    with _quiet():
        import pingouin as pg

        return float(pg.compute_effsize(a.to_numpy(), b.to_numpy(), paired=True, eftype="cohen"))


def resolvable(runs: int, sd: float = 1.0, methods: int = 5) -> float:
    """Return the smallest mean difference that this number of paired runs finds with power 0.8.

    Differences between two methods have standard deviation `sd`; the test is a two-sided t-test,
    p < .05 after Bonferroni's adjustment over all pairs of methods.
    """
    with _quiet():
        import pingouin as pg

        alpha = ALPHA / comb(methods, 2)
        d = pg.power_ttest(n=runs, power=POWER, alpha=alpha, contrast="paired")
    return float(d) * sd


def spread(wide: pd.DataFrame, method: str = "counter-bc") -> float:
    """Return the largest sd of the differences between `method` and any other."""
    whole = _whole(wide)
    differences = [whole[method] - whole[m] for m in whole.columns if m != method]
    return float(max(d.std(ddof=1) for d in differences))


def _whole(wide: pd.DataFrame) -> pd.DataFrame:
    """Return the subjects for which every method has a finite number."""
    whole = wide[np.isfinite(wide.to_numpy()).all(axis=1)]
    if len(whole) < 2 or wide.shape[1] < 2:
        raise DataError(
            f"{len(whole)} runs of {wide.shape[1]} methods are complete; statistics need 2 or more "
            "of both, so raise --seeds"
        )
    return whole


def _long(wide: pd.DataFrame) -> pd.DataFrame:
    table = wide.reset_index(drop=True).rename_axis(index="subject", columns="method")
    return table.stack().rename("value").reset_index()


@contextmanager
def _quiet() -> Iterator[None]:
    """Silence warnings of pingouin about pandas and about zero variances, which give NaN."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        yield


def method_test(
    wide: pd.DataFrame,
    *,
    act: str,
    world: str | None = None,
    teacher: str | None = None,
    measure: str | None = None,
) -> MethodTest:
    """Return the ANOVA, the post hoc tests and the resolvable difference of subjects × methods."""
    result = anova(wide)
    return MethodTest(
        world=world,
        act=act,
        teacher=teacher,
        measure=measure,
        anova=result,
        post_hoc=tuple(post_hoc(wide)),
        resolvable=resolvable(result.subjects, spread(wide), wide.shape[1]),
    )
