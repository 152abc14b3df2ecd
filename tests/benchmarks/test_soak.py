"""Soaks drive a robot beside a loop that only sleeps, and none replaces another."""

from __future__ import annotations

import os
import resource
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.soak import Counts, PointRobot, growth, pages_from_disk, soak, soak_name, verdict
from counterbc.acting.clock import VirtualClock
from counterbc.robots.robot import Robot
from tests.robots.doubles import write_policy


def test_the_point_robot_moves_as_commanded_for_two_periods() -> None:
    clock = VirtualClock(10.0)
    robot = PointRobot(clock)
    assert isinstance(robot, Robot)
    start = robot.position
    robot.command(np.array([0.5, -0.1]))
    clock.time += 0.06
    reading = robot.observe()
    assert reading is not None
    np.testing.assert_allclose(reading.position - start, [0.03, -0.006])
    puck = [1, 0.15 * np.sin(2 * 10.06), 1, 0.15 * np.sin(2 * 10.01)]
    np.testing.assert_allclose(reading.obs, [*reading.position, *puck])
    clock.time += 5
    robot.observe()
    np.testing.assert_allclose(robot.position - start, [0.05, -0.01])
    robot.command(np.array([0.5, 0.5]))
    robot.stop()
    clock.time += 0.01
    robot.observe()
    np.testing.assert_allclose(robot.position - start, [0.05, -0.01])


@pytest.mark.needs("onnx", "onnxruntime")
def test_a_soak_has_a_row_of_the_robot_and_one_of_a_loop_that_sleeps(tmp_path: Path) -> None:
    robot, bare = soak(0.5, write_policy(tmp_path / "p.onnx"), "point")
    assert (robot["loop"], bare["loop"], bare["ticks"]) == ("point robot", "bare sleep", 10)
    assert 1 <= robot["ticks"] <= 10
    assert robot.keys() > {"faults", "watchdog_stops", "ended"}
    assert bare["jitter_ms"]["p99"] >= bare["jitter_ms"]["p50"] > 0
    if Path("/proc/self/stat").exists():
        assert min(robot[name] for name in ("loop_pages", "policy_pages", "stolen_seconds")) >= 0


def test_counts_grow_from_before_to_after_a_run() -> None:
    before: Counts = {"loop_pages": 3, "policy_pages": None, "stolen_seconds": 1.1}
    after: Counts = {"loop_pages": 5, "policy_pages": 7, "stolen_seconds": 1.4}
    assert growth(before, after) == {
        "loop_pages": 2, "policy_pages": None, "stolen_seconds": pytest.approx(0.3)
    }  # fmt: skip


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="Linux counts them in /proc")
def test_pages_are_counted_for_processes_that_run() -> None:
    faults = resource.getrusage(resource.RUSAGE_SELF).ru_majflt
    pages = pages_from_disk(os.getpid())
    assert pages is not None
    assert faults <= pages <= resource.getrusage(resource.RUSAGE_SELF).ru_majflt
    assert pages_from_disk(2**30) is None


def test_the_name_of_a_soak_says_what_was_run_and_when() -> None:
    assert soak_name("point", 50, 0.24, "2026-11-20 07:00:00") == (
        "soak, real-time priority 50, point robot, load 0.2, 2026-11-20 07:00:00"
    )
    assert soak_name("simulated", 0, 33, "now") == (
        "soak, ordinary priority, simulated arm, load 33.0, now"
    )


@pytest.mark.parametrize(
    ("changes", "seconds", "text"),
    [
        ({}, 600, "limits kept"),
        ({"missed": 2}, 600, "not kept"),
        ({"missed": 2}, 1200, "limits kept"),
        ({"jitter_ms": {"p99": 5.0}}, 600, "not kept"),
        ({"ended": "policy stalled"}, 600, "not kept"),
    ],
)
def test_a_soak_keeps_its_limits_or_not(changes: dict[str, Any], seconds: float, text: str) -> None:
    row = {
        "loop": "point robot", "ticks": 12000, "missed": 1, "jitter_ms": {"p99": 4.9},
        "ended": "finished",
    }  # fmt: skip
    assert text in verdict([row | changes], seconds)
