"""The protocol of an arm is small, and what it observes is plain."""

from __future__ import annotations

from counterbc.acting.clock import VirtualClock
from counterbc.robots.robot import Robot
from tests.robots.doubles import PointRobot


def test_an_arm_needs_three_methods_only() -> None:
    assert isinstance(PointRobot(VirtualClock()), Robot)
    assert not isinstance(object(), Robot)
