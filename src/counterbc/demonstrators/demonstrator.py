"""Demonstrators: who chooses the actions of recorded episodes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import torch
from scipy.special import ndtri

from counterbc.data import draws
from counterbc.data.arrays import Array
from counterbc.errors import OptionError

Control = Callable[[Array, Array, int], Array]
"""Chooses the actions of N episodes: obs (N, S), the expert's actions (N, A), step t → (N, A).

It may have memory: it is called once for each step, t = 0, 1, … in order.
"""


@dataclass(frozen=True, eq=False)
class EpisodeBatch:
    """N episodes that are recorded side by side.

    All draws are functions of an episode's key, so an episode is the same in every batch.
    """

    key: Array
    """(N,) int64, one per episode."""
    number: Array
    """(N,) int64: the number of each episode among the demonstrator's episodes, from 0."""
    size: int
    """A, the dimensions of an action."""
    steps: int
    """T, the largest number of steps of an episode."""
    rate: float
    """Steps per second."""

    def uniform(self, purpose: str, count: int) -> Array:
        """Draw numbers in (0, 1) for every step: (T, N, count)."""
        key, t = torch.from_numpy(self.key), torch.arange(self.steps)
        return draws.uniform(key, purpose, t[:, None], count).double().numpy()

    def normal(self, purpose: str, count: int) -> Array:
        """Draw standard normal numbers for every step: (T, N, count)."""
        return np.asarray(ndtri(self.uniform(purpose, count)))

    def for_step(self, i: int) -> EpisodeBatch:
        """Return the same episodes with other draws, for the i-th step of a chain."""
        key = draws.bits(torch.from_numpy(self.key), "part of a teacher", torch.tensor(i), 1)
        return replace(self, key=key[:, 0].numpy())

    def select(self, rows: Array, number: Array) -> EpisodeBatch:
        """Return some of the episodes, with the numbers that their demonstrator counts."""
        return replace(self, key=self.key[rows], number=number)


class Demonstrator(ABC):
    """Whoever acts in recorded episodes: a teacher with its errors, or a scripted operator.

    Actions span [−1, 1] here, whatever the world's units are.
    """

    world: ClassVar[str | None] = None
    """The only world in which it can act; None: any world with an expert."""

    @abstractmethod
    def control(self, batch: EpisodeBatch) -> Control:
        """Prepare for these episodes and return what acts in them."""

    def operator(self, number: int) -> str | None:
        """Return who demonstrates this episode; None for a demonstrator without a name."""
        return None

    def acts_in(self, world: str) -> bool:
        """Return whether it can act in this world."""
        return self.world in (None, world)

    def check_world(self, world: str) -> None:
        """Refuse a world in which it cannot act."""
        if not self.acts_in(world):
            raise OptionError(
                f"{self} cannot act in {world}, only in {self.world}; "
                f"choose another teacher, or the world {self.world}"
            )
