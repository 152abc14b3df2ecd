"""Several operators in one dataset."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from counterbc.demonstrators.teacher import Array, Erring, Takes, Teacher
from counterbc.errors import OptionError


@dataclass(frozen=True)
class Crowd(Teacher):
    """Operators who take turns, one or more episodes each, in the order given.

    Six operators of different skill:
    `Crowd(tuple((f"σ {s}", UniformNoise(s)) for s in sigmas))`.
    """

    operators: tuple[tuple[str, Teacher], ...]
    shares: tuple[int, ...] = ()
    """How many episodes each shows in a turn; one each where empty."""

    def __post_init__(self) -> None:
        names = [name for name, _ in self.operators]
        if not names or len(set(names)) < len(names):
            raise OptionError(
                f"operators of a crowd are {', '.join(names) or 'none'}; "
                "name at least one, and no two alike"
            )
        if self.shares and (len(self.shares) != len(names) or min(self.shares) < 1):
            raise OptionError(
                f"shares of a crowd are {self.shares}; give {len(names)} whole numbers above 0"
            )

    @property
    def _turn(self) -> Array:
        """Who shows each episode of one turn, as indices of operators."""
        return np.repeat(np.arange(len(self.operators)), self.shares or 1)

    def operator(self, number: int) -> str:
        turn = self._turn
        name, _ = self.operators[int(turn[number % len(turn)])]
        return name

    def begin(self, takes: Takes) -> Erring:
        turn = self._turn
        rounds, place = np.divmod(takes.number, len(turn))  # (N,) each
        shows = []
        for i, (_, teacher) in enumerate(self.operators):
            rows = np.flatnonzero(turn[place] == i)
            if len(rows):
                own = np.flatnonzero(turn == i)  # this operator's places in a turn
                number = rounds[rows] * len(own) + place[rows] - own[0]
                shows.append((rows, teacher.begin(takes.of(rows, number))))

        def show(action: Array, t: int) -> Array:
            shown = np.empty_like(action)
            for rows, part in shows:
                shown[rows] = part(action[rows], t)
            return shown

        return show

    def __str__(self) -> str:
        return f"crowd of {len(self.operators)}"
