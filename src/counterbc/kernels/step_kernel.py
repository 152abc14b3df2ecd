"""The protocol of a kernel that computes training steps, and what it is given."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Protocol

import torch
from torch import Tensor

from counterbc.kernels.adam import Adam
from counterbc.policies.policy import Params, Policy
from counterbc.weightings.weighting import Batch, Weighting


@dataclass(frozen=True, kw_only=True)
class StepCase:
    """The properties of a training that decide which kernels can compute its steps."""

    policy: Policy
    weighting: Weighting
    obs_size: int
    action_size: int
    samples: int
    """M, the actions of C(s, a), the demonstrated one included."""
    in_memory: bool
    """Whether the counterfactuals of all pairs lie in memory."""
    networks: int
    batch: int
    device: str
    dtype: torch.dtype
    products: str = "float32"
    """How torch's steps multiply matrices on a GPU; native kernels compute in float32."""
    censored: bool = False
    """Whether some actions are censored, so that their likelihood is a probability."""


@dataclass(frozen=True, kw_only=True, eq=False)
class StepTensors:
    """The tensors of N networks; a kernel changes parameters, Adam and loss in place."""

    policy_params: Params  # (N, …) each
    weighting_params: Params  # (N, …) each
    adam: Adam  # of all parameters above
    loss: Tensor  # (N,): of the last step
    pairs: Tensor  # (N, n): the rows of obs and action that each network learns from
    obs: Tensor  # (T, S)
    action: Tensor  # (T, A)
    counterfactuals: Tensor | None  # (N · n, A, M) where they are kept in memory
    starts: Tensor  # (T,): the row of the first pair of each pair's episode
    columns: dict[str, Tensor]  # (N, n, …): what the weighting knows of each network's pairs
    """A training that is resumed adds columns after the kernel was made: read them in `run`."""
    gather: Callable[[Tensor, Tensor], Batch]
    """The batch at positions (N, B) of each network's pairs in epochs (N, B)."""


class StepKernel(Protocol):
    """One way to compute the training steps of N stacked networks."""

    name: ClassVar[str]

    @classmethod
    def misfit(cls, case: StepCase) -> str | None:
        """Return why this kernel cannot train the case, in words; None where it fits."""

    @classmethod
    def pays(cls, case: StepCase) -> bool:
        """Return whether this kernel is faster than plain torch where it fits."""

    def __init__(self, case: StepCase, tensors: StepTensors) -> None: ...

    def run(self, position: Tensor, epoch: Tensor) -> None:
        """Take a block of steps on the pairs at these positions: (steps, N, B) each."""

    def losses(self, batch: Batch) -> Tensor:
        """Return the loss of every network on its own batch, without a step: (N,)."""
