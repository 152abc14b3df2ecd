"""ILEED: the expertise of each operator at each state, learned together with the policy."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import torch
from torch import Tensor
from torch.nn.functional import logsigmoid

from counterbc.policies.layers import dense, linear, relu_chain
from counterbc.policies.policy import Params
from counterbc.weightings.pairs import Pairs
from counterbc.weightings.weighting import Batch, StepForm, Weighting


@dataclass(frozen=True)
class OperatorExpertise(Weighting):
    """R(s, a) = ρ π(a|s) / (ρ π(a|s) + (1 − ρ) u), with ρ(s, i) = sigmoid(e(s) · ω_i).

    Operator i follows the policy with probability ρ(s, i) and otherwise acts uniformly on A, with
    density u. R is the probability that an action followed the policy; no gradient flows through
    it. ρ minimizes −log(ρ π + (1 − ρ) u) with π fixed, so both together maximize the likelihood.
    """

    stacks: ClassVar[bool] = True
    reads_images: ClassVar[bool] = False
    needs: ClassVar[tuple[str, ...]] = ("operators",)
    compares_densities: ClassVar[bool] = True  # π with u
    hidden: tuple[int, ...] = (64, 64)
    size: int = 8
    """The size of the embeddings e(s) and ω_i."""

    def with_hidden(self, hidden: tuple[int, ...]) -> Weighting:
        return replace(self, hidden=hidden)

    def init(self, generator: torch.Generator, obs_size: int, operators: int = 0) -> Params:
        params = dense(generator, (obs_size, *self.hidden, self.size), "state")
        return params | {"operator": torch.zeros(operators, self.size)}  # ρ = ½ at first

    def columns(self, pairs: Pairs, model: Params) -> dict[str, Tensor]:
        return {"operator": pairs["operator"], "log_uniform": -pairs["log_volume"]}

    def weights(self, params: Params, batch: Batch, log_pi: Tensor) -> Tensor:
        logit = rho_logit(params, batch.state, batch.columns["operator"])  # (B, 1)
        log_uniform = batch.columns["log_uniform"].unsqueeze(-1)
        return (logit + log_pi - log_uniform).detach().sigmoid()

    def auxiliary(self, params: Params, batch: Batch, log_pi: Tensor) -> Tensor:
        logit = rho_logit(params, batch.state, batch.columns["operator"]).squeeze(-1)
        follows = logsigmoid(logit) + log_pi[..., 0].detach()  # (B,)
        errs = logsigmoid(-logit) + batch.columns["log_uniform"]
        return -torch.logaddexp(follows, errs).mean(-1)

    def native_form(self, actions: int) -> StepForm | None:
        return StepForm("operator network", "state", len(self.hidden) + 1) if actions == 1 else None


def rho_logit(params: Params, state: Tensor, operator: Tensor) -> Tensor:
    """Return e(s) · ω_i of states (B, S) and operators (B,): (B, 1)."""
    last = sum(name.endswith(".weight") for name in params) - 1
    x = relu_chain(params, state, "state", last)
    x = linear(x, params[f"state{last}.weight"], params[f"state{last}.bias"])  # (B, E)
    logits = x @ params["operator"].mT  # (B, operators)
    return logits.gather(-1, operator.unsqueeze(-1))
