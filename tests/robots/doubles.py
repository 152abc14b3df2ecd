"""Robots and policies for tests, on a clock that stands still until something waits."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from counterbc.acting.clock import Clock, VirtualClock
from counterbc.data.arrays import Array
from counterbc.robots.decider import Decision
from counterbc.robots.emergency_stop import EmergencyStop
from counterbc.robots.limits import Limits
from counterbc.robots.loop import Loop, LoopSettings
from counterbc.robots.robot import Reading
from counterbc.robots.tick_log import TickLog

LIMITS = Limits(low=(-1.0, -0.5), high=(1.0, 0.5))
PERIOD = 0.05


class PointRobot:
    """A point that moves as commanded for two periods, with a camera that can be lost."""

    limits = LIMITS

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.position, self.velocity, self.moved_at = np.zeros(2), np.zeros(2), clock.now()
        self.expires_at = np.inf
        self.commands: list[tuple[float, Array]] = []
        self.stops: list[float] = []
        self.lost_at, self.nan_at = np.inf, np.inf
        self.delay = 0.01

    def observe(self) -> Reading | None:
        now = self.clock.now()
        self._move(now)
        obs = np.concatenate([self.position, np.zeros(4)])
        if now >= self.nan_at:
            obs[3] = np.nan
        return Reading(obs, self.position.copy(), min(now - self.delay, self.lost_at))

    def command(self, velocity: Array) -> None:
        self._move(self.clock.now())
        self.velocity, self.expires_at = velocity, self.clock.now() + 2 * PERIOD
        self.commands.append((self.clock.now(), velocity))

    def stop(self) -> None:
        self._move(self.clock.now())
        self.velocity = np.zeros(2)
        self.stops.append(self.clock.now())

    def stands_from(self) -> float:
        """Return when it was stopped after its last command."""
        last = self.commands[-1][0] if self.commands else -np.inf
        return min(time for time in self.stops if time >= last)

    def _move(self, now: float) -> None:
        seconds = max(min(now, self.expires_at) - self.moved_at, 0.0)
        self.position = self.position + self.velocity * seconds
        self.moved_at = now
        if now > self.expires_at:
            self.velocity = np.zeros(2)


class ScriptedPolicy:
    """A policy that answers with a function of the time, and stalls or ends when asked to."""

    obs_size, action_size = 6, 2

    def __init__(self, clock: Clock, act: Callable[[float], Array] | None = None) -> None:
        self.clock = clock
        self.act = act or (lambda time: np.array([0.5 * np.sin(3 * time), 0.2]))
        self.stalls_at, self.resumes_at, self.ends_at = np.inf, np.inf, np.inf
        self.about = {"lag": "[2.0]"}
        self.firsts: list[bool] = []

    def ask(self, tick: int, obs: Array, is_first: bool) -> None:
        self.firsts.append(is_first)

    def answer(self, tick: int, until: float) -> Decision | None:
        now = self.clock.now()
        if self.stalls_at <= now < self.resumes_at or not self.is_running:
            self.clock.wait_until(until)
            return None
        self.clock.wait_until(now + 0.001)
        return Decision(self.act(now), 0.001) if self.clock.now() <= until else None

    @property
    def is_running(self) -> bool:
        return self.clock.now() < self.ends_at

    def close(self) -> None: ...


class Bench:
    """A loop with a robot and a policy on a virtual clock."""

    def __init__(self, **settings: float) -> None:
        self.clock = VirtualClock(100.0)
        self.robot, self.policy = PointRobot(self.clock), ScriptedPolicy(self.clock)
        self.log, self.stop = TickLog(None, {}), EmergencyStop()
        self.loop = Loop(
            self.robot, self.policy, self.log, clock=self.clock, stop=self.stop,
            settings=LoopSettings(**settings),  # type: ignore[arg-type]  # patience is a whole one
        )  # fmt: skip


def freeze_at(bench: Bench, name: str, time: float, seconds: float) -> None:
    """Let one call of the robot or the policy return late."""
    target = bench.policy if name == "answer" else bench.robot
    usual, calls = getattr(target, name), list[float]()

    def slow(*arguments: object) -> object:
        result = usual(*arguments)
        if bench.clock.now() >= time and not calls:
            calls.append(bench.clock.now())
            bench.clock.time += seconds
        return result

    setattr(target, name, slow)


def write_policy(
    path: Path, *, divide_by: float = 1.0, obs_size: int = 6, facts: dict[str, str] | None = None
) -> Path:
    """Write an ONNX file whose action is the first two observed numbers over a constant."""
    from onnx import TensorProto, helper, numpy_helper

    weights = np.zeros((obs_size, 2), np.float32)
    weights[0, 0] = weights[1, 1] = 1
    shapes: dict[str, list[str | int | None]] = {"obs": ["batch", obs_size], "action": ["batch", 2]}
    values = {
        name: helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
        for name, shape in shapes.items()
    }
    constants = {"W": weights, "c": np.array(divide_by, np.float32)}
    graph = helper.make_graph(
        [
            helper.make_node("MatMul", ["obs", "W"], ["y"]),
            helper.make_node("Div", ["y", "c"], ["action"]),
        ],
        "policy", [values["obs"]], [values["action"]],
        [numpy_helper.from_array(array, name) for name, array in constants.items()],
    )  # fmt: skip
    opsets = [helper.make_opsetid("", 17)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=8)
    helper.set_model_props(model, facts or {"lag": "[2.0]", "method": "by hand"})
    path.write_bytes(model.SerializeToString())
    return path
