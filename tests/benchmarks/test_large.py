"""What the benchmark on large data compares."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from benchmarks.large import COMMANDS, ROOT, arguments, commit, measure, merged
from counterbc.cli import parse
from counterbc.demonstrators import UniformNoise, demonstrate
from counterbc.formats import save

PLACES = {name: Path(name) for name in ("npz", "robomimic", "lerobot", "csv", "run", "out")}


def test_the_commit_of_a_checkout_is_named_and_a_folder_of_its_own_has_none(tmp_path: Path) -> None:
    assert commit(tmp_path / "none") == ""
    git = ["git", "-C", str(tmp_path), "-c", "user.name=a", "-c", "user.email=a@example.com"]
    subprocess.run([*git, "init", "-q"], check=True)
    subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "Begin"], check=True)
    assert len(commit(tmp_path)) == 8


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_is_one_that_counterbc_understands(name: str) -> None:
    parse(arguments(name, PLACES))


def test_time_and_memory_of_a_command_are_measured_beside_the_commit(tmp_path: Path) -> None:
    demos = demonstrate("intersection", UniformNoise(0.3), 100, 0)
    save(demos, tmp_path / "demos.npz")
    row = measure("inspect, npz", {"npz": tmp_path / "demos.npz"}, {"now": ROOT}, 1)
    assert sorted(row) == ["now", "now, commit", "now, megabytes", "now, rounds"]
    assert 0.1 < row["now"] < 100
    assert 30 < row["now, megabytes"] < 1000


def test_a_row_keeps_what_was_measured_of_the_other_side() -> None:
    other = {"command": "evaluate", "pairs": 25_000, "now": 1.0}
    old = {"command": "inspect, csv", "pairs": 25_000, "before": 3.0, "now": 2.0}
    new = {"command": "inspect, csv", "pairs": 25_000, "now": 1.5}
    large = {"command": "inspect, csv", "pairs": 1_000_000, "now": 9.0}
    rows = merged(merged([large, other, old], new), large)
    assert rows == [old | new, other, large]
