"""Sentences of the figures."""

from __future__ import annotations

from dataclasses import replace
from math import nan

from reproduction.figure_numbers import (
    Figure2,
    Figure3,
    Figure4,
    Figure6,
    RecoveryRow,
    Spread,
    Table1,
)
from reproduction.sentences import sentences
from tests.reproduction.made_up import cells, compared, improvement


def test_each_figure_is_put_into_words() -> None:
    assert sentences(Figure2({"confident": -1.234})) == ["confident: loss -1.23"]
    two, quarter, eighth = (Spread(mean=v, sd=0.1) for v in (2.0, 0.25, 0.125))
    row = RecoveryRow(
        radius=None, runs=5, variation=two, to_examples=quarter, to_meant=eighth,
        variation_of_mean=two,
    )  # fmt: skip
    assert sentences(Figure3((row, replace(row, radius=0.5))))[1] == (
        "Δ = 0.5: variation 2.000, to the examples 0.250, to |s| − 0.5 0.125"
    )
    about = {"world": "fork", "teacher": "crowd", "act": "mean"}
    points = (
        cells({"counter-bc": mean}, radius=r, **about) for r, mean in ((0.0, 1.0), (0.2, 3.0))
    )
    assert sentences(Figure6(cells=tuple(cell for point in points for cell in point))) == [
        "fork, crowd, act=mean: best Δ 0.2 with 3.00; Δ 0 1.00"
    ]
    assert sentences(Table1(improvements=(improvement("bc", 10, -3.0, 13.0),))) == [
        "cartpole, act=sample, over bc: 5 % [-3, 13]; the paper 10 %"
    ]


def test_a_test_without_variance_has_no_p() -> None:
    test = compared({"bc": (0.0, nan)}, world="fork", teacher="crowd", act="mean")
    no_f = replace(test, anova=replace(test.anova, F=nan))
    assert sentences(Figure4(statistics=(no_f,))) == [
        "fork, crowd, act=mean: no F: the methods do not differ in any run",
        "  above bc by 0.00 [-1.00, 1.00], no p",
    ]
