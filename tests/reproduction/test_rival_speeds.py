"""Tables of rivals, from rows as the benchmark writes them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchmarks.rivals.problem import METHODS
from reproduction.rival_speeds import LABELS, run_sentence, sections, steps_table, training_table

RUN: dict[str, Any] = {
    "machine": {"cpu": "a CPU", "cores": 2, "load before": 0.1},
    "members": 50, "pairs": 400, "batch": 40, "steps": 100, "rounds": 5,
    "versions": {
        "ours": {"torch": "2.13.0"}, "jax": {"jax": "0.10.2"}, "imitation": {"imitation": "1.0.1"},
    },
    "rows": [
        {"rival": "counterbc", "method": "bc", "wall µs": [20.0, 19, 21], "cpu µs": [31.26, 30, 32],
         "prepare": {"wall": 2.0, "cpu": 2.0}, "first use": {"wall": 20.0, "cpu": 19.0}},
        {"rival": "JAX", "method": "bc", "wall µs": [1234.5, 1, 2], "cpu µs": [50.0, 1, 2],
         "prepare": {"wall": 4.0, "cpu": 5.0}},
        {"rival": "JAX", "method": "bc-rnn", "error": "OSError"},
    ],
}  # fmt: skip


def test_every_method_of_the_benchmark_has_a_column() -> None:
    assert tuple(LABELS) == METHODS


def test_steps_show_wall_and_processor_time() -> None:
    lines = steps_table(RUN).splitlines()
    assert lines[2] == "| counterbc | 20 / 31.3 | – | – | – |"
    assert lines[3] == "| JAX | 1234 / 50 | – | – | failed |"


def test_trainings_include_preparing_and_the_first_use() -> None:
    lines = training_table(RUN).splitlines()
    # 2 s or 20 s, and 500,000 · 20 µs; in processor time 2 s or 19 s, and 500,000 · 31.26 µs
    assert lines[2] == "| counterbc | 12 (30) / 17.6 (34.6) | – | – | – |"
    assert lines[3] == "| JAX | 621 / 30 | – | – | failed |"


def test_the_machine_is_named_and_a_missing_run_is_said(tmp_path: Path) -> None:
    assert run_sentence(RUN).startswith("2 cores of a CPU, load 0.1 before the run; 50 members")
    assert run_sentence(RUN).endswith("; jax 0.10.2, torch 2.13.0"), "imitation did not take part"
    missing = sections(tmp_path / "none.json", tmp_path / "none.json")["benchmarks"]
    assert set(missing.values()) == {"Not run yet."}
