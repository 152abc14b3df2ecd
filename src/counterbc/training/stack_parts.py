"""Several stacks of networks that are one population."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from counterbc.policies import Params
from counterbc.training.network_stack import NetworkStack
from counterbc.training.view import View, chunk_size


class StackParts:
    """Several stacks that are trained side by side and read as one; see `NetworkStack`."""

    def __init__(self, stacks: Sequence[NetworkStack], rows: Sequence[Tensor]) -> None:
        """`rows` are the places of each stack's networks among all of them."""
        self.stacks, self.rows = stacks, rows
        self.order = torch.cat(list(rows)).argsort()

    @property
    def each(self) -> list[tuple[NetworkStack, Tensor]]:
        """The stacks, with their rows among all networks."""
        return list(zip(self.stacks, self.rows, strict=True))

    @property
    def loss(self) -> Tensor:
        """The loss of every network in its last step: (N,)."""
        return torch.cat([stack.loss for stack in self.stacks])[self.order]

    @property
    def params(self) -> Params:
        """The parameters of all networks, as copies."""
        return self._join([stack.params for stack in self.stacks])

    @property
    def deployed(self) -> Params:
        """The parameters that act."""
        return self._join([stack.deployed for stack in self.stacks])

    def _join(self, parts: Sequence[Params]) -> Params:
        return {name: torch.cat([p[name] for p in parts])[self.order] for name in parts[0]}

    def held_out(self, view: View) -> Tensor:
        """Return the action error of every network on held-out pairs: (N,)."""
        limit = chunk_size(view.store, len(self.order))
        parts = zip(self.stacks, view.parts, strict=True)
        return torch.cat([stack.held_out(part, limit) for stack, (_, part) in parts])[self.order]

    def state(self) -> dict[str, Tensor]:
        """Return the state of every stack, each under its number."""
        states = enumerate(stack.state() for stack in self.stacks)
        return {f"{i}/{name}": value for i, state in states for name, value in state.items()}

    def restore(self, state: dict[str, Tensor]) -> None:
        """Restore a state in place."""
        for i, stack in enumerate(self.stacks):
            begin = f"{i}/"
            stack.restore(
                {k.removeprefix(begin): v for k, v in state.items() if k.startswith(begin)}
            )
