"""Stacks of networks with and without Δ, trained side by side."""

from __future__ import annotations

import torch

from counterbc.data.demonstrations import Demonstrations
from counterbc.training.batches import Batches
from counterbc.training.network_stack import NetworkStack
from counterbc.training.stack_parts import StackParts
from tests.kernels.stacks import advance, stack

ROWS = [torch.tensor([4, 0]), torch.tensor([1, 3, 2])]
"""Places of a stack of two and a stack of three networks."""


def make(demos: Demonstrations) -> tuple[StackParts, list[NetworkStack]]:
    stacks = [stack(demos, seeds=2, radius=0.0), stack(demos, seeds=3, radius=0.4)]
    return StackParts(stacks, ROWS), stacks


def test_every_network_is_read_at_its_place(tiny: Demonstrations) -> None:
    parts, stacks = make(tiny)
    for part, rows in zip(stacks, ROWS, strict=True):
        advance(part, 3)
        assert torch.equal(parts.loss[rows], part.loss)
        for name, value in part.deployed.items():
            assert torch.equal(parts.deployed[name][rows], value)
            assert torch.equal(parts.params[name][rows], value)


def test_steps_reach_the_networks_at_their_places(tiny: Demonstrations) -> None:
    parts, stacks = make(tiny)
    positions = [Batches(part.view.nets, 20).block(0, 3) for part in stacks]
    position, epoch = (torch.cat(x, 1)[:, parts.order] for x in zip(*positions, strict=True))
    for part, rows in parts.each:
        part.steps(position[:, rows], epoch[:, rows])
    separate = make(tiny)[1]
    for part, rows in zip(separate, ROWS, strict=True):
        advance(part, 3)
        for name, value in part.deployed.items():
            assert torch.equal(parts.deployed[name][rows], value)


def test_a_state_restores_every_stack(tiny: Demonstrations) -> None:
    parts, stacks = make(tiny)
    for part in stacks:
        advance(part, 3)
    fresh = make(tiny)[0]
    name = next(iter(parts.params))
    assert not torch.equal(fresh.params[name], parts.params[name])
    fresh.restore(parts.state())
    for key, value in parts.state().items():
        assert torch.equal(fresh.state()[key], value)
