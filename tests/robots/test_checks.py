"""Everything is verified before the arm moves, and the check itself never moves it."""

from __future__ import annotations

from dataclasses import replace
from typing import NoReturn

import numpy as np
import pytest

from counterbc.acting.clock import VirtualClock
from counterbc.data.arrays import Array
from counterbc.robots.calibration import Calibration
from counterbc.robots.checks import Check, check_robot
from counterbc.robots.loop import LoopSettings
from counterbc.robots.robot import Reading
from tests.robots.doubles import PointRobot, ScriptedPolicy

MARKS = np.array([[0.0, 0], [1, 0], [1, 1], [0, 1], [0.5, 0.2]])


class StillRobot(PointRobot):
    """A robot that must not be moved."""

    def command(self, velocity: Array) -> NoReturn:
        raise AssertionError("the arm was moved")


class Bench:
    """A robot and a policy to be checked."""

    def __init__(self) -> None:
        self.clock = VirtualClock()
        self.robot, self.policy = StillRobot(self.clock), ScriptedPolicy(self.clock)
        self.calibration = Calibration.of(100 * MARKS, MARKS)

    def check(self) -> dict[str, Check]:
        checks = check_robot(self.robot, self.policy, LoopSettings(), self.clock, self.calibration)
        return {check.name: check for check in checks}

    def failed(self) -> list[str]:
        return [name for name, check in self.check().items() if not check.is_ok]


def test_a_sound_arm_passes_every_check() -> None:
    checks = Bench().check()
    assert {check.status for check in checks.values()} == {"ok"}
    assert "1 m/s and 13 m/s² per axis" in checks["limits"].text
    assert "answers in 1.00 ms" in checks["policy"].text
    assert "pictures 10.0 ms old" in checks["camera"].text


def test_without_a_calibration_that_check_is_not_made() -> None:
    bench = Bench()
    checks = check_robot(bench.robot, bench.policy, LoopSettings(), bench.clock)
    assert [c.name for c in checks if c.status == "not checked"] == ["calibration"]


def test_an_arm_outside_its_workspace_fails() -> None:
    bench = Bench()
    bench.robot.position = np.array([3.0, 0.0])
    assert bench.failed() == ["position"]


@pytest.mark.parametrize(
    ("delay", "text"),
    [
        (None, "(0.000, 0.000) m, inside the workspace; its age is unknown"),
        (0.01, "(0.000, 0.000) m, inside the workspace"),
        (0.06, "40 of 40 positions had no usable time (position too old); let the driver"),
        (-1.7e9, "40 of 40 positions had no usable time (clock of the position is not"),
    ],
)
def test_positions_have_to_be_new_if_their_time_is_known(delay: float | None, text: str) -> None:
    bench = Bench()
    see = bench.robot.observe

    def observe() -> Reading | None:
        time, reading = bench.clock.now(), see()
        assert reading is not None
        return replace(reading, position_time=None if delay is None else time - delay)

    bench.robot.observe = observe  # type: ignore[method-assign]
    checks = bench.check()
    assert checks["position"].text.startswith(text)
    assert checks["position"].is_ok == (delay in (None, 0.01))
    assert checks["camera"].is_ok


def test_a_lost_camera_fails() -> None:
    bench = Bench()
    bench.robot.lost_at = 0.2
    text = bench.check()["camera"].text
    assert text.endswith(
        " of 40 ticks had no usable picture (camera lost); check camera, light and puck"
    )
    assert "camera" in bench.failed()


def test_a_camera_with_a_long_delay_fails_and_its_delay_is_named() -> None:
    bench = Bench()
    bench.robot.delay = 0.06
    assert "camera" in bench.failed()
    text = bench.check()["camera"].text
    assert "40 of 40 ticks had no usable picture (camera lost): new pictures arrive" in text
    assert "up to 60.0 ms old, of 45 allowed; lower the camera's delay" in text


def test_a_camera_with_another_clock_fails() -> None:
    bench = Bench()
    bench.robot.delay = -1.7e9  # as time.time() gives
    assert "clock of the camera" in bench.check()["camera"].text


def test_a_driver_that_raises_fails_with_a_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> NoReturn:
        raise ConnectionError("no answer")

    bench = Bench()
    monkeypatch.setattr(bench.robot, "observe", fail)
    checks = bench.check()
    assert "the arm's driver failed: no answer" in checks["camera"].text
    assert not checks["position"].is_ok
    monkeypatch.setattr(bench.robot, "stop", fail)
    assert bench.failed() == ["stop"]


