"""Errors that grow while a teacher gets tired."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from counterbc.demonstrators.teacher import (
    Array,
    Erring,
    Takes,
    Teacher,
    check,
    check_range,
    within,
)


@dataclass(frozen=True)
class Fatigue(Teacher):
    """Another teacher's errors, growing within an episode and from one episode to the next:

    a = a* + g · (its a − a*),   g = 1 + during · t/T + after · min(k/episodes, 1)

    at step t of at most T, in the teacher's episode number k. A device keeps its notches only where
    it comes after this.
    """

    teacher: Teacher
    during: float = 0.0
    """By how much errors have grown at the end of an episode: 1 is twice as large."""
    after: float = 0.0
    """By how much they have grown after many episodes,"""
    episodes: int = 50
    """that is, after this many."""

    def __post_init__(self) -> None:
        check_range(self, ("during", "after"))
        check(self, "episodes", "1 or more", self.episodes >= 1)

    def begin(self, takes: Takes) -> Erring:
        fresh = self.teacher.begin(takes)
        tired = self.after * np.minimum(takes.number / self.episodes, 1.0)[:, None]  # (N, 1)

        def show(action: Array, t: int) -> Array:
            g = 1 + self.during * t / takes.steps + tired  # (N, 1)
            return within(action + g * (fresh(action, t) - action))

        return show

    def operator(self, number: int) -> str | None:
        return self.teacher.operator(number)
