"""What the kernels for GPUs share: the parameters of all networks in one block of memory."""

from __future__ import annotations

from abc import abstractmethod

import torch
from torch import Tensor

from counterbc.kernels import adam
from counterbc.kernels.closed_form import layers
from counterbc.kernels.step_kernel import StepCase, StepTensors
from counterbc.kernels.torch_kernel import TorchKernel
from counterbc.weightings.weighting import Batch


class PackedKernel(TorchKernel):
    """A kernel that trains a copy of the parameters and copies it back after each block of steps.

    The copy holds for each network the weight and the bias of each layer in turn, those of a GRU
    first and those of the weighting last.
    """

    def __init__(self, case: StepCase, tensors: StepTensors) -> None:
        super().__init__(case, tensors)
        form = case.weighting.step_form(case.samples)
        assert form is not None
        self.kind, table, gru = form.kind, tensors.counterfactuals, case.policy.recurrent()
        actions = tensors.action.unsqueeze(-1) if table is None else table  # (rows, A, M)
        names = [f"{gru}.{x}.{y}" for x in ("input", "state") for y in ("weight", "bias")]
        params = [tensors.policy_params[name] for name in (names if gru else []) + layers(case)]
        params += tensors.weighting_params.values()
        self.state = [
            [x.detach().view(len(x), -1) for x in part] for part in tensors.adam.of(params)
        ]
        self.data = {"pairs": tensors.pairs, "obs": tensors.obs, "actions": actions}
        self.data = {name: value.contiguous() for name, value in self.data.items()}

    def run(self, position: Tensor, epoch: Tensor) -> None:
        optimizer, obs = self.tensors.adam, self.tensors.obs
        steps_taken = optimizer.count.double() + torch.arange(
            1, len(position) + 1, device=obs.device
        )
        memory = torch.stack([torch.cat(part, 1) for part in self.state])  # (3, N, all)
        sizes = (optimizer.learning_rate / (1 - adam.BETA_1**steps_taken)).float()
        roots = (1 - adam.BETA_2**steps_taken).sqrt().float()
        self.launch(position, memory, sizes, roots)
        for part, after in zip(self.state, memory, strict=True):
            for value, new in zip(part, after.split([v.shape[1] for v in part], 1), strict=True):
                value.copy_(new)
        optimizer.count.add_(len(position))

    @abstractmethod
    def launch(self, position: Tensor, memory: Tensor, sizes: Tensor, roots: Tensor) -> None:
        """Take the steps at these positions (steps, N, B).

        `memory` holds the parameters and Adam's two moments of them (3, N, all), `sizes` and
        `roots` are lr / (1 − β₁ᵗ) and √(1 − β₂ᵗ) of each step.
        """

    def columns(self, position: Tensor) -> dict[str, Tensor]:
        """Return what the weighting knows of the pairs of all steps: (steps, N, B, …) each."""
        rows = torch.arange(position.shape[1], device=position.device).unsqueeze(1)
        return {name: x[rows, position] for name, x in self.tensors.columns.items()}

    def given_weights(self, position: Tensor) -> Tensor:
        """Return R of the pairs of all steps, where it depends on columns alone: (steps, N, B)."""
        log_pi = self.tensors.obs.new_zeros(*position.shape, 1)
        batch = Batch(log_pi, log_pi, log_pi, self.columns(position))
        return self.case.weighting.weights({}, batch, log_pi).squeeze(-1).contiguous()


def weighting_layers(case: StepCase) -> tuple[int, ...]:
    """Return the widths of the layers of the network that weighs pairs, if there is one."""
    form = case.weighting.step_form(case.samples)
    if form is None or not form.layers:
        return ()
    params = case.weighting.init(torch.Generator(), case.obs_size)
    return tuple(params[f"{form.name}{i}.bias"].shape[0] for i in range(form.layers))
