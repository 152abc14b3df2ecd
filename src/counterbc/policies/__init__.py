"""π_θ(a|s), one file each."""

from counterbc.policies.gaussian_gru import GaussianGRU
from counterbc.policies.gaussian_mlp import GaussianMLP
from counterbc.policies.mixture import Mixture
from counterbc.policies.policy import Params, Policy

POLICIES: dict[str, type[Policy]] = {
    "gaussian-mlp": GaussianMLP,
    "gaussian-gru": GaussianGRU,
    "mixture": Mixture,
}

__all__ = ["POLICIES", "GaussianGRU", "GaussianMLP", "Mixture", "Params", "Policy"]
