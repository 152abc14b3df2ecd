"""A robot with two joints that follow every command, found by LeRobot like any plugin."""

from .config_fake_robot import FakeRobotConfig as FakeRobotConfig
from .fake_robot import FakeRobot as FakeRobot
