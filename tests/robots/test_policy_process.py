"""A policy in its own process: its stall, its end and its late answers are noticed."""

from __future__ import annotations

import os
import select
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from counterbc.acting.clock import VirtualClock, WallClock
from counterbc.data.arrays import Array
from counterbc.errors import DataError, FormatError
from counterbc.robots.decider import Decision
from counterbc.robots.loop import Loop, LoopSettings
from counterbc.robots.policy_process import PolicyProcess
from counterbc.robots.robot import Reading
from counterbc.robots.tick_log import TickLog
from tests.robots.doubles import PointRobot, write_policy

pytestmark = pytest.mark.needs("onnx", "onnxruntime")
LONG = 60.0  # seconds; machines may be busy


@pytest.fixture
def process(tmp_path: Path) -> Iterator[PolicyProcess]:
    policy = PolicyProcess(write_policy(tmp_path / "p.onnx"))
    yield policy
    policy.close()


def ask(process: PolicyProcess, tick: int, value: float, seconds: float = LONG) -> Decision | None:
    process.ask(tick, np.full(6, value), tick == 0)
    return process.answer(tick, WallClock().now() + seconds)


def test_it_answers_and_knows_its_file(process: PolicyProcess) -> None:
    assert (process.obs_size, process.action_size) == (6, 2)
    assert process.about["method"] == "by hand"
    for tick in range(20):
        decision = ask(process, tick, float(tick))
        assert decision is not None
        assert decision.action.tolist() == [tick, tick]
        assert decision.seconds > 0


def test_a_stalled_policy_gives_no_answer_and_its_late_one_is_dropped(
    process: PolicyProcess,
) -> None:
    os.kill(process.process_id, signal.SIGSTOP)
    assert ask(process, 1, 1.0, 0.02) is None
    assert ask(process, 2, 2.0, 0.02) is None
    assert process.is_running
    os.kill(process.process_id, signal.SIGCONT)
    decision, tick, end = None, 3, time.monotonic() + LONG
    while decision is None and time.monotonic() < end:  # the late answer is still to come
        time.sleep(0.01)
        decision, tick = ask(process, tick, float(tick), 0.02), tick + 1
    assert decision is not None
    assert decision.action.tolist() == [tick - 1, tick - 1]


def test_an_answer_of_the_last_run_is_not_taken_for_one_of_this_run(
    process: PolicyProcess,
) -> None:
    os.kill(process.process_id, signal.SIGSTOP)
    assert ask(process, 3, 1.0, 0.02) is None
    process.ask(3, np.full(6, 2.0), True)  # the next run counts from 0 again
    os.kill(process.process_id, signal.SIGCONT)
    assert process.answer(3, WallClock().now() + 0.5) is None
    decision, end = None, time.monotonic() + LONG
    while decision is None and time.monotonic() < end:
        time.sleep(0.01)
        decision = ask(process, 3, 2.0, 0.02)
    assert decision is not None
    assert decision.action.tolist() == [2, 2]


def test_an_answer_that_waits_in_the_pipe_after_its_time_is_dropped(
    process: PolicyProcess,
) -> None:
    clock = VirtualClock()
    process.clock = clock
    process.ask(1, np.full(6, 1.0), True)
    assert select.select([process._answers], [], [], LONG)[0]
    clock.time = 2.0  # the loop was frozen meanwhile
    assert process.answer(1, 1.0) is None
    process.ask(2, np.full(6, 2.0), False)
    decision = process.answer(2, clock.time + LONG)
    assert decision is not None
    assert decision.action.tolist() == [2, 2]


def test_an_observation_of_another_shape_is_refused(process: PolicyProcess) -> None:
    with pytest.raises(DataError, match=r"shape \(5,\); the policy reads \(6,\)"):
        process.ask(1, np.zeros(5), True)
    assert ask(process, 2, 2.0) is not None


def test_modules_in_the_current_folder_are_not_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "numpy.py").write_text("raise SystemExit('ran')")
    monkeypatch.chdir(tmp_path)
    policy = PolicyProcess(write_policy(tmp_path / "p.onnx"))
    assert ask(policy, 0, 1.0) is not None
    policy.close()


