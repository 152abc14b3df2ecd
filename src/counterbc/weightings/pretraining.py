"""A small network that a weighting trains on the pairs before the policy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from counterbc.data import draws
from counterbc.errors import OptionError
from counterbc.policies.layers import dense, linear, relu_chain
from counterbc.policies.policy import Params
from counterbc.weightings.pairs import Pairs

_CHUNK = 4096  # pairs evaluated at once


@dataclass(frozen=True)
class Pretraining:
    """f(x), ReLU layers and a linear output, trained by Adam for a fixed number of steps.

    It is trained in float64, so that a member trained alone agrees with the same member in a stack.
    """

    hidden: tuple[int, ...] = (64, 64)
    steps: int = 2000
    batch: int = 256
    learning_rate: float = 1e-3

    def __post_init__(self) -> None:
        if not self.hidden or min(*self.hidden, self.steps, self.batch) < 1:
            raise OptionError(
                f"hidden is {self.hidden}, steps {self.steps}, batch {self.batch}; "
                "all must be 1 or more, with at least one layer"
            )
        if not self.learning_rate > 0:
            raise OptionError(f"learning_rate is {self.learning_rate}; it must be > 0")

    def fit(
        self,
        pairs: Pairs,
        purpose: str,
        inputs: Callable[[Pairs], Tensor],
        loss: Callable[[Tensor, Pairs], Tensor],
        outputs: int = 1,
    ) -> Params:
        """Minimize the mean of `loss`, which maps f(x) (B, O) and the batch to losses (B,)."""
        first = inputs(pairs.at(torch.zeros_like(pairs.index[..., :1])))
        params = self._init(pairs.seed, purpose, first, outputs)
        leaves = [p.requires_grad_() for p in params.values()]
        adam = torch.optim.Adam(leaves, self.learning_rate)
        for step in range(self.steps):
            batch = pairs.draw(f"{purpose} batch", step, self.batch)
            value = loss(self.output(params, inputs(batch)), batch).mean(-1).sum()
            for leaf, grad in zip(leaves, torch.autograd.grad(value, leaves), strict=True):
                leaf.grad = grad
            adam.step()
        return {k: v.detach() for k, v in params.items()}

    def _init(self, seed: Tensor, purpose: str, like: Tensor, outputs: int) -> Params:
        sizes = (like.shape[-1], *self.hidden, outputs)
        networks = [dense(draws.generator(s, purpose), sizes, "f") for s in seed.flatten().tolist()]
        params = {k: torch.stack([n[k] for n in networks]) for k in networks[0]}
        if seed.ndim == 0:
            params = networks[0]
        return {k: v.to(like.device, torch.float64) for k, v in params.items()}

    def output(self, params: Params, x: Tensor) -> Tensor:
        """Return f(x) of inputs (B, I): (B, O)."""
        last = len(self.hidden)
        x = relu_chain(params, x.double(), "f", last)
        return linear(x, params[f"f{last}.weight"], params[f"f{last}.bias"])

    @torch.no_grad()
    def predict(self, params: Params, pairs: Pairs, inputs: Callable[[Pairs], Tensor]) -> Tensor:
        """Return f of all pairs: (n, O)."""
        positions = torch.arange(pairs.index.shape[-1], device=pairs.index.device)
        chunks = positions.expand_as(pairs.index).split(_CHUNK, -1)
        return torch.cat([self.output(params, inputs(pairs.at(p))) for p in chunks], -2)
