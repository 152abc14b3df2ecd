"""A robot of the user's is found by its name, and refused with a sentence."""

from __future__ import annotations

from pathlib import Path

import pytest

from counterbc.acting.clock import VirtualClock
from counterbc.errors import OptionError
from counterbc.robots.own_robot import connect, disconnect
from tests.robots.doubles import PointRobot

MODULE = """
from counterbc.acting.clock import WallClock
from tests.robots.doubles import PointRobot

def arm():
    return PointRobot(WallClock())

def number():
    return 3

def unlimited():
    robot = arm()
    robot.limits = {"speed": 1.0}
    return robot

def broken():
    raise ConnectionError("no answer")
"""


@pytest.fixture(autouse=True)
def _module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "my_arm_module.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)


def test_a_function_returns_the_robot() -> None:
    assert connect("my_arm_module:arm").limits.speed == 1.0


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("franka", "name simulated"),
        ("my_arm_module:number", "returned an object of type int"),
        ("my_arm_module:unlimited", "limits of my_arm_module:unlimited are of type dict; give"),
        ("my_arm_module:broken", "no answer"),
        ("no_such_module:arm", "install its module"),
        ("my_arm_module:missing", "cannot be reached"),
    ],
)
def test_what_is_no_robot_is_refused(name: str, text: str) -> None:
    with pytest.raises(OptionError, match=text):
        connect(name)


@pytest.mark.parametrize("entry", ["", ".", "../here", "absolute"])
def test_modules_of_the_current_folder_are_not_imported(
    entry: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / "planted_arm.py").write_text("raise SystemExit('ran')")
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.syspath_prepend(str(tmp_path / "here") if entry == "absolute" else entry)
    with pytest.raises(OptionError, match="No module"):
        connect("planted_arm:arm")


def test_a_robot_with_a_close_is_closed_and_one_without_is_fine() -> None:
    robot, calls = PointRobot(VirtualClock()), list[str]()
    disconnect(robot)
    robot.close = lambda: calls.append("closed")  # type: ignore[attr-defined]
    disconnect(robot)
    assert calls == ["closed"]


def test_a_close_that_fails_is_a_warning() -> None:
    def fail() -> None:
        raise ConnectionError("no answer")

    robot = PointRobot(VirtualClock())
    robot.close = fail  # type: ignore[attr-defined]
    with pytest.warns(UserWarning, match="the robot could not be closed: no answer"):
        disconnect(robot)