@pytest.mark.parametrize(
    ("wrong", "text"),
    [
        ({"obs": [0.0] * 6}, "object has no attribute 'shape"),
        ({"obs": np.array(["a"] * 6)}, "isfinite"),
        ({"time": "now"}, "unsupported operand"),
    ],
)
def test_a_reading_of_other_types_fails_with_a_reason(wrong: dict[str, object], text: str) -> None:
    bench = Bench()
    see = bench.robot.observe

    def observe() -> Reading | None:
        reading = see()
        return reading if reading is None else replace(reading, **wrong)  # type: ignore[arg-type]

    bench.robot.observe = observe  # type: ignore[method-assign]
    assert "the arm's driver failed: " in (camera := bench.check()["camera"].text)
    assert text in camera
    assert bench.failed() == ["position", "sizes", "policy", "camera"]


def test_a_policy_that_answers_nan_fails() -> None:
    bench = Bench()
    bench.policy.act = lambda now: np.array([0.1, np.nan])
    assert bench.failed() == ["policy"]
    assert "not finite" in bench.check()["policy"].text


def test_marks_by_which_the_workspace_is_behind_the_camera_fail() -> None:
    bench = Bench()
    depth = 1 + 1.2 * MARKS[:, :1]  # 0 at x = -0.83, and the workspace begins at -1
    bench.calibration = Calibration.of(100 * MARKS / depth, MARKS)
    assert bench.failed() == ["calibration"]
    assert "behind the camera" in bench.check()["calibration"].text


def test_numbers_that_are_none_fail() -> None:
    bench = Bench()
    bench.robot.nan_at = 0.0
    assert "camera" in bench.failed()


def test_a_policy_for_another_arm_fails() -> None:
    bench = Bench()
    bench.policy.obs_size = 8
    assert bench.failed() == ["sizes", "policy"]
    assert bench.check()["policy"].text.startswith("it was asked nothing, because no reading")


def test_a_stalled_policy_fails() -> None:
    bench = Bench()
    bench.policy.stalls_at = 0.1
    assert bench.failed() == ["policy"]


def test_a_busy_machine_fails() -> None:
    bench = Bench()
    wait = bench.clock.wait_until
    bench.clock.wait_until = lambda due: wait(due + 0.06)  # type: ignore[method-assign]
    assert "rate" in bench.failed()


@pytest.mark.parametrize(
    ("about", "text"),
    [
        ({}, "20 Hz (the policy's file names none), ticks late"),
        ({"rate": "20"}, "20 Hz (as in the demonstrations), ticks late"),
        ({"rate": "19.98"}, "20 Hz (as in the demonstrations), ticks late"),
    ],
)
def test_a_policy_runs_at_the_rate_of_its_demonstrations(about: dict[str, str], text: str) -> None:
    bench = Bench()
    bench.policy.about = about
    assert bench.check()["rate"].text.startswith(text)
    assert bench.failed() == []


@pytest.mark.parametrize("rate", ["10", "50", "0", "NaN"])
def test_a_policy_of_another_rate_fails_and_the_option_is_named(rate: str) -> None:
    bench = Bench()
    bench.policy.about = {"rate": rate}
    assert bench.failed() == ["rate"]
    number = f"{float(rate):g}"
    assert bench.check()["rate"].text == (
        f"the policy learned from demonstrations at {number} Hz, the loop runs at 20 Hz; "
        f"give --rate {number}"
    )


def test_bad_marks_fail() -> None:
    bench = Bench()
    pixels = 100 * MARKS
    pixels[1] += 9
    bench.calibration = Calibration.of(pixels, MARKS)
    assert bench.failed() == ["calibration"]


def test_an_arm_without_a_reading_fails_with_a_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    bench = Bench()
    monkeypatch.setattr(bench.robot, "observe", lambda: None)
    assert "no reading" in bench.check()["position"].text


def test_actions_beyond_the_speed_limit_are_announced() -> None:
    bench = Bench()
    bench.policy.about = {"action_low": "[-3, -1]", "action_high": "[3, 1]"}
    assert bench.check()["actions"].text == "up to 3 m/s, cut at 1 m/s"
