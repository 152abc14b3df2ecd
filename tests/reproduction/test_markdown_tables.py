"""Tables of docs/reproduction.md on numbers made up for each case."""

from __future__ import annotations

import json
from pathlib import Path

from reproduction.markdown_tables import seconds, summary, table, table1
from tests.reproduction.made_up import cells, write_numbers


def test_table_1_says_what_could_be_reached_at_most(tmp_path: Path) -> None:
    row = {"world": "cartpole", "act": "sample", "low": -3.0, "high": 12.0, "percent": 5.0}
    said = {"improvements": [row | {"baseline": "bc", "paper": 39, "other": 160.0}]}
    write_numbers(tmp_path, "table1", said)
    lines = table1(tmp_path).splitlines()
    # 200 steps at most, above 160 by a quarter.
    assert "| Cartpole | BC | 39 % | 5 % [−3, 12] | – | 25 % | cannot tell |" in lines
    assert "| Car racing | BC | 2,370 % | – | – | – | not run |" in lines


def test_the_summary_has_a_column_per_world_and_tells_where_the_mean_differs(
    tmp_path: Path,
) -> None:
    shown, leads = [], []
    for act, lead in (("sample", 2.0), ("mean", -0.5)):
        about = {"world": "cartpole", "act": act}
        shown += cells({"bc": 1.0}, teacher="uniform", pairs=100, **about)
        leads.append(about | {"at": 100, "other": "bc", "difference": {"mean": lead}, "p": 0.01})
    write_numbers(tmp_path, "figure4", {"cells": shown, "leads": leads})
    said = summary(tmp_path)
    assert "| section | the paper | Cartpole | Car racing | Can | Air hockey |" in said
    line = "| 5.2 | Counter-BC leads at every size | reproduced (mean: contradicted) |  |  |  |"
    assert line in said.splitlines()


def test_seconds_are_told_of_the_device_that_made_the_rows(tmp_path: Path) -> None:
    stage = {"figure7, air-hockey": {"of": 20, "computed": 6, "seconds": 188.8}}
    calls = [{"device": d, "cores": 2, "stages": stage} for d in ("cuda", "cpu")]
    (tmp_path / "timings.json").write_text(json.dumps(calls))
    write_numbers(tmp_path, "figure7", {"made": ["cpu, torch 2.11.0"]})
    _, _, *lines = seconds(tmp_path).splitlines()
    assert lines == ["| cpu, 2 cores | figure7, air-hockey | 6 of 20 | 189 |"]


def test_a_table_without_rows_says_that_nothing_was_run() -> None:
    assert table(["a", "b"], []) == "Not run yet."
    assert table(["a", "b"], [["1", "2"]]) == "| a | b |\n| --- | --- |\n| 1 | 2 |"
