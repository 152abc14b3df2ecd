"""The policy of BC-RNN: a GRU over the last observations, then a Gaussian head."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor

from counterbc.data.draws import Source, rand
from counterbc.policies.gaussian import Gaussian
from counterbc.policies.gru import gru
from counterbc.policies.layers import dense, linear, relu_chain
from counterbc.policies.policy import Params


@dataclass(frozen=True)
class GaussianGRU(Gaussian):
    """h_t = (1 − z) n + z h_{t−1}, with

    r = σ(W_r s_t + U_r h_{t−1}), z = σ(W_z s_t + U_z h_{t−1}), n = tanh(W_n s_t + r (U_n h_{t−1})).

    `hidden` holds the units of the GRU first, then those of ReLU layers between GRU and head.
    """

    cost: ClassVar[float] = 3.0
    history: int = 5

    def init(self, generator: Source, obs_size: int, action_size: int) -> Params:
        units, *layers = self.hidden
        bound = 1 / math.sqrt(units)

        def uniform(*shape: int) -> Tensor:
            return (2 * rand(generator, *shape) - 1) * bound

        params = {
            "gru.input.weight": uniform(obs_size, 3 * units),
            "gru.input.bias": uniform(3 * units),
            "gru.state.weight": uniform(units, 3 * units),
            "gru.state.bias": uniform(3 * units),
        }
        params |= dense(generator, (units, *layers), "layer")
        return params | self._init_head(generator, self.hidden[-1], action_size)

    def head(self, params: Params, obs: Tensor) -> tuple[Tensor, Tensor]:
        obs = obs.unsqueeze(-2) if self.history == 1 else obs  # a history of one has no axis
        flat = obs.transpose(-3, -2).flatten(-3, -2)  # (T · B, S)
        x = linear(flat, params["gru.input.weight"], params["gru.input.bias"])
        x = x.unflatten(-2, (self.history, -1))  # (T, B, 3H)
        h = gru(x, params["gru.state.weight"], params["gru.state.bias"])  # (B, H)
        return self._head(params, relu_chain(params, h, "layer", len(self.hidden) - 1))

    def chain(self) -> tuple[str, ...]:
        if type(self) is not GaussianGRU or self.reach != 1:  # a subclass may differ
            return ()
        return (*(f"layer{i}" for i in range(len(self.hidden) - 1)), "head")

    def recurrent(self) -> str:
        return "gru" if self.chain() else ""
