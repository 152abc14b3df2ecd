"""Estimates and timings of a run."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from counterbc.experiments.simulated_cell import SimulatedCell
from reproduction.figure_options import FigureOptions
from reproduction.timings import Timer, cpu_name, estimate, stages

TINY = SimulatedCell(
    world="intersection", teacher="uniform", sigma=0.5, pairs=20, method="bc", radius=None,
    seeds=2, episodes=2, steps=4,
)  # fmt: skip


def test_the_estimate_is_the_work_over_the_cores() -> None:
    # 50 networks, 10,000 steps, batch 40: 30 s of BC on one core; BC-RNN takes 15 times as long.
    slow = replace(TINY, method="bc-rnn", seeds=50, steps=10_000)
    text = estimate([replace(slow, pairs=p) for p in (400, 401)], "cpu", 2)
    assert text == "2 cells to compute, about 8 min (cpu, 2 at a time)"
    unknown = [TINY, replace(TINY, world="car-racing")]
    assert estimate(unknown, "cpu", 2) == (
        "2 cells to compute; the time is unknown for these worlds"
    )


def test_the_timings_of_every_call_are_kept(tmp_path: Path) -> None:
    path, other = tmp_path / "timings.json", replace(TINY, pairs=40)
    for cell in (TINY, other):
        Timer({"figure4, here": [TINY.name, other.name]}, path, "cpu", 1).record(cell)
    calls = json.loads(path.read_text())
    assert [c["stages"]["figure4, here"]["computed"] for c in calls] == [1, 1]
    assert all(0 <= c["stages"]["figure4, here"]["seconds"] < 60 for c in calls)
    assert {(c["device"], c["workers"], c["cpu"]) for c in calls} == {("cpu", 1, cpu_name())}


def test_stages_are_figures_and_worlds_and_table_1_has_none_of_its_own() -> None:
    options = FigureOptions(quick=True)
    names = stages({"figure3": options, "figure4": options, "table1": options})
    assert list(names) == ["figure3", "figure4, intersection", "figure4, cartpole"]
    assert len(names["figure4, cartpole"]) == 4 * 2 * 5  # teachers, sizes, methods
