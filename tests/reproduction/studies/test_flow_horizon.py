"""The study of a flow's horizon: its rule, its tables, and a tiny run."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from counterbc.data.demonstrations import Demonstrations
from counterbc.errors import OptionError
from reproduction.records import read, write
from reproduction.studies import flow_horizon
from reproduction.studies.flow import TEMPERATURES
from reproduction.studies.flow_horizon import BEFORE, FlowHorizonOptions, chosen, markdown, report
from tests.fixture_types import Make
from tests.reproduction.studies.conftest import CheckOrigin, RunHere

Record = dict[str, Any]


def _rows(
    phase: str, horizon: int, steps: int, t: float, *values: tuple[float, float]
) -> list[Record]:
    return [
        {
            "phase": phase, "horizon": horizon, "steps": steps, "temperature": t, "seed": i,
            "score": score, "success": success,
        }
        for i, (score, success) in enumerate(values)
    ]  # fmt: skip


def _candidates(**values: tuple[float, float]) -> list[Record]:
    """Rows of a whole grid, two seeds each, at the named values or low ones."""
    rows: list[Record] = []
    for horizon in (8, 16):
        for steps in (10_000, 15_000):
            for t in TEMPERATURES:
                value = values.get(f"h{horizon}s{steps}t{10 * t:.0f}", (0.1, 0.1))
                rows += _rows("choose", horizon, steps, t, value, value)
    return rows


def test_score_and_success_count_alike() -> None:
    rows = _candidates(h8s10000t5=(0.9, 0.5), h16s15000t0=(0.85, 0.6))
    assert chosen(rows) == {"horizon": 16, "steps": 15_000, "temperature": 0.0}


def test_ties_take_fewer_steps_then_the_smaller_horizon_then_the_lower_temperature() -> None:
    tied = {"h8s15000t0": (0.9, 0.5), "h16s10000t5": (0.8, 0.6), "h16s10000t10": (0.6, 0.8)}
    assert chosen(_candidates(**tied)) == {"horizon": 16, "steps": 10_000, "temperature": 0.5}
    tied["h8s10000t10"] = (0.9, 0.5)
    assert chosen(_candidates(**tied)) == {"horizon": 8, "steps": 10_000, "temperature": 1.0}


def test_only_rows_of_the_first_phase_choose() -> None:
    rows = _candidates(h8s10000t0=(0.9, 0.5))
    rows += _rows("report", 16, 15_000, 1.0, (1.0, 1.0), (1.0, 1.0))
    assert chosen(rows) == {"horizon": 8, "steps": 10_000, "temperature": 0.0}
    assert chosen([]) is None


def test_the_tables_show_the_choice_and_its_difference_to_the_earlier_defaults() -> None:
    rows = _candidates(h8s15000t0=(0.9, 0.5))
    text = markdown(rows)
    assert text.splitlines()[2] == "| 8 | 0 | 0.100, 10 % | **0.900, 50 %** |"
    assert text.count("**") == 2
    assert markdown([]) == report([]) == report(rows) == "Not run yet."
    rows += _rows("report", 8, 15_000, 0.0, (0.9, 0.5), (0.8, 0.7))
    rows += _rows("report", *BEFORE.values(), (0.7, 0.4), (0.6, 0.6))
    first, second = report(rows).splitlines()[2:]
    assert first.startswith("| 8 | 15,000 | 0 | 0.850 [")
    assert first.endswith("| +0.200 [+0.200, +0.200] | +0.100 [+0.100, +0.100] |")
    assert second.startswith("| 16 | 10,000 | 0.5 | 0.650 [")
    assert second.endswith("|  |  |")


@pytest.fixture
def tiny(make_demos: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FlowHorizonOptions:
    """A study of a few steps on short episodes with the numbers of Push-T, in pixels."""
    demos = make_demos(episodes=3, length=12, obs_size=5, action_low=None, action_high=None)
    pixels = [
        replace(e, obs=256 + 200 * e.obs, action=256 + 200 * e.action, reward=None)
        for e in demos.episodes
    ]
    Demonstrations(tuple(pixels)).save(tmp_path / "people.hdf5")
    before = {"horizon": 2, "steps": 2, "temperature": 1.0}
    monkeypatch.setattr(flow_horizon, "BEFORE", before)
    monkeypatch.setattr(flow_horizon, "TEMPERATURES", (0.0, 1.0))
    return FlowHorizonOptions(
        data=tmp_path / "people.hdf5", out=tmp_path, seeds=2, episodes=1, horizons=(2, 4),
        steps=(2, 3), device="cpu",
    )  # fmt: skip


@pytest.mark.slow
@pytest.mark.needs("gym_pusht")
def test_a_tiny_study_chooses_reports_and_resumes(
    tiny: FlowHorizonOptions, run_here: RunHere, check_origin: CheckOrigin,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    run_here(flow_horizon)
    path = tiny.out / "flow-horizon" / "rows.json"
    flow_horizon.run(tiny)
    rows = read(path)
    check_origin(*rows)
    names = ("phase", "horizon", "steps", "temperature", "seed")
    cells = {tuple(row[name] for name in names) for row in rows}
    best = chosen(rows)
    assert best is not None
    assert {c for c in cells if c[0] == "choose"} == {
        ("choose", h, s, t, seed)
        for h in (2, 4) for s in (2, 3) for t in (0.0, 1.0) for seed in (1085, 1086)
    }  # fmt: skip
    assert {c for c in cells if c[0] == "report"} == {
        ("report", *setting.values(), seed)
        for setting in (best, flow_horizon.BEFORE) for seed in (3110, 3111)
    }  # fmt: skip
    write(rows[:3] + rows[4:], path)  # one row was lost
    flow_horizon.run(tiny)
    assert sorted(map(str, read(path))) == sorted(map(str, rows))
    monkeypatch.setattr(flow_horizon, "run_all", None)  # nothing is left to compute
    flow_horizon.run(tiny)


def test_the_file_is_asked_for(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="needs a file of people; name it with --data"):
        flow_horizon._train("choose", 8, [2], FlowHorizonOptions(seeds=1), tmp_path)
