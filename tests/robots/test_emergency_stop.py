"""An emergency stop keeps its first reason until a person resets it."""

from __future__ import annotations

import re
import sys
from contextlib import suppress
from pathlib import Path
from types import ModuleType

import pytest

from counterbc.data.arrays import Array
from counterbc.robots.emergency_stop import EmergencyStop
from counterbc.robots.tick_log import read_log
from tests.robots.doubles import Bench, write_policy


def test_the_first_reason_stays() -> None:
    stop = EmergencyStop()
    assert not stop.is_pressed
    stop.press("camera lost")
    stop.press("another")
    assert (stop.is_pressed, stop.reason) == (True, "camera lost")
    stop.reset()
    assert not stop.is_pressed


def test_a_press_stops_the_arm_at_once_even_if_that_fails() -> None:
    stops = list[str]()

    def fail() -> None:
        stops.append("tried")
        raise ConnectionError("no answer")

    stop = EmergencyStop(fail)
    stop.latch("a signal")
    assert (stop.is_pressed, stops) == (True, [])
    stop.press("a person")
    assert (stop.reason, stops) == ("a signal", ["tried"])


def test_a_press_without_a_reason_still_stops() -> None:
    stop = EmergencyStop()
    stop.press("")
    assert stop.is_pressed


def test_arms_are_stopped_before_the_callback_whatever_fails() -> None:
    calls = list[str]()

    def fail(name: str, error: BaseException) -> None:
        calls.append(name)
        raise error

    stop = EmergencyStop(lambda: fail("relay", OSError("no relay")))
    with (
        stop.stopping(lambda: fail("left arm", KeyboardInterrupt())),
        stop.stopping(lambda: fail("right arm", ConnectionError("no answer"))),
    ):
        stop.press("a person")
    assert calls == ["right arm", "left arm", "relay"]
    stop.press("again")
    assert calls[3:] == ["relay"]


def test_a_press_stops_the_arm_and_then_calls_what_the_user_gave() -> None:
    bench, calls = Bench(), list[str]()
    stop_arm, usual = bench.robot.stop, bench.policy.act

    def fail_once() -> None:
        stop_arm()
        if bench.stop.is_pressed and not calls:
            calls.append("arm")
            raise ConnectionError("no answer")

    def cut_power() -> None:
        calls.append("relay")

    def act(now: float) -> Array:
        if now > 100.5:
            bench.stop.press("a person")
        return usual(now)

    bench.policy.act, bench.stop.on_press = act, cut_power
    bench.robot.stop = fail_once  # type: ignore[method-assign]
    assert bench.loop.run(5.0)["ended"] == "a person"
    assert calls == ["arm", "relay"]
    bench.stop.press("after the run")
    assert calls == ["arm", "relay", "relay"]


ARM = """
from counterbc.acting.clock import WallClock
from tests.robots.doubles import PointRobot

calls, buttons = [], []
on_button = buttons.append

def cut_power():
    calls.append("power")

class Arm(PointRobot):
    def command(self, velocity):
        super().command(velocity)
        buttons[-1]()  # a person presses it at the first command

    def close(self):
        calls.append("close")

def connect():
    return Arm(WallClock())
"""


@pytest.mark.needs("onnx", "onnxruntime")
def test_the_example_with_a_button_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = (Path(__file__).parents[2] / "docs" / "robots.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    (block,) = [block for block in blocks if "EmergencyStop(" in block]
    module = ModuleType("my_arm")
    exec(ARM, module.__dict__)  # what it defines is above
    monkeypatch.setitem(sys.modules, "my_arm", module)
    monkeypatch.chdir(tmp_path)
    write_policy(tmp_path / "run.onnx")
    for _ in range(20):  # a check may fail on a busy machine
        with suppress(SystemExit):
            exec(block, {})  # the page's own code
            break
    assert capsys.readouterr().out == "button - the arm stands\n"
    assert module.calls[-2:] == ["power", "close"]
    header, ticks, summary = read_log(tmp_path / "robot.jsonl")
    assert header["robot"] == "my arm"
    assert sum(any(tick["velocity"]) for tick in ticks) == 0, "the command was taken back"
    assert summary is not None
    assert summary["ended"] == "button"
