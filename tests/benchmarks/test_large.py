"""What the benchmark on large data compares."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from benchmarks.large import COMMANDS, arguments, commit
from counterbc.cli import parse

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
