"""The paper's synthetic teachers, who know the right action a* and show a = a* + ε (eq. P1)."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from counterbc.data.arrays import Array
from counterbc.demonstrators.demonstrator import EpisodeBatch
from counterbc.demonstrators.teacher import Distortion, Teacher
from counterbc.errors import OptionError


@dataclass(frozen=True)
class _Noise(Teacher):
    """A teacher whose error ε does not depend on the action."""

    sigma: float
    name: ClassVar[str]
    largest_sigma: ClassVar[float] = np.inf

    def __post_init__(self) -> None:
        if not (np.isfinite(self.sigma) and 0 <= self.sigma <= self.largest_sigma):
            largest = self.largest_sigma
            allowed_values = "0 or more" if np.isinf(largest) else f"0 to {largest:g}"
            raise OptionError(
                f"sigma of {self.name} noise is {self.sigma}; allowed: {allowed_values}"
            )

    def begin(self, batch: EpisodeBatch) -> Distortion:
        error = self.errors(batch)
        return lambda action, t: action + error[t]

    @abstractmethod
    def errors(self, batch: EpisodeBatch) -> Array:
        """Draw ε for every step: (T, N, A)."""

    def __str__(self) -> str:
        return f"{self.name} σ={self.sigma:g}"


@dataclass(frozen=True)
class UniformNoise(_Noise):
    """ε ~ U(−σ, σ) in each dimension."""

    name: ClassVar[str] = "uniform"

    def errors(self, batch: EpisodeBatch) -> Array:
        return self.sigma * (2 * batch.uniform("uniform noise", batch.size) - 1)


@dataclass(frozen=True)
class GaussianNoise(_Noise):
    """ε ~ N(0, σ²) in each dimension."""

    name: ClassVar[str] = "gaussian"

    def errors(self, batch: EpisodeBatch) -> Array:
        return self.sigma * batch.normal("gaussian noise", batch.size)


@dataclass(frozen=True)
class EpsilonGreedy(_Noise):
    """With probability σ, one coin per action, ε ~ U(−σ, σ) in each dimension; else ε = 0."""

    name: ClassVar[str] = "epsilon-greedy"
    largest_sigma: ClassVar[float] = 1.0

    def errors(self, batch: EpisodeBatch) -> Array:
        slips = batch.uniform("epsilon-greedy coin", 1) < self.sigma  # (T, N, 1)
        error = self.sigma * (2 * batch.uniform("epsilon-greedy noise", batch.size) - 1)
        return np.where(slips, error, 0.0)


NOISES: dict[str, type[UniformNoise] | type[GaussianNoise] | type[EpsilonGreedy]] = {
    noise.name: noise for noise in (UniformNoise, GaussianNoise, EpsilonGreedy)
}
