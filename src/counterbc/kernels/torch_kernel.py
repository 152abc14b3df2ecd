"""Training steps by plain torch: the definition that every other kernel is tested against."""

from __future__ import annotations

from typing import ClassVar

import torch
from torch import Tensor

from counterbc.kernels.products import multiplying
from counterbc.kernels.step_kernel import StepCase, StepTensors
from counterbc.kernels.threads import at_most_threads, threads_for, warn_spinning
from counterbc.policies.policy import Params, Policy
from counterbc.weightings.weighting import NUMBERS, Batch, Weighting

_FILTERS = 32  # of the first layer of an encoder


def stacked_losses(
    policy: Policy, weighting: Weighting, theta: Params, phi: Params, batch: Batch
) -> Tensor:
    """Return the loss of every network on its own batch: (N,).

    `theta` and `phi` are the parameters of policy and weighting, (N, …) each.
    """

    def loss(theta: Params, phi: Params, batch: Batch) -> Tensor:
        batch = batch._replace(actions=weighting.targets(theta, batch, policy))
        if not policy.has_density:
            numbers = batch.columns[NUMBERS]
            errors, log_pi = policy.errors(theta, batch.obs, batch.actions, numbers)
            return weighting.error_loss(phi, batch, errors, log_pi)
        return weighting.loss(phi, batch, policy, policy.head(theta, batch.obs))

    mapped = loss if policy.stacks and weighting.stacks else torch.func.vmap(loss)
    result: Tensor = mapped(theta, phi, batch)
    return result


def forward_work(case: StepCase, tensors: StepTensors) -> float:
    """Return roughly how many multiplications the forward pass of a step has.

    Each parameter is used once for each observation of each state, and each number of an
    observation by some filters, which matters for images.
    """
    params = sum(x.numel() for x in tensors.policy_params.values())
    images = case.networks * case.obs_size * _FILTERS
    return float((params + images) * case.batch * case.policy.history)


class TorchKernel:
    """Autograd and Adam; on CUDA the step is captured in a graph once and replayed.

    The graph holds how its matrices are multiplied.
    """

    name: ClassVar[str] = "torch"

    @classmethod
    def misfit(cls, case: StepCase) -> str | None:
        return None

    @classmethod
    def pays(cls, case: StepCase) -> bool:
        return True

    def __init__(self, case: StepCase, tensors: StepTensors) -> None:
        self.case, self.tensors = case, tensors
        self.threads = threads_for(forward_work(case, tensors))
        self.graph: torch.cuda.CUDAGraph | None = None

    def losses(self, batch: Batch) -> Tensor:
        theta, phi = self.tensors.policy_params, self.tensors.weighting_params
        return stacked_losses(self.case.policy, self.case.weighting, theta, phi, batch)

    def run(self, position: Tensor, epoch: Tensor) -> None:
        if position.is_cuda and self.graph is None:
            with multiplying(self.case.products):
                self._capture(position[0], epoch[0])
        if not position.is_cuda:
            warn_spinning(self.threads)
        with at_most_threads(self.threads):
            for p, e in zip(position, epoch, strict=True):
                if self.graph is None:
                    self.step(p, e)
                else:
                    self.position.copy_(p)
                    self.epoch.copy_(e)
                    self.graph.replay()

    def step(self, position: Tensor, epoch: Tensor) -> None:
        """Take one gradient step of every network on the pairs at positions (N, B)."""
        adam = self.tensors.adam
        loss = self.losses(self.tensors.gather(position, epoch))
        adam.step(list(torch.autograd.grad(loss.sum(), adam.params)))
        self.tensors.loss.copy_(loss.detach())

    def _capture(self, position: Tensor, epoch: Tensor) -> None:
        """Warm up on a side stream, capture one step, and undo the steps taken meanwhile."""
        self.position, self.epoch = position.clone(), epoch.clone()
        state = self.tensors.adam.state()
        before = [value.detach().clone() for value in state]
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(3):
                self.step(self.position, self.epoch)
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            self.step(self.position, self.epoch)
        with torch.no_grad():
            for value, old in zip(state, before, strict=True):
                value.copy_(old)
        self.graph = graph
