"""The rules of the verdicts, on numbers made up so that each verdict is reached."""

from __future__ import annotations

from dataclasses import replace
from math import nan
from typing import Any

import pytest

from reproduction.figure_numbers import (
    AboveBC,
    Figure3,
    Figure4,
    Figure6,
    Lead,
    RecoveryRow,
    Spread,
    Table1,
)
from reproduction.numbers import Numbers
from reproduction.verdicts import (
    NO,
    OPPOSITE,
    PARTLY,
    UNCLEAR,
    UNTESTED,
    YES,
    Finding,
    all_won,
    beats,
    equivalent,
    improves,
    larger_helps,
    simpler,
    too_large_hurts,
    under_convention,
    zero_is_bc,
)
from tests.reproduction.made_up import compared, improvement, paired, post_hoc


def figure6(*tests: tuple[float, float, float]) -> Numbers:
    """Counter-BC above a BC of 100 in figure 6, by Δ, difference and p."""
    above = (paired(AboveBC, d, p, radius=r, bc=100.0, teacher="crowd") for r, d, p in tests)
    return Numbers(figure6=Figure6(above_bc=tuple(above)))


@pytest.mark.parametrize(
    ("signs", "verdict"),
    [([1, 1, 1], YES), ([1, 1, 0, 0], PARTLY), ([1, 0, 0], NO), ([1, 1, -1], OPPOSITE)],
)
def test_half_won_is_partly_and_one_lost_contradicts(signs: list[int], verdict: str) -> None:
    assert all_won(signs) == verdict


@pytest.mark.parametrize(
    ("last", "verdict"),
    [
        ((0.2, 0.009, 0.009), YES),
        ((0.2, 0.02, 0.009), PARTLY),  # p < .05, not the claim's .01
        ((0.2, 0.009, 0.02), PARTLY),  # by runs not
        ((0.2, 0.009, nan), PARTLY),
        ((-0.2, 0.2, 0.2), PARTLY),  # three of four, and the fourth is not told apart
        ((-0.2, 0.04, 0.04), OPPOSITE),
        ((-0.2, 0.04, 0.3), NO),  # worse, but by runs it is not told apart
    ],
)
def test_above_each_baseline_needs_the_claim_s_own_level_by_datasets_and_by_runs(
    last: tuple[float, float, float], verdict: str
) -> None:
    gaps = {"bc": (0.5, 0.001, 0.001), "bc-rnn": (0.5, 0.001, 0.001),
             "weighted-bc": (0.5, 0.001, 0.001), "bcnd": last}  # fmt: skip
    finding = _beats(gaps, level=0.01)
    assert finding.verdict == verdict


def _beats(gaps: dict[str, tuple[float, float, float]], **options: Any) -> Finding:
    tests = tuple(post_hoc(m, *numbers) for m, numbers in gaps.items())
    test = replace(compared({}, world="cartpole", act="sample"), post_hoc=tests)
    numbers = Numbers(figure4=Figure4(statistics=(test,)))
    return beats(numbers, "sample", "figure4", {"world": "cartpole"}, **options)


def test_above_less_than_half_of_the_baselines_is_not_reproduced() -> None:
    gaps = {"bc": (0.5, 0.001, 0.001), "bcnd": (0.5, 0.2, 0.2), "bc-rnn": (0.5, 0.2, 0.2)}
    assert _beats(gaps).verdict == NO


def test_p_by_runs_is_told_where_it_is_on_the_other_side_of_the_level() -> None:
    gaps = {"bc": (0.5, 0.001, 0.02), "bcnd": (-0.5, 0.3, 0.02), "bc-rnn": (0.5, 0.3, 0.2)}
    assert _beats(gaps, level=0.01).ours == (
        "above BC +0.50 (p = .001; by runs p = .020), "
        "BCND −0.50 (p = .300; by runs p = .020), BC-RNN +0.50 (p = .300)"
    )
    assert _beats(gaps, level=0.05).ours.startswith("above BC +0.50 (p = .001), BCND")


