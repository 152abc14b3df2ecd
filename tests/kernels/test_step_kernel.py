"""Every kernel keeps the protocol, and a kernel of the user's can be plugged in."""

from __future__ import annotations

from importlib import import_module
from typing import ClassVar

import pytest
import torch
from torch import Tensor

from counterbc.data.demonstrations import Demonstrations
from counterbc.kernels.registry import KERNELS, TRITON
from counterbc.kernels.step_kernel import StepCase, StepKernel, StepTensors
from counterbc.kernels.torch_kernel import TorchKernel
from counterbc.training.network_stack import NetworkStack
from counterbc.weightings import Batch
from tests.kernels.stacks import advance, block, stack
from tests.skips import NO_GPU


class Descent:
    """Plain gradient descent, written against the protocol alone."""

    name: ClassVar[str] = "descent"

    @classmethod
    def misfit(cls, case: StepCase) -> str | None:
        return None

    @classmethod
    def pays(cls, case: StepCase) -> bool:
        return False

    def __init__(self, case: StepCase, tensors: StepTensors) -> None:
        self.reference, self.tensors = TorchKernel(case, tensors), tensors

    def run(self, position: Tensor, epoch: Tensor) -> None:
        params = self.tensors.adam.params
        for p, e in zip(position, epoch, strict=True):
            loss = self.losses(self.tensors.gather(p, e))
            for value, grad in zip(params, torch.autograd.grad(loss.sum(), params), strict=True):
                value.data.sub_(0.1 * grad)
            self.tensors.loss.copy_(loss.detach())

    def losses(self, batch: Batch) -> Tensor:
        return self.reference.losses(batch)


def test_a_kernel_written_against_the_protocol_trains(tiny: Demonstrations) -> None:
    kernel: type[StepKernel] = Descent
    like = stack(tiny, "bc", dtype=torch.float64)
    params = {name: value.detach() for name, value in like.params.items()}
    networks = NetworkStack(like.view, params, 1e-3, like.view.case(20), kernel)
    position, epoch = block(like, 30)
    networks.steps(position[:1], epoch[:1])
    first = networks.loss.clone()
    networks.steps(position[1:], epoch[1:])
    assert bool((networks.loss < first).all())


@pytest.mark.parametrize("name", KERNELS)
def test_a_kernel_bears_the_name_it_is_chosen_by(name: str) -> None:
    home = KERNELS[name]
    if home.library == TRITON and not torch.cuda.is_available():
        pytest.skip(NO_GPU)
    kernel = getattr(import_module(f"counterbc.kernels.{home.module}"), home.kernel)
    assert kernel.name == name


def test_steps_change_parameters_adam_and_loss_in_place(tiny: Demonstrations) -> None:
    for kernel in ("torch", "numba"):
        networks = stack(tiny, kernel=kernel)
        tensors = [*networks.adam.state(), networks.loss]
        before = [value.detach().clone() for value in tensors]
        advance(networks, 2)
        assert all(not torch.equal(value, old) for value, old in zip(tensors, before, strict=True))
