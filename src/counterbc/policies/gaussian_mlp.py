"""The paper's policy: hidden layers with ReLU, then a Gaussian head."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from counterbc.data.draws import Source
from counterbc.policies.gaussian import Gaussian
from counterbc.policies.layers import dense, relu_chain
from counterbc.policies.policy import Params


@dataclass(frozen=True)
class GaussianMLP(Gaussian):
    """s → ReLU layers → (μ, log σ); a history is read as one vector."""

    def init(self, generator: Source, obs_size: int, action_size: int) -> Params:
        sizes = (obs_size * self.history, *self.hidden)
        params = dense(generator, sizes, "layer")
        return params | self._init_head(generator, self.hidden[-1], action_size)

    def head(self, params: Params, obs: Tensor) -> tuple[Tensor, Tensor]:
        flat = obs if self.history == 1 else obs.flatten(-2)
        x = relu_chain(params, flat, "layer", len(self.hidden))
        return self._head(params, x)

    def chain(self) -> tuple[str, ...]:
        is_plain = self.history == 1 and self.reach == 1
        if type(self) is not GaussianMLP or not is_plain:  # a subclass may differ
            return ()
        return (*(f"layer{i}" for i in range(len(self.hidden))), "head")