def test_where_the_paper_states_its_subjects_they_decide_alone() -> None:
    gaps = {"bc": (-0.5, 0.001, 0.02), "bcnd": (-0.5, 0.0009, nan)}
    options: dict[str, Any] = {"better": -1, "level": 0.01, "by_runs": False}
    assert _beats(gaps, **options).verdict == YES
    assert _beats(gaps, others=("bcnd",), **options).verdict == YES
    assert _beats(gaps, better=-1, level=0.01).verdict == PARTLY
    assert _beats(gaps, better=1, level=0.01, by_runs=False).verdict == OPPOSITE


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [(-5.0, 5.0, YES), (1.0, 4.0, YES), (4.0, 5.1, UNCLEAR), (-9.0, 9.0, UNCLEAR),
     (5.1, 6.0, OPPOSITE), (-9.0, -5.1, OPPOSITE), (nan, nan, UNCLEAR)],
)  # fmt: skip
@pytest.mark.parametrize("mean", [100.0, -100.0])
def test_the_same_is_an_interval_within_5_percent_of_the_mean(
    low: float, high: float, verdict: str, mean: float
) -> None:
    test = paired(Lead, 0.0, nan, at=0, other="bc")
    difference = replace(test.difference, low=low, high=high)
    assert equivalent(replace(test, difference=difference), mean) == verdict


@pytest.mark.parametrize(
    ("at_0", "verdict"), [(0.0, YES), (3.9, YES), (4.1, UNCLEAR), (-6.1, OPPOSITE)]
)
def test_counter_bc_at_0_is_bc_by_equivalence_whatever_p(at_0: float, verdict: str) -> None:
    finding = zero_is_bc(figure6((0.0, at_0, 0.001)), "sample", "cartpole", "crowd")
    assert finding.verdict == verdict
    assert finding.ours.endswith("above BC; ± 5.00 is the same")


@pytest.mark.parametrize(
    ("radius", "difference", "p", "verdict"),
    [
        (1.0, -3.0, 0.01, YES),
        (0.8, -3.0, 0.01, YES),  # seen already
        (0.8, 3.0, 0.01, UNCLEAR),  # a larger one was not run
        (1.0, -3.0, 0.2, NO),
        (1.0, 3.0, 0.01, OPPOSITE),
    ],
)
def test_too_large_a_radius_cannot_be_judged_where_none_is_large(
    radius: float, difference: float, p: float, verdict: str
) -> None:
    figures = figure6((radius, difference, p), (0.4, 9.0, 0.01))
    assert too_large_hurts(figures, "sample", "cartpole", "crowd").verdict == verdict


@pytest.mark.parametrize(
    ("best", "p", "verdict"), [(2.0, 0.04, YES), (2.0, 0.06, NO), (-2.0, 0.04, OPPOSITE)]
)
def test_a_larger_radius_helps_where_the_best_is_significantly_above(
    best: float, p: float, verdict: str
) -> None:
    figures = figure6((0.0, 3.0, 0.0), (0.2, best, p), (1.0, -3.0, 0.0))
    finding = larger_helps(figures, "sample", "cartpole", "crowd")
    assert (finding.ours.split(":")[0], finding.verdict) == ("best at Δ 0.2", verdict)


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [(5.0, 12.0, YES), (5.0, 9.0, PARTLY), (-3.0, 12.0, UNCLEAR), (-5.0, -1.0, OPPOSITE)],
)
def test_an_improvement_is_judged_by_the_whole_interval(
    low: float, high: float, verdict: str
) -> None:
    figures = Numbers(table1=Table1(improvements=(improvement("bc", 10, low, high),)))
    assert improves(figures, "sample", "cartpole", "bc").verdict == verdict


@pytest.mark.parametrize(("falls", "verdict"), [(0.009, YES), (0.011, PARTLY)])
def test_a_curve_may_turn_back_by_less_than_a_standard_error(falls: float, verdict: str) -> None:
    other = Spread(mean=0.0, sd=0.0)
    rows = tuple(
        RecoveryRow(
            radius=r, runs=100, to_examples=Spread(mean=v, sd=0.1), variation=other,
            to_meant=other, variation_of_mean=other,
        )
        for r, v in ((None, 0.3), (0.1, 0.3 - falls), (1.0, 0.5))
    )  # fmt: skip
    finding = simpler(Numbers(figure3=Figure3(rows)), "mean", "to_examples", sign=1)
    assert finding.verdict == verdict
    assert finding.ours == f"BC 0.30, Δ 0.1 {0.3 - falls:.2f}, Δ 1 0.50"


@pytest.mark.parametrize("verdict", [YES, PARTLY, UNCLEAR])
def test_rows_made_in_another_way_than_the_paper_s_can_support_a_claim(verdict: str) -> None:
    assert under_convention(Finding("ours", verdict), is_as_in_paper=False).verdict == verdict


@pytest.mark.parametrize("verdict", [NO, OPPOSITE])
def test_rows_made_in_another_way_than_the_paper_s_refute_nothing(verdict: str) -> None:
    untested = under_convention(Finding("ours", verdict), is_as_in_paper=False)
    assert untested == Finding("ours", f"{UNTESTED} ({verdict} here)")
    assert under_convention(Finding("ours", verdict), is_as_in_paper=True).verdict == verdict
