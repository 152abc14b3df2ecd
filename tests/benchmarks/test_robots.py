"""The benchmark of the arm's loop records the largest commands, and ends what it starts."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.robots import Faulty, Witness, busy, keep, load_row, scheduled, write_policy
from counterbc.acting.clock import VirtualClock
from counterbc.robots.decider import PolicyFile
from counterbc.robots.limits import Limits
from counterbc.robots.robot import Reading


class Paddle:
    """A stand-in for the simulated arm, whose paddle is where a test puts it."""

    limits = Limits(low=(0.0, 0.0), high=(1.0, 1.0), speed=2.0, acceleration=10.0)

    def __init__(self) -> None:
        self.arm, self.paddle = self, np.array([0.5, 0.5])
        self.calls: list[str] = []

    def observe(self) -> Reading | None:
        self.calls.append("observe")
        return None

    def command(self, velocity: np.ndarray[Any, Any]) -> None:
        self.calls.append("command")

    def stop(self) -> None:
        self.calls.append("stop")


def test_the_largest_commands_and_places_are_kept() -> None:
    paddle = Paddle()
    witness = Witness(paddle)  # type: ignore[arg-type]  # a stand-in
    witness.observe()
    assert witness.outside == 0.0
    paddle.paddle = np.array([0.5, 1.002])
    witness.observe()
    witness.command(np.array([0.4, 0.0]))
    witness.command(np.array([0.1, -1.0]))
    witness.stop()
    witness.command(np.array([0.3, 0.3]))  # from 0, not from the command before the stop
    assert paddle.calls == ["observe", "observe", "command", "command", "stop", "command"]
    row = load_row(
        4,
        {
            "ticks": 400, "missed": 3, "faults": {"a": 2, "b": 5}, "watchdog_stops": 1,
            "times_ms": {"late": {"p50": 1.0}}, "ended": "finished", "is_stopped": True,
        },
        witness,
    )  # fmt: skip
    assert (row["programs"], row["missed"], row["faulty"]) == (4, 3, 7)
    assert row["speed_share"] == pytest.approx(0.5)
    assert row["acceleration_share"] == pytest.approx(1.0 * 20 / 10)
    assert row["outside_mm"] == pytest.approx(2.0)


class Seeing(Paddle):
    """A stand-in that observes a place on the table."""

    clock = VirtualClock(5.0)

    def observe(self) -> Reading | None:
        return Reading(np.array([0.3, 0.0, 0.8, 0.1, 0.8, 0.1]), np.array([0.3, 0.0]), 5.0)


@pytest.mark.needs("onnx", "onnxruntime")
def test_a_policy_answers_nan_at_the_fault_although_its_observation_is_finite(
    tmp_path: Path,
) -> None:
    policy = PolicyFile(write_policy(tmp_path / "p.onnx"))
    faulty = Faulty(Seeing(), "action not finite")  # type: ignore[arg-type]  # a stand-in
    usual = faulty.observe()
    faulty.fault_at = 5.0
    reading = faulty.observe()
    assert usual is not None
    assert reading is not None
    assert np.isfinite(policy.act(usual.obs, True)).all()
    assert np.isfinite(reading.obs).all()
    assert not np.isfinite(policy.act(reading.obs, True)).any()


@pytest.mark.skipif(not hasattr(os, "sched_setscheduler"), reason="competing programs need Linux")
def test_programs_compete_while_the_block_runs_and_end_with_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    programs = list[subprocess.Popen[bytes]]()
    start = subprocess.Popen

    def begin(command: list[str]) -> subprocess.Popen[bytes]:
        programs.append(start(command))
        return programs[-1]

    monkeypatch.setattr(subprocess, "Popen", begin)
    with busy(2):
        assert [program.poll() for program in programs] == [None, None]
    assert all(program.poll() is not None for program in programs)


def test_rows_of_a_task_replace_its_earlier_ones_only(tmp_path: Path) -> None:
    path = tmp_path / "robots.json"
    keep(path, "faults", [{"ticks": 1}])
    keep(path, scheduled("load", None), [{"ticks": 2}])
    keep(path, scheduled("load", 50), [{"ticks": 3}])
    keep(path, scheduled("load", None), [{"ticks": 4}])
    contents = json.loads(path.read_text())
    assert {name: part["rows"][0]["ticks"] for name, part in contents.items()} == {
        "faults": 1, "load": 4, "load, real-time priority": 3,
    }  # fmt: skip
