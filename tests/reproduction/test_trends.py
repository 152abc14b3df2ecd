"""Tests along an axis, with the run as the cell, against numbers worked out by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from reproduction.figures import rewards
from reproduction.trends import alike, gains, in_each_world, leads, steps

ABOUT = {"world": "cartpole", "act": "sample"}
# Counter-BC above BC in runs 0, 1 and 2, by teacher and size.
ABOVE = {("uniform", 100): (1, 2, 3), ("quick-crowd", 100): (3, 2, 7),
         ("uniform", 400): (2, 4, 9), ("quick-crowd", 400): (4, 4, 5)}  # fmt: skip


def rows(column: str = "pairs", above: dict[Any, Any] = ABOVE) -> pd.DataFrame:
    """BC is 10 in run 0, 11 in run 1, 12 in run 2."""
    return pd.DataFrame(
        ABOUT | {"teacher": teacher, column: at, "seed": s, "method": m, "return": 10.0 + s + d}
        for (teacher, at), values in above.items()
        for s, lead in enumerate(values)
        for m, d in (("bc", 0), ("counter-bc", lead))
    )


def p_of(*differences: float) -> float:
    return float(stats.ttest_1samp(differences, 0.0).pvalue)


def test_a_lead_is_tested_over_runs_with_teachers_counted_alike() -> None:
    small, large = in_each_world(rows(), "pairs", leads)
    # At 100 pairs (1 + 3) / 2 = 2, 2 and 5; at 400 (2 + 4) / 2 = 3, 4 and 7.
    assert (small.at, small.other, small.difference.n) == (100, "bc", 3)
    assert small.difference.mean == pytest.approx(3.0)
    assert small.p == pytest.approx(2 * p_of(2, 2, 5))  # Bonferroni: two sizes, one baseline
    assert large.p == pytest.approx(2 * p_of(3, 4, 7))


def test_a_gain_is_from_the_least_to_the_most_pairs_of_the_same_runs() -> None:
    bc, cbc = in_each_world(rows(), "pairs", gains)
    assert (bc.method, bc.difference.mean, np.isnan(bc.p)) == ("bc", 0.0, True)
    assert (cbc.start, cbc.at) == (100, 400)
    assert cbc.p == pytest.approx(2 * p_of(1, 2, 2))  # 3 − 2, 4 − 2, 7 − 5; two methods


def test_a_step_is_the_change_of_a_lead_and_not_of_a_return() -> None:
    by_noise = {(t, k / 400): v for (t, k), v in ABOVE.items() if t == "uniform"}
    table = rows("sigma", by_noise)
    (step,) = in_each_world(table, "sigma", steps)
    assert (step.at, step.other) == (1.0, "bc")
    assert step.p == pytest.approx(p_of(1, 2, 6))  # 2 − 1, 4 − 2, 9 − 3
    (above,) = in_each_world(table, "sigma", alike)
    assert (above.method, above.other, above.mean) == ("counter-bc", "bc", 12.0)
    assert (above.at, above.difference.mean) == (0.25, 2.0)


def test_an_adjusted_interval_excludes_zero_where_its_adjusted_p_is_small() -> None:
    small, large = in_each_world(rows(), "pairs", leads)
    for lead in (small, large):
        assert (lead.difference.low > 0) == (lead.p < 0.05)
    # Bonferroni over two sizes: 97.5 %, two degrees of freedom, of 2, 2 and 5.
    half = stats.t.ppf(1 - 0.025 / 2, 2) * np.std([2, 2, 5], ddof=1) / np.sqrt(3)
    assert small.difference.high == pytest.approx(3 + half)


def test_every_two_methods_are_compared_where_all_should_be_equal() -> None:
    table = rows("sigma", {("uniform", 0.0): (1, 2, 3)})
    third = table[table["method"] == "bc"].assign(method="bcnd")
    pairs = in_each_world(pd.concat([table, third]), "sigma", alike)
    assert {(t.method, t.other) for t in pairs} == {
        ("counter-bc", "bc"), ("bcnd", "bc"), ("bcnd", "counter-bc"),
    }  # fmt: skip


def test_only_the_paper_s_teachers_are_pooled() -> None:
    rest = {("typical", 100): (90, 91, 99), ("typical", 400): (0, 0, 9)}
    all_rows = rows(above=ABOVE | rest)
    assert in_each_world(all_rows, "pairs", leads) == in_each_world(rows(), "pairs", leads)
    by_teacher = {t.teacher: t for t in rewards.tests(all_rows, "pairs")}
    assert list(by_teacher) == ["uniform", "quick-crowd", "typical", "all"]
    assert by_teacher["all"].anova.subjects == 2 * 2 * 3
    assert [t.teacher for t in rewards.tests(rows(above=rest), "pairs")] == ["typical"]


def test_epsilon_greedy_is_tested_against_bcnd_alone() -> None:
    greedy = {("epsilon-greedy", 100): (1, 2, 3), ("epsilon-greedy", 400): (2, 4, 9)}
    table = rows(above=ABOVE | greedy)
    bcnd = table.replace({"method": {"bc": "bcnd"}})
    assert rewards.above_bcnd(table) == ()
    small, _ = rewards.above_bcnd(pd.concat([bcnd, table[table["method"] == "bc"]]))
    assert small.other == "bcnd"
    assert small.p == pytest.approx(2 * p_of(1, 2, 3))


def test_a_teacher_s_run_with_a_gap_is_left_out_of_every_point() -> None:
    table = rows()
    gap = (table["teacher"] == "quick-crowd") & (table["seed"] == 2) & (table["pairs"] == 400)
    table.loc[gap & (table["method"] == "bc"), "return"] = np.nan
    small, large = in_each_world(table, "pairs", leads)
    # Run 2 has uniform alone: 3 and 9.
    assert small.p == pytest.approx(2 * p_of(2, 2, 3))
    assert large.difference.mean == pytest.approx((3 + 4 + 9) / 3)


def test_what_one_run_alone_finished_is_not_tested() -> None:
    table = rows()
    assert in_each_world(table[table["seed"] == 0], "pairs", leads) == ()


def test_above_bc_tells_bc_s_mean_and_no_p_where_nothing_differs() -> None:
    table = pd.DataFrame(
        ABOUT
        | {"teacher": "quick-crowd", "method": m, "radius": r, "seed": s, "return": 10.0 + s + d}
        for m, r, d in (("bc", np.nan, 0), ("counter-bc", 0.0, 0))
        for s in range(3)
    )  # fmt: skip
    (result,) = rewards.above_bc(table)
    assert (result.bc, result.difference.high) == (11.0, 0.0)
    assert np.isnan(result.p)
