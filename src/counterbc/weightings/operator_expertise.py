"""ILEED: how expert each operator is at each state, learned together with the policy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import logsigmoid

from counterbc.errors import OptionError
from counterbc.policies.layers import dense, linear, relu_chain
from counterbc.policies.policy import Params
from counterbc.weightings.pairs import Pairs
from counterbc.weightings.weighting import Batch, Weighting, reads_vectors

if TYPE_CHECKING:
    from counterbc.acting.policies import Policies
    from counterbc.data.demonstrations import Demonstrations


@dataclass(frozen=True)
class OperatorExpertise(Weighting):
    """R(s, a) = ρ π(a|s) / (ρ π(a|s) + (1 − ρ) u), with ρ(s, i) = sigmoid(e(s) · ω_i).

    Operator i means the policy's action with chance ρ(s, i) and else acts uniformly on A, with
    density u. R is the chance that a shown action was meant; no gradient flows through it. ρ
    learns by −log(ρ π + (1 − ρ) u), π held, so that both together descend the likelihood.
    """

    stacks: ClassVar[bool] = True
    needs: ClassVar[tuple[str, ...]] = ("operators",)
    hidden: tuple[int, ...] = (64, 64)
    size: int = 8
    """Of the embeddings e(s) and ω_i."""

    def for_images(
        self, image: tuple[int, int, int], history: int, hidden: tuple[int, ...]
    ) -> Weighting:
        raise reads_vectors("ileed")

    def init(self, generator: torch.Generator, obs_size: int, operators: int = 0) -> Params:
        params = dense(generator, (obs_size, *self.hidden, self.size), "state")
        return params | {"operator": torch.zeros(operators, self.size)}  # ρ = ½ to begin with

    def columns(self, pairs: Pairs, fitted: Params) -> dict[str, Tensor]:
        return {"operator": pairs["operator"], "log_uniform": -pairs["log_volume"]}

    def weights(self, params: Params, batch: Batch, log_pi: Tensor) -> Tensor:
        logit = rho_logit(params, batch.state, batch.columns["operator"])  # (B, 1)
        log_uniform = batch.columns["log_uniform"].unsqueeze(-1)
        return (logit + log_pi - log_uniform).detach().sigmoid()

    def auxiliary(self, params: Params, batch: Batch, log_pi: Tensor) -> Tensor:
        logit = rho_logit(params, batch.state, batch.columns["operator"]).squeeze(-1)
        meant = logsigmoid(logit) + log_pi[..., 0].detach()  # (B,)
        erred = logsigmoid(-logit) + batch.columns["log_uniform"]
        return -torch.logaddexp(meant, erred).mean(-1)


def rho_logit(params: Params, state: Tensor, operator: Tensor) -> Tensor:
    """e(s) · ω_i of states (B, S) and operators (B,): (B, 1)."""
    last = sum(name.endswith(".weight") for name in params) - 1
    x = relu_chain(params, state, "state", last)
    x = linear(x, params[f"state{last}.weight"], params[f"state{last}.bias"])  # (B, E)
    each = x @ params["operator"].mT  # (B, operators)
    return each.gather(-1, operator.unsqueeze(-1))


@torch.no_grad()
def expertise(
    policies: Policies, demos: Demonstrations | Sequence[Demonstrations]
) -> dict[str, NDArray[Any]]:
    """Mean ρ of each operator over the pairs it showed, one number per member.

    `demos` is what the policies were trained on: one dataset for all, or one per seed.
    """
    datasets = list(demos) if isinstance(demos, Sequence) else [demos]
    names = policies.config.get("operators")
    if names is None or "operator" not in policies.weighting_params:
        raise OptionError(
            f"policies trained with {policies.method} hold no expertise; train with ileed"
        )
    found = {name: np.full(len(policies), np.nan) for name in names}
    for m, member in enumerate(policies):
        data = datasets[member.members[0].dataset]
        who = [names.index(e.operator) for e in data.episodes for _ in range(len(e))]
        operator = torch.tensor(who)[torch.tensor(data.learned)]  # (n,)
        state = member.scales.obs(torch.tensor(data.obs[data.learned])[None])
        nets = member.shards
        logit = rho_logit(
            member.weighting_params, state.expand(nets, -1, -1), operator.expand(nets, -1)
        )
        rho = logit.sigmoid().mean(0).squeeze(-1)  # (n,)
        for i, name in enumerate(names):
            if bool((operator == i).any()):
                found[name][m] = float(rho[operator == i].mean())
    return found
