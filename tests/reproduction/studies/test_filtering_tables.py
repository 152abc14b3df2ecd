"""The rule for k, and what is called significant."""

from __future__ import annotations

import numpy as np
import pytest

from counterbc.acting.intervals import paired_difference
from counterbc.errors import DataError
from reproduction.records import Record
from reproduction.studies import filtering_tables as ft


def _row(subset: str, seed: int, value: float, **facts: object) -> Record:
    row: Record = {"phase": "report", "world": "fork", "kind": "noisy", "method": "bc"}
    row |= {"subset": subset, "seed": seed, "return": value, "excluded": 4, "corrupted": 10}
    return row | {"corrupted_excluded": 3.0, "ranked": True} | facts


def _choice(gain: dict[str, tuple[float, ...]]) -> list[Record]:
    """Return rows in which all the data return 10."""
    rows = []
    for seed in range(len(next(iter(gain.values())))):
        rows.append(_row("all", seed, 10.0, phase="choice"))
        rows += [_row(n, seed, 10.0 + g[seed], phase="choice") for n, g in gain.items()]
    return rows


def test_the_rule_with_the_best_mean_gain_is_chosen() -> None:
    assert ft.choose_rule(_choice({"a": (0.1, 0.3), "b": (0.2, 0.6)})) == "b"
    gains = ft.rule_gains(_choice({"a": (0.1, 0.3)}))
    assert gains["a"]["fork"].tolist() == pytest.approx([1.0, 3.0])


def test_a_rule_that_is_clearly_below_all_in_one_world_is_not_chosen() -> None:
    rows = _choice({"a": (2.0, 2.1, 1.9), "b": (0.1, 0.2, 0.0)})
    second = _choice({"a": (-0.5, -0.6, -0.4), "b": (0.0, 0.1, -0.1)})
    assert ft.choose_rule([*rows, *(r | {"world": "other"} for r in second)]) == "b"


def test_without_rows_no_rule_can_be_chosen() -> None:
    with pytest.raises(DataError, match="choice-seeds"):
        ft.choose_rule([])


def test_a_score_is_better_only_if_that_is_significant_among_all_scores() -> None:
    rows = []
    for seed in range(8):
        wobble = 0.1 * (-1) ** seed
        values = {"all": 9 + wobble, ft.OURS: 10.0, "clearly": 11 + wobble, "hardly": 10 + wobble}
        for method in ft.LABELS:
            rows += [
                _row(n, seed, v, method=method)
                for n, v in (values | {"random": 9.0, "oracle": 12 + wobble}).items()
            ]
    text = ft.markdown(rows)
    assert (
        "better than `counterbc score`: clearly (fork, BC), clearly (fork, Counter-BC)."
        in (text["significance"])
    )
    assert "below using all the data: nowhere" in text["significance"]
    assert "hardly" not in text["significance"]
    assert "excludes anything, so that scores can differ: 8 of 8 (fork)" in text["significance"]
    assert (
        "| fork | noisy | 8 of 8 | 4.0 | 3.0 of 10 | 9.00 | 10.00 | 9.00 | 12.00 |"
        in (text["by kind"])
    )
    assert "| fork | clearly | 11.00 | +1.00 [" in text["returns"]


def test_using_less_data_is_called_worse_where_it_is() -> None:
    rows = [
        _row(name, seed, value + 0.01 * seed * (name == "all"), method=method)
        for seed in range(6)
        for method in ft.LABELS
        for name, value in {"all": 11.0, ft.OURS: 10.0, "random": 9.0, "oracle": 11.0}.items()
    ]
    assert "below using all the data: all (fork, BC)" in ft.markdown(rows)["significance"]


def test_differences_that_are_all_the_same_have_no_interval() -> None:
    same = paired_difference(np.array([1.0, 2.0, 3.0]), np.array([2.0, 3.0, 4.0]))
    assert ft._difference_text(same, same.p, 2) == "-1.00 –, –"
