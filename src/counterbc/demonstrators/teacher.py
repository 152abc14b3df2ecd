"""Teachers: they know the right action a* and show another one (eq. P1)."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from counterbc.data.arrays import Array
from counterbc.demonstrators.demonstrator import Control, Demonstrator, EpisodeBatch
from counterbc.errors import OptionError

Distortion = Callable[[Array, int], Array]
"""Turns the actions that N episodes intend at step t into those shown: (N, A), t → (N, A).

It may have memory: it is called once for each step, t = 0, 1, … in order.
"""


@dataclass(frozen=True)
class Teacher(Demonstrator):
    """A demonstrator who errs: a small value. `str(teacher)` names it in the data's source.

    Before its first step a hand is at rest, at 0. Human-like teachers stay within [−1, 1], as
    their devices do.
    """

    @abstractmethod
    def begin(self, batch: EpisodeBatch) -> Distortion:
        """Prepare for these episodes and return what errs in them, step by step."""

    def control(self, batch: EpisodeBatch) -> Control:
        distort = self.begin(batch)
        return lambda obs, intended_action, t: distort(intended_action, t)


@dataclass(frozen=True)
class Chain(Teacher):
    """Teachers that err one after the other: each one's actions are the next one's intentions."""

    steps: tuple[Teacher, ...]

    def begin(self, batch: EpisodeBatch) -> Distortion:
        distortions = [step.begin(batch.for_step(i)) for i, step in enumerate(self.steps)]

        def distort(action: Array, t: int) -> Array:
            for step in distortions:
                action = step(action, t)
            return action

        return distort

    def operator(self, number: int) -> str | None:
        names = (step.operator(number) for step in self.steps)
        return next((name for name in names if name is not None), None)

    def __str__(self) -> str:
        return " → ".join(map(str, self.steps)) or "no error"


NO_ERROR = Chain(())
"""The expert itself, as a teacher."""


def within(action: Array) -> Array:
    """Clip at ±1, where a device ends."""
    return np.clip(action, -1.0, 1.0)


def check(teacher: Teacher, name: str, allowed_values: str, ok: bool) -> None:
    """Raise an error about a parameter unless it is ok."""
    if not ok:
        kind, value = type(teacher).__name__, getattr(teacher, name)
        raise OptionError(f"{name} of {kind} is {value}; allowed: {allowed_values}")


def check_range(teacher: Teacher, names: tuple[str, ...], maximum: float = np.inf) -> None:
    """Raise an error unless these parameters are numbers from 0 to `maximum`."""
    allowed_values = "0 or more" if np.isinf(maximum) else f"0 to {maximum:g}"
    for name in names:
        value = getattr(teacher, name)
        check(teacher, name, allowed_values, bool(np.isfinite(value) and 0 <= value <= maximum))
