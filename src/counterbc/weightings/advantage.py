"""Advantage-filtered BC: actions count that did better than usual."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import torch
from torch import Tensor

from counterbc.errors import unknown
from counterbc.policies.policy import Params
from counterbc.weightings.pairs import Pairs
from counterbc.weightings.pretraining import Pretraining
from counterbc.weightings.weighting import Batch, StepForm, Weighting

FORMS = ("binary", "exponential")


def _inputs(pairs: Pairs) -> Tensor:
    return torch.cat([pairs["state"], pairs["time"].unsqueeze(-1)], -1)  # (B, S + 1)


@dataclass(frozen=True)
class Advantage(Weighting):
    """R(s, a) = 1[A > 0], or min(exp(A / std A), 1), with A = G − V(s, t).

    G is the reward from the pair to the end of its episode, and V its regression on the state and
    the time t, trained before the policy. Without t, late states would seem bad merely because
    little reward is left.
    """

    stacks: ClassVar[bool] = True
    reads_images: ClassVar[bool] = False
    needs: ClassVar[tuple[str, ...]] = ("rewards",)
    form: Literal["binary", "exponential"] = "binary"
    network: Pretraining = Pretraining()

    def __post_init__(self) -> None:
        if self.form not in FORMS:
            raise unknown("form", self.form, FORMS)

    def with_hidden(self, hidden: tuple[int, ...]) -> Weighting:
        return replace(self, network=replace(self.network, hidden=hidden))

    def fit(self, pairs: Pairs) -> Params:
        to_go = pairs["to_go"].double()
        mean = pairs.mean(to_go)
        std = pairs.mean((to_go - mean.unsqueeze(-1)).square()).sqrt().clamp(min=1e-9)

        def loss(value: Tensor, batch: Pairs) -> Tensor:
            target = (batch["to_go"] - mean.unsqueeze(-1)) / std.unsqueeze(-1)
            return (value.squeeze(-1) - target).square()

        params = self.network.fit(pairs, "value", _inputs, loss)
        params |= {"mean": mean, "std": std}
        a = self._advantage(pairs, params)
        return params | {"scale": pairs.mean(a.square()).sqrt().clamp(min=1e-9)}

    def _advantage(self, pairs: Pairs, model: Params) -> Tensor:
        value = self.network.predict(model, pairs, _inputs).squeeze(-1)
        value = model["mean"].unsqueeze(-1) + model["std"].unsqueeze(-1) * value
        return pairs["to_go"] - value  # (n,)

    def columns(self, pairs: Pairs, model: Params) -> dict[str, Tensor]:
        a = self._advantage(pairs, model)
        if self.form == "binary":
            return {"weight": (a > 0).to(a)}
        return {"weight": (a / model["scale"].unsqueeze(-1)).clamp(max=0).exp()}

    def weights(self, params: Params, batch: Batch, log_pi: Tensor) -> Tensor:
        return batch.columns["weight"].unsqueeze(-1).expand_as(log_pi)

    def native_form(self, actions: int) -> StepForm | None:
        return StepForm("column", "weight") if actions == 1 else None
