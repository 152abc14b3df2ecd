"""The commands of the guide on cameras, from an empty folder, with smaller numbers."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from tests.fixture_types import Call

GUIDE = Path(__file__).parents[2] / "docs" / "cameras.md"
SMALLER = {
    "--pairs 2000": "--pairs 120",
    "--steps 2000": "--steps 2",
    "--episodes 4": "--episodes 1",
}


@pytest.mark.slow
@pytest.mark.needs("envpool")
@pytest.mark.needs("onnxruntime")
@pytest.mark.filterwarnings("ignore::counterbc.errors.InfeasibleActions")
def test_the_first_commands_lead_to_a_policy_that_reads_both(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    lines = [x.strip() for x in GUIDE.read_text().splitlines() if x.startswith("    counterbc ")]
    commands = lines[:3]
    for long, short in SMALLER.items():
        assert any(long in command for command in commands)
        commands = [command.replace(long, short) for command in commands]
    printed = []
    for command in [*commands, "counterbc export run"]:
        status, output, errors = call(*shlex.split(command)[1:])
        assert status == 0, errors
        printed.append(output)
    assert "image 96×96×3" in printed[0]
    assert "96×96×3 + 1 → 3" in printed[1]
    assert "blind" not in printed[1]
    assert "tiles" in printed[2]
