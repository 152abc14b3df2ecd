"""A batch by hand for the tests of weightings."""

from __future__ import annotations

import torch
from torch import Tensor

from counterbc.weightings import Batch


def batch(state: Tensor, actions: int = 1, **columns: Tensor) -> Batch:
    """Return a batch of states (B, S) with actions (B, M, 1) that are all zero."""
    return Batch(state, state, torch.zeros(len(state), actions, 1), columns)
