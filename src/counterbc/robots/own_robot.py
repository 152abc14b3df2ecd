"""Robots of users, which only a person may name: module:function."""

from __future__ import annotations

import sys
import warnings
from importlib import import_module
from pathlib import Path

from counterbc.errors import OptionError
from counterbc.files import reason
from counterbc.robots.limits import Limits
from counterbc.robots.robot import Robot

SIMULATED = "simulated"


def connect(name: str) -> Robot:
    """Import a module and call its function, or its class, for a robot."""
    module, _, function = name.partition(":")
    if not module or not function:
        raise OptionError(
            f"the robot is {name!r}; name {SIMULATED}, or a function that returns yours, as in "
            "my_arm:connect"
        )
    path = list(sys.path)
    here = Path.cwd()
    sys.path[:] = [folder for folder in path if Path(folder).resolve() != here]
    try:
        robot = getattr(import_module(module), function)()
    except Exception as error:  # a user's module can raise anything
        raise OptionError(
            f"the robot {name} cannot be reached ({type(error).__name__}: {reason(error)}); "
            "install its module with pip, and check its connection"
        ) from error
    finally:
        sys.path[:] = path
    if not isinstance(robot, Robot):
        raise OptionError(
            f"{name} returned an object of type {type(robot).__name__}; a robot has limits, "
            "observe, command and stop, see docs/robots.md"
        )
    if not isinstance(robot.limits, Limits):
        raise OptionError(
            f"the limits of {name} are of type {type(robot.limits).__name__}; give "
            "counterbc.robots.limits.Limits"
        )
    return robot


def disconnect(robot: Robot) -> None:
    """Call the robot's `close`, if it has one; an error of it is only a warning."""
    close = getattr(robot, "close", None)
    if not callable(close):
        return
    try:
        close()
    except Exception as error:  # a user's module can raise anything
        warnings.warn(f"the robot could not be closed: {reason(error)}", stacklevel=2)
