"""Studies tell how long they take, and keep how long they took."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

from counterbc.experiments.simulated_cell import SimulatedCell
from reproduction.timings import Pace, estimate

TINY = SimulatedCell(
    world="intersection", teacher="uniform", sigma=0.5, pairs=20, method="bc", radius=None,
    seeds=2, episodes=2, steps=4,
)  # fmt: skip


def test_the_time_that_is_left_is_of_what_is_missing(tmp_path: Path) -> None:
    bc = replace(TINY, pairs=400, seeds=50, steps=10_000)
    told = estimate([replace(bc, method="bc-rnn", pairs=p) for p in (400, 401)], "cpu", 2)
    assert told == "2 populations to compute, about 8 min (cpu, 2 at a time)"
    assert "no time is known" in estimate([bc, replace(bc, world="car-racing")], "cpu", 2)


def test_the_pace_of_a_study_is_kept_over_calls(tmp_path: Path) -> None:
    path, others = tmp_path / "seconds.json", replace(TINY, pairs=40)
    for cell in (TINY, others):
        pace = Pace({"figure4, here": [TINY.name, others.name]}, path, "cpu", 1)
        pace.tell(cell)
    calls = json.loads(path.read_text())
    assert [c["parts"]["figure4, here"]["computed"] for c in calls] == [1, 1]
    assert all(0 <= c["parts"]["figure4, here"]["seconds"] < 60 for c in calls)


def test_rows_are_computed_without_the_libraries_of_statistics_and_of_the_command_line(
    tmp_path: Path,
) -> None:
    code = (
        "import sys\n"
        "for name in ('tyro', 'pingouin', 'ray'): sys.modules[name] = None\n"
        "from reproduction.run import main\n"
        "sys.exit(main(sys.argv[1:]))"
    )
    options = "figure5 --quick --env intersection --seeds 2 --steps 2 --episodes 1 --workers 1"
    done = subprocess.run(
        [sys.executable, "-c", code, *options.split(), "--device", "cpu", "--out", str(tmp_path)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "15 populations computed, 15 finished" in done.stdout
    assert "15 of 15 cells, 0 min left" in done.stderr
    assert len(list((tmp_path / "rows").glob("*.parquet"))) == 15
    (call,) = json.loads((tmp_path / "seconds.json").read_text())
    assert call["parts"]["figure5, intersection"]["computed"] == 15
    assert (call["device"], call["workers"]) == ("cpu", 1)
