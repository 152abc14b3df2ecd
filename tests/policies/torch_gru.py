"""The GRU of torch with our parameters."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from counterbc.policies import Params

UNITS, STEPS, BATCH, INPUTS = 6, 5, 7, 3


def torchs(params: Params, obs: Tensor) -> Tensor:
    """The last state by torch.nn.GRU, from our parameters, with the graph kept."""
    module = nn.GRU(INPUTS, UNITS, batch_first=True, dtype=torch.float64)
    torch_params = {
        "weight_ih_l0": params["gru.input.weight"].T,
        "weight_hh_l0": params["gru.state.weight"].T,
        "bias_ih_l0": params["gru.input.bias"],
        "bias_hh_l0": params["gru.state.bias"],
    }
    _, last = torch.func.functional_call(module, torch_params, obs)
    return last.squeeze(0)  # type: ignore[no-any-return]  # functional_call is untyped
