"""What commands cost, in the docs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks import starting
from benchmarks.commands import COMMANDS
from reproduction import command_costs
from reproduction.command_costs import (
    PAGES,
    large_table,
    recorded_sentence,
    sections,
    sentence,
    starting_sentence,
    starting_table,
    table,
)

ROW = {"command": "clean", "processor": 49.2, "megabytes": 913, "pairs": 2000, "episodes": 100}


def test_costs_in_words_and_as_a_table() -> None:
    words = "`clean` takes 49 s of one core and 913 MB for 2000 pairs in 100 episodes"
    assert sentence(ROW) == words
    assert table([ROW]).splitlines()[-1] == "| `clean` | 49 s | 913 MB |"


def test_the_cost_on_a_recording_names_its_file() -> None:
    words = "on 25,650 pairs of people in 206 episodes (`p.hdf5`) it takes 49 s of processor time"
    row = ROW | {"pairs": 25_650, "episodes": 206, "file": "p.hdf5"}
    assert recorded_sentence(row) == f"{words} and 913 MB"


def test_the_cost_of_score_is_found_among_other_commands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = ROW | {"command": "score", "pairs": 25_650, "episodes": 206, "file": "p.hdf5"}
    path = tmp_path / "rows.json"
    path.write_text(json.dumps([row | {"command": "clean", "processor": 900.0}, row]))
    monkeypatch.setattr(command_costs, "RECORDED", path)
    assert sections()["scores"]["cost on a recording"] == recorded_sentence(row)


def test_every_command_that_is_measured_has_its_page() -> None:
    pages = sections()
    assert set(PAGES.values()) == {command.split()[0] for command in COMMANDS}
    assert pages.keys() == {"benchmarks", *PAGES}
    assert all(f"`{command}`" in pages["benchmarks"]["commands"] for command in COMMANDS)


def test_costs_on_large_data_are_compared_with_those_before() -> None:
    row = {"command": "inspect", "pairs": 1_000_000, "now": 2.0, "now, megabytes": 1234}
    before = {"before": 23.0, "before, megabytes": 99}
    lines = large_table([row | before, row]).splitlines()
    assert lines[2] == "| inspect | 1,000,000 | 23.0 s | 2.0 s | 11.5 | 99 MB | 1,234 MB |"
    assert lines[3] == "| inspect | 1,000,000 | – | 2.0 s | – | – | 1,234 MB |"


def test_starting_has_wall_and_processor_time_and_the_load_beside_them() -> None:
    row = {
        "what": "counterbc --help", "runs": 15, "wall": 0.2712, "least wall": 0.25,
        "processor": 0.228, "other programs": 0.04,
    }  # fmt: skip
    line = starting_table([row]).splitlines()[-1]
    assert line == "| counterbc --help | 15 | 0.271 s | 0.25 s | 0.228 s | 4% of the cores |"


def test_the_run_says_whether_the_first_use_was_measured() -> None:
    run = {"cores": 2, "load before": 0.25, "rows": [{"what": "counterbc demo"}]}
    words = "2 cores, load 0.25 before the run"
    assert starting_sentence(run) == (
        f"{words}; the first use of the demo has not been measured yet"
    )
    assert starting_sentence(run | {"rows": [{"what": starting.FIRST_USE}]}) == words


def test_the_commits_that_are_compared_are_named_where_rows_have_them() -> None:
    now = {"pairs": 25_000, "now": 1.0, "now, commit": "def", "now, rounds": 3}
    both = now | {"before": 2.0, "before, commit": "abc", "before, rounds": 3}
    large = both | {"pairs": 1_000_000, "now, rounds": 1, "before, rounds": 1}
    assert command_costs.large_sentence([now, both, large]) == (
        "before: abc; now: def; medians of runs: 3 of 25,000 pairs, 1 of 1,000,000 pairs"
    )
    assert command_costs.large_sentence([]) == "Not run yet."


def test_the_first_commands_stand_idle_and_busy_side_by_side() -> None:
    row = {"what": "demo", "rounds": 3, "idle": 20.04, "busy": 41.0, "ratio": 2.051}
    row |= {"idle, processor": 31.0, "busy, processor": 33.0, "other programs": 0.014}
    line = command_costs.first_commands_table([row]).splitlines()[-1]
    expected = "| `counterbc demo` | 3 | 20.0 s | 41.0 s | 2.05 | 31.0 / 33.0 s | 1% of the cores |"
    assert line == expected
    assert command_costs.first_commands_table([]) == "Not run yet."
