"""Policies that learn from parts of a dataset."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from counterbc.errors import OptionError
from counterbc.selection.lag_choice import LagChoice
from counterbc.selection.tuning import Tuning
from reproduction.records import read_rows
from reproduction.studies import filtering
from reproduction.studies.filtering_tables import ALL, ORACLE, OURS

BRIEF = Tuning(LagChoice((0.0,), "given", rate=10.0), 0.0, 30)


def test_equal_subsets_are_one_policy_and_corrupted_episodes_matter() -> None:
    options = filtering.FilteringOptions(quick=True, device="cpu")
    case = filtering.make_case("intersection", "wrong goal", 3, options)
    no_mask = np.zeros((2, len(case.demos)), bool)
    bad = np.tile(case.is_bad, (2, 1))
    subsets = {"all": no_mask, "none": no_mask.copy(), "oracle": bad}
    (rows,) = filtering.returns_without([case], [subsets], [replace(BRIEF, steps=200)], "bc")
    assert rows["all"]["return"] == rows["none"]["return"]
    assert rows["oracle"]["return"] > rows["all"]["return"] + 1


def test_people_are_needed_for_push_t() -> None:
    options = filtering.FilteringOptions(quick=True)
    with pytest.raises(OptionError, match="give --data and --other"):
        filtering.make_case("push-t", "noisy", 0, options)


@pytest.mark.slow
def test_the_study_chooses_a_rule_then_reports_every_score(tmp_path: Path) -> None:
    options = filtering.FilteringOptions(
        out=tmp_path, quick=True, seeds=1, first=1020, choice_seeds=1, members=1, workers=1,
        worlds=("intersection",), kinds=("wrong goal",), device="cpu",
    )  # fmt: skip
    filtering.run(options)
    rows = read_rows(tmp_path / "filtering")
    report = [r for r in rows if r["phase"] == "report"]
    assert {r["subset"] for r in report} >= {ALL, OURS, ORACLE, "influence", "BC residual"}
    assert len(report) == 2 * 15
    (count,) = {r["excluded"] for r in report if r["subset"] not in (ALL, ORACLE)}
    assert {r["excluded"] for r in report if r["subset"] == ORACLE} == {10}
    assert count <= 20


def test_datasets_are_measured_alone_or_two_seeds_at_a_time() -> None:
    kinds = ("noisy", "clean")
    assert list(filtering.blocks(range(5, 7), kinds, alone=True)) == [
        (range(5, 6), ("noisy",)),
        (range(5, 6), ("clean",)),
        (range(6, 7), ("noisy",)),
        (range(6, 7), ("clean",)),
    ]
    assert list(filtering.blocks(range(5, 8), kinds, alone=False)) == [
        (range(5, 7), kinds),
        (range(7, 8), kinds),
    ]


def test_a_report_without_a_choice_takes_the_rule_on_file() -> None:
    assert filtering.known_rule([]) == "trimmed, z > 2.5"
