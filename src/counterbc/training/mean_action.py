"""The trivial prediction that held-out errors are compared with: always the mean learned action."""

from __future__ import annotations

import torch
from torch import Tensor

from counterbc.training.view import View, chunk_size

_PAIRS = 2048  # at most, as `NetworkStack.held_out` reads


def mean_action_error(view: View, held_out: View) -> Tensor:
    """Return the squared error of the mean learned action on the held-out pairs: (N,).

    It is in the units of `NetworkStack.held_out`, summed over dimensions.
    """
    nets, count = held_out.nets, len(held_out.nets.pairs)
    width = min(_PAIRS, chunk_size(held_out.store, count), int(nets.lengths.min()))
    errors = []
    for learned, length, pairs in zip(view.nets.pairs, view.nets.lengths, nets.pairs, strict=True):
        mean = view.store.action[learned[: int(length)]].mean(0)
        errors.append(((held_out.store.action[pairs[:width]] - mean) ** 2).sum(-1).mean())
    return torch.stack(errors)
