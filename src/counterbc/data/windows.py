"""The windows of past observations that policies with a history read."""

from __future__ import annotations

import torch
from torch import Tensor


def window_rows(pairs: Tensor, starts: Tensor, history: int) -> tuple[Tensor, Tensor]:
    """Return the rows of each pair's window, the pair last, and whether its episode has them.

    `starts` are the first rows of the pairs' episodes, and stand for rows before them. Pairs of
    any shape (…) have windows (…, history).
    """
    rows = pairs.unsqueeze(-1) - torch.arange(history - 1, -1, -1, device=pairs.device)
    first = starts.unsqueeze(-1)
    return rows.maximum(first), rows >= first
