"""Errors of the hand: unsteadiness, overshoot and bias."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from counterbc.data import draws
from counterbc.data.arrays import Array
from counterbc.demonstrators.demonstrator import EpisodeBatch
from counterbc.demonstrators.teacher import Distortion, Teacher, check, check_range, within


@dataclass(frozen=True)
class MotorNoise(Teacher):
    """Unsteadiness that grows with the signal (Harris and Wolpert, 1998), in each dimension:

        a_t = a*_t + (floor + gain · |a*_t|) · z_t,   z_t = memory · z_(t−1) + √(1 − memory²) · w_t

    with w_t and z_0 standard normal, so that z has the same variance at every step.
    """

    gain: float
    """Standard deviation per unit of action; 0.1 to 0.3 for hands."""
    floor: float = 0.02
    """Standard deviation at rest."""
    memory: float = 0.5
    """Correlation of neighbouring steps."""

    def __post_init__(self) -> None:
        check_range(self, ("gain", "floor"))
        check(self, "memory", "0 to below 1", 0 <= self.memory < 1)

    def begin(self, batch: EpisodeBatch) -> Distortion:
        z = batch.normal("motor noise", batch.size)  # (T, N, A), independent until the loop
        for t in range(1, len(z)):
            z[t] = self.memory * z[t - 1] + np.sqrt(1 - self.memory**2) * z[t]
        return lambda action, t: within(action + (self.floor + self.gain * abs(action)) * z[t])


@dataclass(frozen=True)
class Overshoot(Teacher):
    """Exaggerated changes, whose excess wears off:

    a_t = a*_t + o_t,   o_t = decay · o_(t−1) + gain · (a*_t − a*_(t−1)),   from rest
    """

    gain: float
    decay: float = 0.5

    def __post_init__(self) -> None:
        check_range(self, ("gain",))
        check(self, "decay", "0 to below 1", 0 <= self.decay < 1)

    def begin(self, batch: EpisodeBatch) -> Distortion:
        before = excess = np.zeros((len(batch.key), batch.size))

        def distort(action: Array, t: int) -> Array:
            nonlocal before, excess
            before, excess = action, self.decay * excess + self.gain * (action - before)
            return within(action + excess)

        return distort


@dataclass(frozen=True)
class Bias(Teacher):
    """A constant error of a person: a = a* + b, b uniform in ±most, per dimension.

    b is drawn from the person's seed alone, so it is the same in all of their episodes.
    """

    most: float
    seed: int

    def __post_init__(self) -> None:
        check_range(self, ("most",))

    def begin(self, batch: EpisodeBatch) -> Distortion:
        u = draws.uniform(torch.tensor(self.seed), "bias", torch.tensor(0), batch.size)  # (A,)
        bias = self.most * (2 * u.double().numpy() - 1)
        return lambda action, t: within(action + bias)


@dataclass(frozen=True)
class Offset(Teacher):
    """A known constant error: a = a* + b, also beyond ±1."""

    offset: tuple[float, ...]
    """b, one number per action dimension."""

    def __post_init__(self) -> None:
        check(self, "offset", "finite numbers", bool(np.isfinite(self.offset).all()))

    def begin(self, batch: EpisodeBatch) -> Distortion:
        check(self, "offset", f"{batch.size} numbers", len(self.offset) == batch.size)
        return lambda action, t: action + np.array(self.offset)

    def __str__(self) -> str:
        return f"offset {'/'.join(f'{b:g}' for b in self.offset)}"
