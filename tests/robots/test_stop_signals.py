"""A signal ends a run with its own name, and never raises an error inside a driver's call."""

from __future__ import annotations

import signal
import threading

import numpy as np
import pytest

from counterbc.acting.clock import VirtualClock
from counterbc.data.arrays import Array
from counterbc.files import interrupts
from counterbc.robots.emergency_stop import EmergencyStop
from counterbc.robots.loop import STOPS, Loop
from counterbc.robots.stop_signals import signal_of, stopped_by_signals
from counterbc.robots.tick_log import TickLog
from tests.robots.doubles import PointRobot, ScriptedPolicy

NUMBERS = {
    signal.SIGINT: "stopped by Ctrl-C",
    signal.SIGTERM: "stopped by SIGTERM",
    signal.SIGHUP: "stopped by SIGHUP",
    signal.SIGTSTP: "stopped by Ctrl-Z",
    signal.SIGQUIT: "stopped by Ctrl-\\",
}


class SignalledRobot(PointRobot):
    """A robot that gets a signal in the middle of a command."""

    number = signal.SIGINT
    commands_finished, stops_finished = 0, 0

    def command(self, velocity: Array) -> None:
        if len(self.commands) == 4:
            signal.raise_signal(self.number)
        super().command(velocity)
        self.commands_finished += 1

    def stop(self) -> None:
        super().stop()
        self.stops_finished += 1


class HangingRobot(PointRobot):
    """A robot with calls that do not return, whatever signals come."""

    signals_in_command, signals_in_stop = 0, 0

    def command(self, velocity: Array) -> None:
        super().command(velocity)
        while len(self.commands) == 5 and self.signals_in_command < 50:
            self.signals_in_command += 1
            signal.raise_signal(signal.SIGTERM)

    def stop(self) -> None:
        while len(self.commands) == 5 and self.signals_in_stop < 2:  # the next stop works
            self.signals_in_stop += 1
            signal.raise_signal(signal.SIGINT)
        super().stop()


@pytest.mark.parametrize("number", NUMBERS)
def test_a_signal_in_a_drivers_call_stops_the_arm_after_that_call(number: signal.Signals) -> None:
    clock = VirtualClock()
    robot = SignalledRobot(clock)
    robot.number = number
    before = {n: signal.getsignal(n) for n in NUMBERS}
    summary = Loop(robot, ScriptedPolicy(clock), TickLog(None, {}), clock=clock).run(3.0)
    assert summary["ended"] == NUMBERS[number]
    assert signal_of(summary["ended"]) == number
    assert robot.commands_finished == len(robot.commands) == 5
    assert robot.stops_finished == len(robot.stops)
    assert robot.stands_from() == robot.commands[-1][0], "in the same tick"
    assert not np.any(robot.velocity)
    assert not interrupts, "errors after the run are no interrupts"
    assert {n: signal.getsignal(n) for n in NUMBERS} == before


def test_a_second_signal_ends_a_drivers_call_that_does_not_return() -> None:
    clock = VirtualClock()
    robot = HangingRobot(clock)
    before = {n: signal.getsignal(n) for n in NUMBERS}
    summary = Loop(robot, ScriptedPolicy(clock), TickLog(None, {}), clock=clock).run(3.0)
    assert robot.signals_in_command == 2
    assert summary["ended"] == NUMBERS[signal.SIGTERM]
    assert len(robot.commands) == 5
    assert not np.any(robot.velocity)
    assert {n: signal.getsignal(n) for n in NUMBERS} == before


class InterruptedStop(PointRobot):
    """A robot that is signalled while the loop waits, and in every later stop before it acts."""

    signals = 1

    def stop(self) -> None:
        if self.signals > 0:
            self.signals -= 1
            signal.raise_signal(signal.SIGINT)
        super().stop()


def interrupt_while_waiting(robot: PointRobot, clock: VirtualClock, time: float) -> None:
    """Send a signal while the loop waits for the tick at a time."""
    wait = clock.wait_until

    def press(due: float) -> None:
        wait(due)
        if abs(due - time) < 1e-9:
            signal.raise_signal(signal.SIGINT)

    clock.wait_until = press  # type: ignore[method-assign]


@pytest.mark.parametrize("count", [1, 3, 7])
def test_signals_in_the_last_stop_do_not_leave_the_arm_moving(count: int) -> None:
    clock = VirtualClock()
    robot = InterruptedStop(clock)
    robot.signals = count
    interrupt_while_waiting(robot, clock, 0.5)
    summary = Loop(robot, ScriptedPolicy(clock), TickLog(None, {}), clock=clock).run(3.0)
    assert robot.commands, "the arm moved"
    assert not np.any(robot.velocity)
    assert summary["is_stopped"]
    assert summary["ended"] == NUMBERS[signal.SIGINT]


def test_an_arm_that_no_call_stops_is_not_called_standing() -> None:
    clock = VirtualClock()
    robot, calls = PointRobot(clock), list[float]()

    def fail() -> None:
        calls.append(clock.now())
        raise ConnectionError("no answer")

    robot.stop = fail  # type: ignore[method-assign]
    interrupt_while_waiting(robot, clock, 0.5)
    summary = Loop(robot, ScriptedPolicy(clock), TickLog(None, {}), clock=clock).run(3.0)
    assert np.any(robot.velocity)
    assert len(calls) == STOPS
    assert not summary["is_stopped"]
    assert summary["ended"] == "stopped by Ctrl-C; the arm could not be stopped: no answer"
    assert signal_of(summary["ended"]) == signal.SIGINT


def test_signals_after_the_last_stop_raise_nothing_and_the_log_is_finished() -> None:
    clock, log = VirtualClock(), TickLog(None, {})
    loop = Loop(PointRobot(clock), ScriptedPolicy(clock), log, clock=clock)
    finish, summaries = log.finish, list[object]()

    def signalled(summary: dict[str, object]) -> None:
        for _ in range(4):
            signal.raise_signal(signal.SIGINT)
        finish(summary)
        summaries.append(summary)

    log.finish = signalled  # type: ignore[method-assign, assignment]
    assert loop.run(0.5)["is_stopped"]
    assert len(summaries) == 1


def test_ignored_signals_stay_ignored() -> None:
    stop, before = EmergencyStop(), signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with stopped_by_signals(stop):
            signal.raise_signal(signal.SIGHUP)
    finally:
        signal.signal(signal.SIGHUP, before)
    assert not stop.is_pressed


def test_other_threads_get_no_signals_and_may_run_an_arm() -> None:
    entered = list[bool]()

    def run() -> None:
        with stopped_by_signals(EmergencyStop()):
            entered.append(True)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert entered == [True]


def test_other_ends_are_not_by_a_signal() -> None:
    assert signal_of("finished") is None
