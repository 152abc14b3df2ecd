"""Synthetic teachers that know the right action a* and show a = a* + ε (eq. P1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from counterbc.errors import OptionError

Array = NDArray[Any]


class Teacher(Protocol):
    """How a demonstrator errs. `str(teacher)` names it in the data's source."""

    def err(self, action: Array, rng: np.random.Generator) -> Array:
        """What N teachers show, one step each, when they mean these actions: (N, A) → (N, A)."""
        ...


@dataclass(frozen=True)
class _Noise:
    sigma: float
    name: ClassVar[str]
    most: ClassVar[float] = np.inf

    def __post_init__(self) -> None:
        if not (np.isfinite(self.sigma) and 0 <= self.sigma <= self.most):
            allowed = "0 or more" if np.isinf(self.most) else f"0 to {self.most:g}"
            raise OptionError(f"sigma of {self.name} noise is {self.sigma}; allowed: {allowed}")

    def __str__(self) -> str:
        return f"{self.name} σ={self.sigma:g}"


@dataclass(frozen=True)
class Uniform(_Noise):
    """ε ~ U(−σ, σ) in each dimension."""

    name: ClassVar[str] = "uniform"

    def err(self, action: Array, rng: np.random.Generator) -> Array:
        return action + rng.uniform(-self.sigma, self.sigma, action.shape)


@dataclass(frozen=True)
class Gaussian(_Noise):
    """ε ~ N(0, σ²) in each dimension."""

    name: ClassVar[str] = "gaussian"

    def err(self, action: Array, rng: np.random.Generator) -> Array:
        return action + rng.normal(0.0, self.sigma, action.shape)


@dataclass(frozen=True)
class EpsilonGreedy(_Noise):
    """With probability σ, one coin per action, ε ~ U(−σ, σ) in each dimension; else ε = 0."""

    name: ClassVar[str] = "epsilon-greedy"
    most: ClassVar[float] = 1.0

    def err(self, action: Array, rng: np.random.Generator) -> Array:
        slips = rng.random((len(action), 1)) < self.sigma  # (N, 1)
        return action + slips * rng.uniform(-self.sigma, self.sigma, action.shape)


NOISES: dict[str, type[Uniform] | type[Gaussian] | type[EpsilonGreedy]] = {
    noise.name: noise for noise in (Uniform, Gaussian, EpsilonGreedy)
}
