"""The kernels for GPUs train a packed copy of all parameters, which returns to its place."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

from counterbc.kernels.packed_kernel import PackedKernel, weighting_layers
from tests.kernels.stacks import block, demonstrations, stack


class AddOne(PackedKernel):
    """Adds 1 to parameters, 2 to first and 3 to second moments, and remembers its arguments."""

    def launch(self, position: Tensor, memory: Tensor, sizes: Tensor, roots: Tensor) -> None:
        self.arguments = memory.clone(), sizes, roots
        memory += torch.tensor([1.0, 2.0, 3.0]).view(3, 1, 1)


def make_kernel(method: str, **changes: Any) -> tuple[Any, AddOne]:
    networks = stack(demonstrations(), method, kernel="torch", **changes)
    kernel = AddOne(networks.kernel.case, networks.kernel.tensors)  # type: ignore[attr-defined]
    return networks, kernel


@pytest.mark.parametrize("method", ["bc", "weighted-bc", "ileed", "bc-rnn"])
def test_every_parameter_and_moment_returns_to_its_place(method: str) -> None:
    networks, kernel = make_kernel(method)
    before = {name: value.clone() for name, value in networks.state().items()}
    kernel.run(*block(networks, 3))
    for name, value in networks.state().items():
        change = {"params": 1, "adam/first": 2, "adam/second": 3}.get(name.rpartition("/")[0], 0)
        change = 3 if name == "adam/count" else change
        torch.testing.assert_close(value, before[name] + change)


def test_layers_lie_in_turn_with_the_bias_after_the_weight() -> None:
    networks, kernel = make_kernel("weighted-bc")
    kernel.run(*block(networks, 1))
    memory, _, _ = kernel.arguments
    names = [f"policy.{x}" for x in ("layer0", "layer1", "head")]
    names += [f"weighting.rho{i}" for i in range(3)]
    parts = [networks.params[f"{n}.{x}"].flatten(1) - 1 for n in names for x in ("weight", "bias")]
    torch.testing.assert_close(memory[0], torch.cat(parts, 1).detach())


def test_the_sizes_of_steps_are_those_of_adam_from_the_steps_taken_on() -> None:
    networks, kernel = make_kernel("bc")
    for _ in range(2):
        kernel.run(*block(networks, 2))
    rate, (_, sizes, roots) = networks.adam.learning_rate, kernel.arguments
    steps = torch.tensor([3.0, 4.0], dtype=torch.float64)
    torch.testing.assert_close(sizes.double(), rate / (1 - 0.9**steps), rtol=1e-6, atol=0)
    torch.testing.assert_close(roots.double(), (1 - 0.999**steps).sqrt(), rtol=1e-6, atol=0)


def test_given_weights_are_those_of_the_weighting_batch_by_batch() -> None:
    networks, kernel = make_kernel("bcnd", batch=10, later=True)
    position, epoch = block(networks, 3)
    weights = kernel.given_weights(position)
    for p, e, actual in zip(position, epoch, weights, strict=True):
        batch = kernel.tensors.gather(p, e)
        reference = kernel.case.weighting.weights({}, batch, torch.zeros(*p.shape, 1)).squeeze(-1)
        torch.testing.assert_close(actual, reference)
    assert weights.std() > 0


def test_the_layers_of_a_network_of_weights_are_read_from_its_parameters() -> None:
    _, kernel = make_kernel("weighted-bc", hidden=(8, 16))
    assert weighting_layers(kernel.case) == (8, 16, 1)
    assert weighting_layers(make_kernel("bc")[1].case) == ()
