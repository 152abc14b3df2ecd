"""Errors that grow while a teacher gets tired."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from counterbc.data.arrays import Array
from counterbc.demonstrators.demonstrator import EpisodeBatch
from counterbc.demonstrators.teacher import Distortion, Teacher, check, check_range, within


@dataclass(frozen=True)
class Fatigue(Teacher):
    """Another teacher's errors, growing within an episode and from one episode to the next:

    a = a* + g · (its a − a*),   g = 1 + during · t/T + after · min(k/episodes, 1)

    at step t of at most T, in the teacher's episode number k. A device keeps its notches only if
    it follows this in a chain.
    """

    teacher: Teacher
    during: float = 0.0
    """Relative growth of errors over one episode: 1 is twice as large at its end."""
    after: float = 0.0
    """Relative growth of errors over the first `episodes` episodes."""
    episodes: int = 50
    """Number of episodes after which errors grow no further."""

    def __post_init__(self) -> None:
        check_range(self, ("during", "after"))
        check(self, "episodes", "1 or more", self.episodes >= 1)

    def begin(self, batch: EpisodeBatch) -> Distortion:
        fresh = self.teacher.begin(batch)
        tired = self.after * np.minimum(batch.number / self.episodes, 1.0)[:, None]  # (N, 1)

        def distort(action: Array, t: int) -> Array:
            g = 1 + self.during * t / batch.steps + tired  # (N, 1)
            return within(action + g * (fresh(action, t) - action))

        return distort

    def operator(self, number: int) -> str | None:
        return self.teacher.operator(number)
