"""Where the native step spends its time: which lines are done twice, and what follows from it."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

pytest.importorskip("numba", reason="the native step needs it")

from benchmarks import step_phases
from benchmarks.step_phases import PHASES, main, phase_rows, source


@pytest.mark.parametrize("phase", PHASES)
def test_each_phase_is_one_line_of_the_step_which_is_done_twice(phase: str) -> None:
    line, before, after = PHASES[phase], source(""), source(PHASES[phase])
    assert after.count(line) == before.count(line) + bool(line)
    assert len(after) - len(before) == (len(line) + 2 if line else 0)


def test_variants_leave_the_stored_code_of_the_step_alone() -> None:
    assert "numba_cache" not in source("")


def test_a_phase_takes_what_doing_it_twice_adds() -> None:
    seconds = {
        "all": [4e-6, 5e-6, 9e-6],
        "loss": [5e-6, 6.5e-6, 10.5e-6],
        "Adam": [6e-6, 7e-6, 8e-6],
    }
    rows = {row["phase"]: row["microseconds"] for row in phase_rows("bc", seconds)}
    assert rows == {"loss": 1.5, "Adam": 2, "rest": 1.5, "all": 5}


@pytest.mark.slow
def test_every_variant_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "phases.json"
    monkeypatch.setattr(step_phases, "METHODS", ("bc",))  # each variant takes seconds to compile
    monkeypatch.setattr(step_phases, "MEMBERS", 2)
    monkeypatch.setattr(step_phases, "STEPS", 3)
    monkeypatch.setattr(sys, "argv", ["step_phases.py", "--rounds", "1", "--json", str(path)])
    main()
    result = json.loads(path.read_text())
    assert len(result["rows"]) == len(PHASES) + 1
    assert min(result["peak GFLOP/s"].values()) > 0
