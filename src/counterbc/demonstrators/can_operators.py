"""Six scripted operators: the expert with the habits of people who steer a robot from a distance.

They stand in for the two better, two okay and two worse people of robomimic's Multi-Human file, and
are synthetic: nothing was fitted to a person. Tremor and slips of the thumb are new in each step. A
slow tremor is seen in the hand's place together with what goes against the steering back, which a
policy then does not learn; and a gripper without a single slip lets its σ vanish (docs/can.md).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from counterbc.envs.can.expert import BIN, CARRY, CLEAR, HOVER, OPEN, Seen, target, towards

Array = NDArray[Any]

NEXT = 0.03  # metres from a point on the way at which the next one is aimed at
PATIENCE = 40  # steps after which it is, wherever the hand is
HIGHER = 0.04  # metres that they are too high when they pass their aim, so that it can be seen
TIMING = ((0.012, 0.035), (0.92, 0.97))
"""Between which heights people close and open their fingers, as `can_expert.CLOSE_AT, OPEN_AT`. It
differs by episode, so that a policy is unsure only where people are."""


@dataclass(frozen=True)
class Operator:
    """How someone departs from the expert."""

    name: str
    speed: float
    """The largest move per axis that they dare."""
    wobble: float
    """Size of a tremor, new in each step, in the action; half as much in rotations."""
    hesitation: float
    """Chance per step to let go of the stick, for 5 to 20 steps."""
    overshoot: float
    """Metres by which they pass what they aim for, then come back."""
    regrasp: float
    """Chance to open the fingers again after closing them on the can, at most twice."""
    detour: float
    """Metres by which they stray from the straight way."""
    fumble: float
    """Chance per step that the thumb slips on the gripper's button, for that step."""


OPERATORS: dict[str, Operator] = {
    o.name: o
    for o in (
        Operator("synthetic_better_1", 0.80, 0.06, 0.000, 0.005, 0.00, 0.03, 0.01),
        Operator("synthetic_better_2", 0.70, 0.09, 0.001, 0.005, 0.05, 0.03, 0.015),
        Operator("synthetic_okay_1", 0.62, 0.15, 0.003, 0.010, 0.15, 0.04, 0.02),
        Operator("synthetic_okay_2", 0.57, 0.18, 0.004, 0.020, 0.20, 0.04, 0.02),
        Operator("synthetic_worse_1", 0.60, 0.25, 0.006, 0.030, 0.30, 0.05, 0.03),
        Operator("synthetic_worse_2", 0.54, 0.28, 0.008, 0.030, 0.35, 0.05, 0.03),
    )
}


class Performance:
    """One operator in one episode; all chances come from the seed."""

    def __init__(self, operator: Operator, seed: int | list[int]) -> None:
        self.operator, self._rng = operator, np.random.default_rng(seed)
        self._timing = [float(self._rng.uniform(*ends)) for ends in TIMING]
        self._paused = 0  # steps that a pause still lasts
        self._again = 0  # steps that letting go still lasts
        self._grasped, self._grasps = False, 0
        self._leg = ""
        self._way: list[Array] = []  # points to pass before the expert's own aim
        self._since = 0  # steps on the way to the first of them
        self._grip = OPEN

    def act(self, obs: Array) -> Array:
        """(23,) → (7,)."""
        seen = Seen.of(obs[None])
        place, grip = target(seen, *self._timing)
        self._set_out(seen)
        self._pass_points(seen, place[0])
        if self._lets_go():
            place[0, 2], grip[0] = seen.can[0, 2] + HOVER, OPEN
        action = towards(seen, place, grip, self.operator.speed)[0]
        if self._pauses():
            action[:6], action[6] = 0.0, self._grip
        self._grip = action[6]
        action[6] *= -1 if self._rng.random() < self.operator.fumble else 1
        return np.asarray(np.clip(action + self._wobbles(), -1.0, 1.0))

    def _set_out(self, seen: Seen) -> None:
        """Choose the points to pass when a leg begins: to the can, then to the bin."""
        leg = "carry" if seen.held[0] == 1 else "reach"
        self._grasped = False
        if leg == self._leg or seen.over_bin[0] > 0:
            return
        self._grasped = leg == "carry"
        self._leg, self._since = leg, 0
        end = np.array([*BIN, CARRY]) if leg == "carry" else seen.can[0] + [0, 0, HOVER]
        begin = np.array([*seen.hand[0, :2], CARRY]) if leg == "carry" else seen.hand[0]
        way = end - begin
        stray = self._rng.normal(size=3) * [1, 1, 0.5] * self.operator.detour
        past = way[:2] / max(np.hypot(*way[:2]), 1e-9) * self.operator.overshoot
        far = np.hypot(*way[:2]) > 0.1  # people do not stray on a short way
        points = [begin + 0.5 * way + stray] if far and self.operator.detour else []
        points += [end + np.append(past, HIGHER)] if self.operator.overshoot else []
        self._way = [np.array([*p[:2], max(p[2], end[2])]) for p in points]

    def _pass_points(self, seen: Seen, place: Array) -> None:
        """Aim for the next point on the way, if there is one, from a height that is safe."""
        if not self._way or (self._leg == "carry" and seen.hand[0, 2] < CLEAR[1]):
            return
        self._since += 1
        if np.linalg.norm(self._way[0] - seen.hand[0]) < NEXT or self._since > PATIENCE:
            self._way.pop(0)
            self._since = 0
        if self._way:
            place[:] = self._way[0]

    def _lets_go(self) -> bool:
        """Whether the fingers are being opened again, on a can that they had just grasped."""
        if self._grasped and self._grasps < 2:
            self._grasps += 1
            if self._rng.random() < self.operator.regrasp:
                self._again = 13
        self._again = max(0, self._again - 1)
        return self._again > 0

    def _pauses(self) -> bool:
        if self._paused == 0 and self._rng.random() < self.operator.hesitation:
            self._paused = int(self._rng.integers(5, 21))
        self._paused = max(0, self._paused - 1)
        return self._paused > 0

    def _wobbles(self) -> Array:
        size = self.operator.wobble * np.array([1, 1, 1, 0.5, 0.5, 0.5])
        return np.append(self._rng.normal(size=6) * size, 0.0)
