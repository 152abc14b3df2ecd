"""Where the native step spends its time: which lines are done twice, and what follows from it."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

pytest.importorskip("numba", reason="the native step needs it")

from benchmarks import step_phases
from benchmarks.step import flops
from benchmarks.step_phases import METHODS, PHASES, WHOLE, main, phase_rows, rates, shares, source
from reproduction.step_speeds import NAMES


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


def test_of_a_method_without_phases_the_whole_step_is_measured() -> None:
    assert phase_rows("bcnd", {"all": [9e-6, 8e-6, 7e-6]}) == [
        {"method": "bcnd", "phase": "all", "microseconds": 8}
    ]


def test_the_rate_of_a_step_counts_its_matrix_products() -> None:
    row = {"method": "bc-rnn", "phase": "all", "microseconds": 100.0}
    # 40 pairs: input of 5 and state of 4 times, each for three gates; a layer; a head
    products = 2 * (4 * 192 * 5) + 3 * (64 * 192 * 4 + 64 * 64 + 64 * 4)
    assert rates([row, row | {"phase": "loss"}]) == {"bc-rnn": round(80 * products / 1e5, 1)}


def test_every_method_has_its_share_of_both_peaks_by_hand() -> None:
    peaks = {"multiply-adds": 200.0, "matrix products": 80.0}
    assert shares({"bc": 100.0, "bc-rnn": 50.0}, peaks) == {
        "bc": {"multiply-adds": 0.5, "matrix products": 1.25},
        "bc-rnn": {"multiply-adds": 0.25, "matrix products": 0.625},
    }


def test_the_table_has_a_name_for_every_method_that_is_measured() -> None:
    assert set(NAMES) == {*METHODS, *WHOLE}


def test_products_are_those_of_all_layers_of_a_network() -> None:
    policy = 2 * 4 * 64 + 3 * (64 * 64 + 64 * 4)
    assert flops("bc", 1) == flops("counter-bc", 1) == flops("bcnd", 1) == 2 * policy
    assert flops("weighted-bc", 1) == 4 * policy - 6 * 64 * 3  # one output where heads have four
    assert flops("ileed", 1) == 4 * policy + 6 * 64 * 4  # eight outputs


@pytest.mark.slow
def test_every_variant_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "phases.json"
    monkeypatch.setattr(step_phases, "METHODS", ("bc",))  # each variant takes seconds to compile
    monkeypatch.setattr(step_phases, "WHOLE", ("ileed",))
    monkeypatch.setattr(step_phases, "MEMBERS", 2)
    monkeypatch.setattr(step_phases, "STEPS", 3)
    monkeypatch.setattr(sys, "argv", ["step_phases.py", "--rounds", "1", "--json", str(path)])
    main()
    result = json.loads(path.read_text())
    assert len(result["rows"]) == len(PHASES) + 2
    assert result["GFLOP/s"].keys() == result["share of peak"].keys() == {"bc", "ileed"}
    assert min(result["peak GFLOP/s"].values()) > 0