def test_a_killed_policy_is_known_to_have_ended(process: PolicyProcess) -> None:
    os.kill(process.process_id, signal.SIGKILL)
    process._process.wait()
    assert ask(process, 1, 1.0) is None
    assert not process.is_running


def test_a_stopped_process_can_still_be_closed(process: PolicyProcess) -> None:
    os.kill(process.process_id, signal.SIGSTOP)
    process.close()
    assert not process.is_running


def test_a_file_that_is_no_policy_is_refused(tmp_path: Path) -> None:
    (tmp_path / "p.onnx").write_bytes(b"nonsense")
    with pytest.raises(FormatError, match="counterbc export"):
        PolicyProcess(tmp_path / "p.onnx")


class FaultyRobot(PointRobot):
    """A robot that calls a function at its n-th command."""

    def __init__(self, number: int, fault: object) -> None:
        super().__init__(WallClock())
        self.number, self.fault, self.delay = number, fault, 0.0

    def command(self, velocity: Array) -> None:
        super().command(velocity)
        if len(self.commands) == self.number and callable(self.fault):
            self.fault()


@pytest.mark.parametrize(
    ("number", "ended"), [(signal.SIGSTOP, "policy stalled"), (signal.SIGKILL, "policy ended")]
)
def test_a_real_stall_stops_the_arm_in_the_next_tick(
    process: PolicyProcess, number: int, ended: str
) -> None:
    def hurt() -> None:
        os.kill(process.process_id, number)
        if number == signal.SIGKILL:
            process._process.wait()

    robot = FaultyRobot(5, hurt)
    log = TickLog(None, {})
    settings = LoopSettings(patience=100, oldest=1000.0, budget=0.9)
    loop = Loop(robot, process, log, settings=settings)
    summary = loop.run(LONG)
    # a busy machine may add "; 100 of the last 105 ticks were faulty"
    assert summary["ended"].partition(";")[0] == ended
    assert len(robot.commands) == 5, "the arm moved after the fault"
    sent = robot.commands[-1][0] - loop.start  # a busy machine may add faults before
    after = [t for t in log.ticks if t.due + t.late > sent]
    assert after
    assert {(t.fault, t.velocity) for t in after} == {(ended, (0.0, 0.0))}


class OverflowingRobot(FaultyRobot):
    """A robot that observes finite numbers at which the policy's 32-bit numbers overflow."""

    scale = 1.0

    def observe(self) -> Reading | None:
        reading = super().observe()
        assert reading is not None
        return Reading(np.full(6, self.scale), reading.position, reading.time)


def test_a_policy_that_answers_nan_in_the_middle_of_a_run_stops_the_arm(
    process: PolicyProcess,
) -> None:
    def overflow() -> None:
        robot.scale = 1e300

    robot = OverflowingRobot(5, overflow)
    log = TickLog(None, {})
    settings = LoopSettings(oldest=1000.0, budget=0.9, patience=10**6)  # the machine may be busy
    summary = Loop(robot, process, log, settings=settings).run(LONG)
    assert summary["ended"] == "action not finite"
    assert summary["is_stopped"]
    assert len(robot.commands) == 5, "the arm moved after the fault"
    assert robot.stops[-1] >= robot.commands[-1][0]
    last = log.ticks[-1]
    assert last.action is not None
    assert np.isnan(last.action).all()
    assert last.velocity == (0.0, 0.0)
    assert not any(np.isnan(t.action).any() for t in log.ticks[:-1] if t.action is not None)


def test_a_policy_that_answers_nan_stops_the_arm(tmp_path: Path) -> None:
    policy = PolicyProcess(write_policy(tmp_path / "p.onnx", divide_by=0.0))
    robot = PointRobot(WallClock())
    settings = LoopSettings(oldest=1000.0, patience=10**6)  # the machine may be busy
    summary = Loop(robot, policy, TickLog(None, {}), settings=settings).run(LONG)
    policy.close()
    assert summary["ended"] == "action not finite"
    assert not robot.commands
