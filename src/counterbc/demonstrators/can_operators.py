"""Six scripted operators of Can: the expert with the habits of people who teleoperate a robot.

They stand in for the two better, two okay and two worse people of robomimic's Multi-Human file, and
are synthetic: nothing was fitted to a person. Tremor and slips of the thumb are independent from
step to step. A slow tremor would be visible in the hand's position together with the correction
against it, which a policy then does not learn; and a gripper without a single slip lets its σ
vanish (docs/can.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from counterbc.data.arrays import Array
from counterbc.demonstrators.demonstrator import Control, Demonstrator, EpisodeBatch
from counterbc.envs.can.expert import BIN, CARRY, CLEAR, HOVER, OPEN, Scene, target, towards

NEXT = 0.03  # metres from a waypoint at which the next one becomes the aim
PATIENCE = 40  # steps after which it does so wherever the hand is
HIGHER = 0.04  # metres above the aim while passing it, so that the overshoot is visible
TIMING = ((0.012, 0.035), (0.92, 0.97))
"""Ranges of the heights at which people close and open their fingers, the expert's CLOSE_AT and
OPEN_AT. Heights differ by episode, so that a policy is unsure only where people are."""


@dataclass(frozen=True, kw_only=True)
class CanOperator(Demonstrator):
    """An operator by the habits in which they depart from the expert."""

    name: str
    speed: float
    """Largest move per axis."""
    wobble: float = 0.0
    """Standard deviation of the tremor in the action, drawn in each step; half of it in
    rotations."""
    hesitation: float = 0.0
    """Probability per step to let go of the stick, for 5 to 20 steps."""
    overshoot: float = 0.0
    """Metres by which they pass their aim before they come back."""
    regrasp: float = 0.0
    """Probability to open the fingers again after closing them on the can, at most twice."""
    detour: float = 0.0
    """Metres by which they stray from the straight way."""
    fumble: float = 0.0
    """Probability per step that the thumb slips on the gripper's button, for that step."""

    world: ClassVar[str | None] = "can"

    def control(self, batch: EpisodeBatch) -> Control:
        return control_of([Performance(self, int(key)) for key in batch.key])

    def operator(self, number: int) -> str:
        return self.name

    def __str__(self) -> str:
        return self.name


_HABITS = ("speed", "wobble", "hesitation", "overshoot", "regrasp", "detour", "fumble")
_VALUES = {
    "synthetic_better_1": (0.80, 0.06, 0.000, 0.005, 0.00, 0.03, 0.01),
    "synthetic_better_2": (0.70, 0.09, 0.001, 0.005, 0.05, 0.03, 0.015),
    "synthetic_okay_1": (0.62, 0.15, 0.003, 0.010, 0.15, 0.04, 0.02),
    "synthetic_okay_2": (0.57, 0.18, 0.004, 0.020, 0.20, 0.04, 0.02),
    "synthetic_worse_1": (0.60, 0.25, 0.006, 0.030, 0.30, 0.05, 0.03),
    "synthetic_worse_2": (0.54, 0.28, 0.008, 0.030, 0.35, 0.05, 0.03),
}
CAN_OPERATORS: dict[str, CanOperator] = {
    name: CanOperator(name=name, **dict(zip(_HABITS, values, strict=True)))
    for name, values in _VALUES.items()
}


class Performance:
    """One operator in one episode, with all draws from one seed."""

    def __init__(self, operator: CanOperator, seed: int | list[int]) -> None:
        self.operator, self._rng = operator, np.random.default_rng(seed)
        self._timing = [float(self._rng.uniform(*ends)) for ends in TIMING]
        self._pause = 0  # remaining steps of a pause
        self._release = 0  # remaining steps with the fingers open again
        self._new_grasp, self._grasps = False, 0
        self._leg = ""
        self._waypoints: list[Array] = []  # to pass before the expert's own aim
        self._since = 0  # steps on the way to the first of them
        self._grip = OPEN

    def act(self, obs: Array) -> Array:
        """Return the next action: (23,) → (7,)."""
        scene = Scene.of(obs[None])
        place, grip = target(scene, *self._timing)
        self._set_out(scene)
        self._pass_waypoints(scene, place[0])
        if self._lets_go():
            place[0, 2], grip[0] = scene.can[0, 2] + HOVER, OPEN
        action = towards(scene, place, grip, self.operator.speed)[0]
        if self._pauses():
            action[:6], action[6] = 0.0, self._grip
        self._grip = action[6]
        action[6] *= -1 if self._rng.random() < self.operator.fumble else 1
        return np.asarray(np.clip(action + self._wobble(), -1.0, 1.0))

    def _set_out(self, scene: Scene) -> None:
        """Choose the waypoints when a leg begins: to the can, then to the bin."""
        leg = "carry" if scene.grasp[0] == 1 else "reach"
        self._new_grasp = False
        if leg == self._leg or scene.over_bin[0] > 0:
            return
        self._new_grasp = leg == "carry"
        self._leg, self._since = leg, 0
        end = np.array([*BIN, CARRY]) if leg == "carry" else scene.can[0] + [0, 0, HOVER]
        begin = np.array([*scene.hand[0, :2], CARRY]) if leg == "carry" else scene.hand[0]
        way = end - begin
        stray = self._rng.normal(size=3) * [1, 1, 0.5] * self.operator.detour
        past = way[:2] / max(np.hypot(*way[:2]), 1e-9) * self.operator.overshoot
        far = np.hypot(*way[:2]) > 0.1  # people do not stray on a short way
        points = [begin + 0.5 * way + stray] if far and self.operator.detour else []
        points += [end + np.append(past, HIGHER)] if self.operator.overshoot else []
        self._waypoints = [np.array([*p[:2], max(p[2], end[2])]) for p in points]

    def _pass_waypoints(self, scene: Scene, place: Array) -> None:
        """Aim for the next waypoint, if there is one, from a safe height."""
        if not self._waypoints or (self._leg == "carry" and scene.hand[0, 2] < CLEAR[1]):
            return
        self._since += 1
        if np.linalg.norm(self._waypoints[0] - scene.hand[0]) < NEXT or self._since > PATIENCE:
            self._waypoints.pop(0)
            self._since = 0
        if self._waypoints:
            place[:] = self._waypoints[0]

    def _lets_go(self) -> bool:
        """Return whether the fingers open again, on a can that they have just grasped."""
        if self._new_grasp and self._grasps < 2:
            self._grasps += 1
            if self._rng.random() < self.operator.regrasp:
                self._release = 13
        self._release = max(0, self._release - 1)
        return self._release > 0

    def _pauses(self) -> bool:
        if self._pause == 0 and self._rng.random() < self.operator.hesitation:
            self._pause = int(self._rng.integers(5, 21))
        self._pause = max(0, self._pause - 1)
        return self._pause > 0

    def _wobble(self) -> Array:
        size = self.operator.wobble * np.array([1, 1, 1, 0.5, 0.5, 0.5])
        return np.append(self._rng.normal(size=6) * size, 0.0)


def control_of(performances: Sequence[Performance]) -> Control:
    """Return the control of N episodes, one performance each; it ignores the expert's actions."""

    def act(obs: Array, best: Array, t: int) -> Array:
        pairs = zip(performances, obs, strict=True)
        return np.stack([performance.act(one_obs) for performance, one_obs in pairs])

    return act
