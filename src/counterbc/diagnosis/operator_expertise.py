"""The expertise of operators that policies trained with ILEED have learned."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from counterbc.acting.policies import Policies
from counterbc.data.demonstrations import Demonstrations
from counterbc.errors import OptionError
from counterbc.weightings.operator_expertise import rho_logit


@torch.no_grad()
def expertise(
    policies: Policies, demos: Demonstrations | Sequence[Demonstrations]
) -> dict[str, NDArray[Any]]:
    """Return the mean ρ of each operator over its pairs, one number per member.

    `demos` is what the policies were trained on: one dataset for all, or one per seed.
    """
    datasets = list(demos) if isinstance(demos, Sequence) else [demos]
    names = policies.run_config.labels.get("operators")
    if names is None or "operator" not in policies.weighting_params:
        raise OptionError(
            f"policies trained with {policies.method} hold no expertise; train with ileed"
        )
    means = {name: np.full(len(policies), np.nan) for name in names}
    for m, member in enumerate(policies):
        data = datasets[member.members[0].dataset]
        numbers = [names.index(e.operator) for e in data.episodes for _ in range(len(e))]
        operator = torch.tensor(numbers)[torch.tensor(data.learned)]  # (n,)
        state = member.scales.obs(torch.tensor(data.obs[data.learned])[None])
        nets = member.shards
        logit = rho_logit(
            member.weighting_params, state.expand(nets, -1, -1), operator.expand(nets, -1)
        )
        rho = logit.sigmoid().mean(0).squeeze(-1)  # (n,)
        for i, name in enumerate(names):
            if bool((operator == i).any()):
                means[name][m] = float(rho[operator == i].mean())
    return means
