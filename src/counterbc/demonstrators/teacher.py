"""What a teacher owes: what it shows, step by step, when it knows the right action a* (eq. P1)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.special import ndtri

from counterbc.data import draws
from counterbc.errors import OptionError

Array = NDArray[Any]
Erring = Callable[[Array, int], Array]
"""What N episodes show at step t when they mean these actions: (N, A), t → (N, A).

It may remember: it is called once for each step, t = 0, 1, … in order.
"""


@dataclass(frozen=True, eq=False)
class Takes:
    """N episodes that are shown side by side.

    All draws are functions of an episode's key, so that it is the same alone and among others.
    """

    key: Array
    """(N,) int64, one per episode."""
    number: Array
    """(N,) int64: which episode it is of those the teacher shows, from 0."""
    size: int
    """A, the dimensions of an action."""
    steps: int
    """T, the most steps an episode can have."""

    def uniform(self, purpose: str, count: int) -> Array:
        """Numbers in (0, 1) for every step: (T, N, count)."""
        key, t = torch.from_numpy(self.key), torch.arange(self.steps)
        return draws.uniform(key, purpose, t[:, None], count).double().numpy()

    def normal(self, purpose: str, count: int) -> Array:
        """Standard normal numbers for every step: (T, N, count)."""
        return np.asarray(ndtri(self.uniform(purpose, count)))

    def part(self, i: int) -> Takes:
        """The same episodes for the i-th part of a teacher, with draws of its own."""
        key = draws.bits(torch.from_numpy(self.key), "part of a teacher", torch.tensor(i), 1)
        return replace(self, key=key[:, 0].numpy())

    def of(self, rows: Array, number: Array) -> Takes:
        """Some of the episodes, counted by somebody else."""
        return replace(self, key=self.key[rows], number=number)


@dataclass(frozen=True)
class Teacher(ABC):
    """How a demonstrator errs: a small value. `str(teacher)` names it in the data's source.

    Actions span [−1, 1] here, whatever the world's units are. Before its first step a hand is at
    rest, at 0. Human-like teachers stay within [−1, 1], as their devices do.
    """

    @abstractmethod
    def begin(self, takes: Takes) -> Erring:
        """Take up these episodes; what is returned errs in them step by step."""

    def operator(self, number: int) -> str | None:
        """Who shows this episode; None for a teacher without a name."""
        return None


@dataclass(frozen=True)
class Chain(Teacher):
    """Parts that err one after the other: each takes what the one before shows for meant."""

    parts: tuple[Teacher, ...]

    def begin(self, takes: Takes) -> Erring:
        shows = [part.begin(takes.part(i)) for i, part in enumerate(self.parts)]

        def show(action: Array, t: int) -> Array:
            for part in shows:
                action = part(action, t)
            return action

        return show

    def operator(self, number: int) -> str | None:
        names = (part.operator(number) for part in self.parts)
        return next((name for name in names if name is not None), None)

    def __str__(self) -> str:
        return " → ".join(map(str, self.parts)) or "no error"


NO_ERROR = Chain(())
"""The expert itself, as a teacher."""


def within(action: Array) -> Array:
    """Cut off at ±1, where a device ends."""
    return np.clip(action, -1.0, 1.0)


def check(part: Teacher, name: str, allowed: str, right: bool) -> None:
    """Refuse a parameter in words."""
    if not right:
        kind, value = type(part).__name__, getattr(part, name)
        raise OptionError(f"{name} of {kind} is {value}; allowed: {allowed}")


def check_range(part: Teacher, names: tuple[str, ...], most: float = np.inf) -> None:
    """Numbers from 0 to `most`."""
    allowed = "0 or more" if np.isinf(most) else f"0 to {most:g}"
    for name in names:
        value = getattr(part, name)
        check(part, name, allowed, bool(np.isfinite(value) and 0 <= value <= most))
