"""The policies π_θ(a|s), one file each."""

from counterbc.policies.chunk import Chunk
from counterbc.policies.flow import Flow
from counterbc.policies.flow_cnn import FlowCNN
from counterbc.policies.gaussian_cnn import GaussianCNN, GaussianCNNGRU
from counterbc.policies.gaussian_gru import GaussianGRU
from counterbc.policies.gaussian_mlp import GaussianMLP
from counterbc.policies.mixture import Mixture
from counterbc.policies.policy import Params, Policy

POLICIES: dict[str, type[Policy]] = {
    "gaussian-mlp": GaussianMLP,
    "gaussian-gru": GaussianGRU,
    "mixture": Mixture,
    "gaussian-cnn": GaussianCNN,
    "gaussian-cnn-gru": GaussianCNNGRU,
    "chunk": Chunk,
    "flow": Flow,
    "flow-cnn": FlowCNN,
}

FOR_IMAGES: dict[type[Policy], type[GaussianCNN] | type[GaussianCNNGRU] | type[FlowCNN]] = {
    GaussianMLP: GaussianCNN,
    GaussianGRU: GaussianCNNGRU,
    GaussianCNN: GaussianCNN,
    GaussianCNNGRU: GaussianCNNGRU,
    Flow: FlowCNN,
    FlowCNN: FlowCNN,
}
"""The policy that replaces another, by its exact class, where observations are images."""

__all__ = [
    "FOR_IMAGES",
    "POLICIES",
    "Chunk",
    "Flow",
    "FlowCNN",
    "GaussianCNN",
    "GaussianCNNGRU",
    "GaussianGRU",
    "GaussianMLP",
    "Mixture",
    "Params",
    "Policy",
]
