"""Sentences of the figures."""

from __future__ import annotations

from typing import Any

from reproduction.sentences import sentences


def test_each_figure_is_put_into_words() -> None:
    assert sentences("figure2", {"loss": {"confident": -1.234}}) == ["confident: loss -1.23"]
    row = {"radius": None, "variation": {"mean": 2.0}, "to_examples": {"mean": 0.25}}
    row |= {"to_meant": {"mean": 0.125}}
    assert sentences("figure3", {"by radius": [row, row | {"radius": 0.5}]})[1] == (
        "Δ = 0.5: variation 2.000, to the examples 0.250, to |s| − 0.5 0.125"
    )
    cells = [
        {"world": "fork", "teacher": "crowd", "act": "mean", "method": "counter-bc"} | point
        for point in ({"radius": 0.0, "mean": 1.0}, {"radius": 0.2, "mean": 3.0})
    ]
    assert sentences("figure6", {"cells": cells}) == [
        "fork, crowd, act=mean: best Δ 0.2 with 3.00; Δ 0 1.00"
    ]
    improvement = {"world": "fork", "act": "mean", "baseline": "bc", "percent": 5.0}
    improvement |= {"low": -3.0, "high": 12.0, "paper": 10}
    assert sentences("table1", {"improvements": [improvement]}) == [
        "fork, act=mean, over bc: 5 % [-3, 12]; the paper 10 %"
    ]


def test_a_test_without_variance_has_no_p() -> None:
    test: dict[str, Any] = {"method": "counter-bc", "other": "bc", "p": None, "effect": None}
    test |= {"difference": {"mean": 0.0, "low": 0.0, "high": 0.0}}
    about = {"world": "fork", "teacher": "crowd", "act": "mean", "anova": {"text": "no F"}}
    assert sentences("figure4", {"statistics": [about | {"post_hoc": [test]}]}) == [
        "fork, crowd, act=mean: no F",
        "  above bc by 0.00 [0.00, 0.00], no p",
    ]
