"""The presets and single choices."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from reproduction.paper import PAPER_METHODS
from reproduction.records import read
from reproduction.studies import presets


@pytest.mark.parametrize(
    ("case", "preset", "radius", "limited"),
    [
        ("authors", "authors", 0.5, False),
        ("authors, radius 0.4", "authors", 0.4, False),
        ("paper, not limited, radius 0.5", "paper", 0.5, False),
        ("default", "default", 0.4, False),  # not chosen from the data
        ("default, radius 0.5", "default", 0.5, False),
        ("default, limited to A", "default", 0.4, True),
    ],
)
def test_a_case_is_trained_with_its_preset_and_changes(
    case: str, preset: str, radius: float, limited: bool
) -> None:
    cell = presets.cell(case, "counter-bc", presets.PresetsOptions(seeds=2, steps=7))
    assert (cell.preset, cell.seeds) == (preset, 2)
    settings = cell.settings
    assert (settings.radius, settings.limited, settings.steps) == (radius, limited, 7)


def test_only_missing_rows_are_computed(tmp_path: Path, check_origin: Any) -> None:
    case = "default, feasible=project"
    options = presets.PresetsOptions(out=tmp_path, seeds=2, steps=2, device="cpu", cases=(case,))
    presets.run(options)
    presets.run(options)
    rows = read(options.numbers("presets"))
    assert [(r["method"], r["steps"]) for r in rows] == [("bc", 2), ("counter-bc", 2)]
    for row in rows:
        runs = row["sample"]["runs"]
        assert row["sample"]["mean"] == pytest.approx(np.mean(runs), abs=1e-4)
        assert row["sample"]["se"] == pytest.approx(abs(runs[0] - runs[1]) / 2, abs=1e-4)
    check_origin(*rows, trained=True)
    presets.run(replace(options, steps=3))
    assert [r["steps"] for r in read(options.numbers("presets"))] == [2, 2, 3, 3]


def test_the_table_has_a_line_per_case_and_method() -> None:
    row = {"case": "paper", "method": "bc", "sample": {"mean": 1, "se": 0.1}}
    row["mean"] = {"mean": 2, "se": 0.2}
    assert presets.markdown([row], "preset").splitlines() == [
        "| preset | method | act=sample | act=mean |",
        "|---|---|---|---|",
        "| paper | bc | 1.00 ± 0.10 | 2.00 ± 0.20 |",
    ]


def test_the_readme_s_table_marks_where_counter_bc_is_the_best() -> None:
    rows = [
        {"case": case, "method": method, "mean": {"mean": 9.5 - k, "se": 0.25},
         "sample": {"mean": 9.0 + k, "se": 0.125}}
        for case in ("authors", "default") for k, method in enumerate(PAPER_METHODS)
    ]  # fmt: skip
    lines = presets.by_method(rows).splitlines()
    assert lines[2].startswith("| `authors` preset, act=sample | 9.00 ± .12 | 10.00 ± .12 |")
    assert lines[2].endswith("| **13.00 ± .12** |")
    assert lines[5].endswith("| 5.50 ± .25 |")
