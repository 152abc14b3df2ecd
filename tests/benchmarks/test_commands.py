"""What each command costs: a run that fails is no measurement."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from benchmarks import commands
from counterbc.demonstrators import HUMAN_TEACHERS, demonstrate


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    """A recording of two episodes."""
    path = tmp_path / "recording.hdf5"
    demonstrate("intersection", HUMAN_TEACHERS["skilled"], 40, 0).save(path)
    return path


def _measure_inspect(monkeypatch: pytest.MonkeyPatch, recording: Path, rows: Path) -> None:
    words = ["--demos", str(recording), "--commands", "inspect", "--json", str(rows)]
    monkeypatch.setattr(sys, "argv", ["commands.py", *words])
    commands.main()


def test_a_recording_is_measured_in_place_of_made_up_demonstrations(
    recording: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = tmp_path / "rows.json"
    _measure_inspect(monkeypatch, recording, rows)
    text = rows.read_text()
    assert '"file": "recording.hdf5"' in text
    assert '"pairs": 40' in text


def test_a_command_that_fails_is_not_stored(
    recording: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = tmp_path / "rows.json"
    monkeypatch.setitem(commands.COMMANDS, "inspect", ("--obs", "nothing"))
    with pytest.raises(SystemExit, match="exit status 1"):
        _measure_inspect(monkeypatch, recording, rows)
    assert not rows.exists()
