"""Making environments of worlds and of any gymnasium id, and explaining why one cannot be made."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from counterbc.envs.registry import WORLDS, find_id, recorded_env, register
from counterbc.errors import CounterBCError, OptionError, unknown
from counterbc.files import reason

if TYPE_CHECKING:
    from gymnasium import Env
    from gymnasium.vector import VectorEnv

_Made = TypeVar("_Made", bound="Env[Any, Any] | VectorEnv[Any, Any, Any]")


def make_vec(env: str, num_envs: int, **kwargs: Any) -> VectorEnv[Any, Any, Any]:
    """Make a vector environment of a world or any gymnasium id, native where there is one."""
    import gymnasium

    with _making(env) as env_id:
        return gymnasium.make_vec(env_id, num_envs, **kwargs)


def make(env: str, **kwargs: Any) -> Env[Any, Any]:
    """Make one environment of a world or any gymnasium id."""
    import gymnasium

    with _making(env) as env_id:
        return gymnasium.make(env_id, **kwargs)


def reason_not_made(env: str, *, is_typed: bool) -> str:
    """Return why an environment cannot be made on this machine; empty where it can.

    `is_typed` says whether a person named it; a file may not choose a module to import.
    """
    try:
        make_and_close(env, lambda: make(env), is_typed=is_typed)
    except CounterBCError as error:
        return str(error)
    return ""


def make_and_close(env: str, attempt: Callable[[], _Made], *, is_typed: bool) -> _Made:
    """Return the environment that an attempt makes, closed, to read its spaces.

    Whatever the environment's own code raises becomes a sentence.
    """
    if not is_typed:
        recorded_env(env, "the dataset")
    try:
        made = attempt()
        made.close()
    except CounterBCError:
        raise
    except Exception as error:  # of somebody else's constructor
        text = f"{env} fails with {type(error).__name__}: {reason(error)}"
        raise CounterBCError(text) from error
    return made


@contextmanager
def _making(env: str) -> Iterator[str]:
    """Yield the gymnasium id of an environment, and explain why one cannot be made."""
    from gymnasium import error
    from gymnasium.envs.registration import parse_env_id

    register()
    env_id = find_id(env)
    try:
        parse_env_id(env_id.rpartition(":")[2])
    except error.Error:  # a malformed id; gymnasium has no narrower class for it
        raise unknown("environment", env, [*WORLDS, "or any gymnasium id"]) from None
    try:
        with _imports_only_installed(":" in env_id):
            yield env_id
    except (error.UnregisteredEnv, error.DeprecatedEnv, ModuleNotFoundError) as problem:
        raise _not_found(env, problem) from None
    except error.DependencyNotInstalled as problem:
        raise CounterBCError(f"environment {env!r} cannot be made: {problem}") from None


PACKAGES = {
    "gymnasium_robotics": ("AdroitHand", "Fetch", "HandManipulate", "HandReach", "FrankaKitchen",
                           "PointMaze", "AntMaze"),
    "gym_pusht": ("gym_pusht/",),
    "gym_aloha": ("gym_aloha/",),
    "gym_xarm": ("gym_xarm/",),
    "panda_gym": ("Panda",),
    "metaworld": ("Meta-World/",),
}  # fmt: skip
"""Packages that register environments with gymnasium, and how the names of these begin."""


def _not_found(env: str, problem: Exception) -> OptionError:
    """Return the error of an environment that is not registered, with the package that is missing
    where it is known."""
    module = env.rpartition(":")[0]
    if module and isinstance(problem, ModuleNotFoundError):
        if os.path.exists(f"{module}.py"):
            return OptionError(
                f"environment {env!r}: nothing is imported from the current folder, where "
                f"{module}.py lies; move it into another folder, and name that in PYTHONPATH: "
                f"mkdir modules && mv {module}.py modules && export PYTHONPATH=$PWD/modules"
            )
        return OptionError(
            f"environment {env!r} needs the package {module}, which is not installed; "
            f"pip install {module.replace('_', '-')}"
        )
    text = f"or any gymnasium id ({problem})"
    for package, beginnings in PACKAGES.items():
        if not module and env.startswith(beginnings):
            text += f"; name the package that registers it: {package}:{env}"
            return unknown("environment", env, [*WORLDS, text])
    if not module:
        text += "; name the package that registers it, as in gymnasium_robotics:FetchReach-v4"
    return unknown("environment", env, [*WORLDS, text])


@contextmanager
def _imports_only_installed(active: bool) -> Iterator[None]:
    """Import nothing from the current folder, which may hold files of other people."""
    paths = list(sys.path)
    if active:
        here = os.getcwd()
        sys.path[:] = [p for p in paths if p and os.path.realpath(p) != os.path.realpath(here)]
    try:
        yield
    finally:
        sys.path[:] = paths
