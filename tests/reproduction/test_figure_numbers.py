"""The types of a figure's numbers, and p-values in words."""

from __future__ import annotations

from dataclasses import replace
from math import nan

from reproduction.figure_numbers import p_text
from tests.reproduction.made_up import compared


def test_p_values_are_printed_as_papers_do() -> None:
    assert [p_text(p) for p in (0.0004, 0.0123, 0.3, 1.0, nan)] == [
        "p < .001", "p = .012", "p = .300", "p = 1.0", "no p",
    ]  # fmt: skip


def test_an_anova_says_what_a_paper_prints() -> None:
    anova = compared({}, act="mean").anova
    assert anova.text == "F(2.00, 98.00) = 5.0, p = .009"
    assert replace(anova, F=nan).text == "no F: the methods do not differ in any run"
