"""What a policy owes: probabilities of many actions from one forward per state."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from counterbc.errors import OptionError
from counterbc.losses import cross_entropy

Params = dict[str, Tensor]


@dataclass(frozen=True)
class Policy(ABC):
    """A family of distributions over actions; θ is an argument, so one value serves any member.

    `head` is whatever a forward yields, e.g. (mean, log_std); everything else is computed from it.
    Written for one network. Where all methods also take tensors with N networks in front, `stacks`
    says so and the trainer calls them directly; else it maps them over the networks with vmap.
    """

    stacks: ClassVar[bool] = False
    learning_rate: ClassVar[float] = 1e-3
    """Of Adam, where no other is asked for."""
    hidden: tuple[int, ...] = (64, 64)
    """Units of each hidden layer."""
    history: int = 1
    """How many observations are read, the current one last."""

    def __post_init__(self) -> None:
        if not self.hidden or min(self.hidden) < 1:
            raise OptionError(f"hidden is {self.hidden}; give one positive width per layer")
        if self.history < 1:
            raise OptionError(f"history is {self.history}; a policy reads 1 or more observations")

    def obs_shape(self, size: int) -> tuple[int, ...]:
        """Of one observation as users give it, `size` numbers where it is a vector."""
        return (size,)

    @abstractmethod
    def init(self, generator: torch.Generator, obs_size: int, action_size: int) -> Params:
        """Fresh θ of one network, float32 on the CPU."""

    @abstractmethod
    def head(self, params: Params, obs: Tensor) -> tuple[Tensor, ...]:
        """One forward: obs (B, S), or (B, history, S) where history > 1; images are S bytes."""

    @abstractmethod
    def log_prob(self, head: tuple[Tensor, ...], actions: Tensor) -> Tensor:
        """log π(a'|s) of actions (B, M, A): (B, M)."""

    @abstractmethod
    def mean(self, head: tuple[Tensor, ...]) -> Tensor:
        """The action to take without chance: (B, A)."""

    @abstractmethod
    def sample(self, head: tuple[Tensor, ...], u: Tensor) -> Tensor:
        """An action by chance, a differentiable function of θ and uniform numbers u: (B, A)."""

    def chain(self) -> tuple[str, ...]:
        """Names of the layers, the head's last, where ReLU layers and such a head are all.

        Heads are a Gaussian's or a mixture's. Such a policy can be trained by
        `training/native.py`; by default none is named.
        """
        return ()

    def cross_entropy(self, head: tuple[Tensor, ...], actions: Tensor) -> Tensor:
        """−Σ π̂ · log π over actions (B, M, A), eq. M4: (B,)."""
        return cross_entropy(self.log_prob(head, actions))
