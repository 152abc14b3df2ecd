"""Several operators in one dataset."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from counterbc.data.arrays import Array
from counterbc.demonstrators.demonstrator import EpisodeBatch
from counterbc.demonstrators.teacher import Distortion, Teacher
from counterbc.errors import OptionError


@dataclass(frozen=True)
class Crowd(Teacher):
    """Operators who take turns, one or more episodes each, in the order given.

    Six operators of different skill:
    `Crowd(tuple((f"σ {s}", UniformNoise(s)) for s in sigmas))`.
    """

    operators: tuple[tuple[str, Teacher], ...]
    shares: tuple[int, ...] = ()
    """Episodes per turn of each operator; one each if empty."""

    def __post_init__(self) -> None:
        names = [name for name, _ in self.operators]
        if not names or len(set(names)) < len(names):
            raise OptionError(
                f"operators of a crowd are {', '.join(names) or 'none'}; "
                "give one or more operators with different names"
            )
        if self.shares and (len(self.shares) != len(names) or min(self.shares) < 1):
            raise OptionError(
                f"shares of a crowd are {self.shares}; give {len(names)} whole numbers above 0"
            )

    @property
    def _turn(self) -> Array:
        """Return the index of the operator of each episode of one turn."""
        return np.repeat(np.arange(len(self.operators)), self.shares or 1)

    def operator(self, number: int) -> str:
        turn = self._turn
        name, _ = self.operators[int(turn[number % len(turn)])]
        return name

    def begin(self, batch: EpisodeBatch) -> Distortion:
        turn = self._turn
        rounds, place = np.divmod(batch.number, len(turn))  # (N,) each
        distortions = []
        for i, (_, teacher) in enumerate(self.operators):
            rows = np.flatnonzero(turn[place] == i)
            if len(rows):
                places = np.flatnonzero(turn == i)  # of this operator in a turn
                number = rounds[rows] * len(places) + place[rows] - places[0]
                distortions.append((rows, teacher.begin(batch.select(rows, number))))

        def distort(action: Array, t: int) -> Array:
            shown_action = np.empty_like(action)
            for rows, distort_rows in distortions:
                shown_action[rows] = distort_rows(action[rows], t)
            return shown_action

        return distort

    def __str__(self) -> str:
        return f"crowd of {len(self.operators)}"
