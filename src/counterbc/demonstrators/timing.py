"""Errors of timing: acting late, and lapses of attention."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from counterbc.data.arrays import Array
from counterbc.demonstrators.demonstrator import EpisodeBatch
from counterbc.demonstrators.teacher import Distortion, Teacher, check, check_range


@dataclass(frozen=True)
class Delay(Teacher):
    """Reaction time: the action shown was intended k + f steps ago, k whole and 0 ≤ f < 1.

        a_t = (1 − f) · a*_(t−k) + f · a*_(t−k−1),   k + f = seconds · rate + steps

    with a* = 0 before the first step and the world's rate in steps per second.
    """

    seconds: float = 0.0
    """People need about 0.2 s to react to what they see."""
    steps: float = 0.0
    """Further delay in steps, which last as long as the world's rate says."""

    def __post_init__(self) -> None:
        check_range(self, ("seconds", "steps"))

    def begin(self, batch: EpisodeBatch) -> Distortion:
        f, k = math.modf(self.steps_late(batch.rate))
        queue = [np.zeros((len(batch.key), batch.size))] * (int(k) + 1)  # oldest first

        def distort(action: Array, t: int) -> Array:
            queue.append(action)
            return (1 - f) * queue[1] + f * queue.pop(0)

        return distort

    def steps_late(self, rate: float) -> float:
        """Return k + f at this rate, rounded so that a product such as 0.29 · 100 is whole."""
        return round(self.seconds * rate, 9) + self.steps


@dataclass(frozen=True)
class Lapses(Teacher):
    """Lapses of attention: in each attentive step, with `probability`, for 1 … `longest` steps.

    A lapse begins in the step that it is drawn for, and its length is uniform. During a lapse the
    last action before it is held, or, where `holds` is false, the hand is taken off: 0.
    """

    probability: float
    longest: int = 3
    holds: bool = True

    def __post_init__(self) -> None:
        check_range(self, ("probability",), maximum=1.0)
        check(self, "longest", "1 or more", self.longest >= 1)

    def begin(self, batch: EpisodeBatch) -> Distortion:
        u = batch.uniform("lapse", 2)  # (T, N, 2)
        length = 1 + (self.longest * u[..., 1]).astype(int)  # (T, N)
        remaining = np.zeros(len(batch.key), int)  # (N,)
        last = np.zeros((len(batch.key), batch.size))  # (N, A)

        def distort(action: Array, t: int) -> Array:
            nonlocal remaining, last
            begins = (remaining == 0) & (u[t, :, 0] < self.probability)
            remaining = np.where(begins, length[t], remaining)
            in_lapse = (remaining > 0)[:, None]
            last = np.where(in_lapse, last if self.holds else 0.0, action)
            remaining = np.maximum(remaining - 1, 0)
            return last

        return distort
