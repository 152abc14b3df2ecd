"""The options of the fake robot."""

from dataclasses import dataclass

from lerobot.robots import RobotConfig


@RobotConfig.register_subclass("fake_robot")
@dataclass
class FakeRobotConfig(RobotConfig):
    """A robot that writes what it observes and what it is sent to a file."""

    log: str = ""
    """A file of JSON lines: observation, action."""
