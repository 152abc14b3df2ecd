"""Errors of the device: the steps of a keyboard or joystick, and wrong buttons."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from counterbc.data.arrays import Array
from counterbc.demonstrators.demonstrator import EpisodeBatch
from counterbc.demonstrators.teacher import Distortion, Teacher, check, check_range, within


@dataclass(frozen=True)
class Keyboard(Teacher):
    """Two keys per dimension: a = sign(a*) where |a*| > threshold, else 0."""

    threshold: float = 0.35

    def __post_init__(self) -> None:
        check(self, "threshold", "0 to below 1", 0 <= self.threshold < 1)

    def begin(self, batch: EpisodeBatch) -> Distortion:
        return lambda action, t: np.sign(action) * (abs(action) > self.threshold)


@dataclass(frozen=True)
class Joystick(Teacher):
    """A stick with notches: the nearest multiple of 1/levels within [−1, 1]; 0 in the dead zone.

    The dead zone is |a*| ≤ dead_zone, in each dimension.
    """

    levels: int = 8
    """Notches on each side of the centre."""
    dead_zone: float = 0.1

    def __post_init__(self) -> None:
        check(self, "levels", "1 or more", self.levels >= 1)
        check(self, "dead_zone", "0 to below 1", 0 <= self.dead_zone < 1)

    def begin(self, batch: EpisodeBatch) -> Distortion:
        def distort(action: Array, t: int) -> Array:
            notch = np.round(self.levels * within(action)) / self.levels
            return np.asarray(notch * (abs(action) > self.dead_zone))

        return distort


@dataclass(frozen=True)
class WrongButtons(Teacher):
    """Wrong buttons: in each step, one randomly drawn dimension i may go wrong.

    With probability `swap` the dimensions i and i + 1 (after the last comes the first) change
    places, with probability `flip` dimension i changes its sign.
    """

    swap: float = 0.0
    flip: float = 0.0

    def __post_init__(self) -> None:
        check_range(self, ("swap", "flip"), maximum=1.0)
        check(self, "flip", f"0 to {1 - self.swap:g}, beside swap", self.swap + self.flip <= 1)

    def begin(self, batch: EpisodeBatch) -> Distortion:
        u = batch.uniform("wrong button", 2)  # (T, N, 2)
        dimension = (batch.size * u[..., 1]).astype(int)  # (T, N)

        def distort(action: Array, t: int) -> Array:
            rows, i = np.arange(len(action)), dimension[t]
            with_swap, with_flip = action.copy(), action.copy()
            j = (i + 1) % batch.size
            with_swap[rows, i], with_swap[rows, j] = action[rows, j], action[rows, i]
            with_flip[rows, i] *= -1
            chance = u[t, :, :1]  # (N, 1)
            wrong = np.where(chance < self.swap + self.flip, with_flip, action)
            return np.where(chance < self.swap, with_swap, wrong)

        return distort
