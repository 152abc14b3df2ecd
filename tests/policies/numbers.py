"""Random numbers that the tests of policies share."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from counterbc.policies import Params


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def normal(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(*shape, generator=generator(seed), dtype=torch.float64)


def assert_near(actual: Sequence[Tensor], reference: Sequence[Tensor], share: float) -> None:
    """Compare tensors within a share of the largest number of each."""
    assert len(actual) == len(reference)
    for a, b in zip(actual, reference, strict=True):
        scale = float(b.detach().abs().max())
        torch.testing.assert_close(a, b, rtol=0, atol=share * scale)


def double(params: Params) -> Params:
    return {k: v.double() for k, v in params.items()}
