"""Random numbers that the tests of policies share."""

from __future__ import annotations

import torch
from torch import Tensor

from counterbc.policies import Params


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def normal(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(*shape, generator=generator(seed), dtype=torch.float64)


def double(params: Params) -> Params:
    return {k: v.double() for k, v in params.items()}
