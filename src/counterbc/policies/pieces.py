"""Large images, read a few pairs at a time: in little memory, and with pauses to stop at."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

Read = Callable[[Tensor, Sequence[Tensor]], Tensor]
"""Maps images (…, B, frames, H, W, C) and parameters to features (…, B, h, w, O)."""
_IMAGES, _FEATURES = -5, -4  # the dimensions of the pairs
_must_stop: ContextVar[Callable[[], bool]] = ContextVar("must_stop", default=lambda: False)


class StoppedAtPause(Exception):
    """Work was stopped before a piece was read; nothing of it counts."""


@contextmanager
def stops_at_pauses(must_stop: Callable[[], bool]) -> Iterator[None]:
    """Raise a `StoppedAtPause` before the first piece at which the function returns True."""
    token = _must_stop.set(must_stop)
    try:
        yield
    finally:
        _must_stop.reset(token)


def read_in_pieces(read: Read, images: Tensor, params: Sequence[Tensor], pairs: int) -> Tensor:
    """Return read(images, params), of this many pairs at a time.

    What a gradient needs is computed again for each piece, so that memory holds that of one piece.
    The sum over pieces rounds differently from the gradient of all pairs at once.
    """
    features: Tensor = _Pieces.apply(read, pairs, images, *params)  # type: ignore[no-untyped-call]  # torch has no types
    return features


class _Pieces(torch.autograd.Function):
    """Features of pieces, with the gradient of parameters summed over them."""

    @staticmethod
    def forward(read: Read, pairs: int, images: Tensor, *params: Tensor) -> Tensor:
        pieces = images.split(pairs, _IMAGES)
        return torch.cat([_read_after_pause(read, piece, params) for piece in pieces], _FEATURES)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        ctx.read, ctx.pairs, *tensors = inputs
        ctx.save_for_backward(*tensors)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        images, *params = ctx.saved_tensors
        leaves = [p.detach().requires_grad_() for p in params]
        sums = [torch.zeros_like(p) for p in params]
        pieces, grads = images.split(ctx.pairs, _IMAGES), grad.split(ctx.pairs, _FEATURES)
        for piece, grad_of_piece in zip(pieces, grads, strict=True):
            with torch.enable_grad():
                features = _read_after_pause(ctx.read, piece, leaves)
            parts = torch.autograd.grad(features, leaves, grad_of_piece)
            for total, part in zip(sums, parts, strict=True):
                total += part
        return None, None, None, *sums

    @staticmethod
    def vmap(
        info: Any, in_dims: tuple[int | None, ...], read: Read, pairs: int, *tensors: Tensor
    ) -> tuple[Tensor, int]:
        """Read the images of N networks as one stack."""
        stacks = [
            tensor.expand(info.batch_size, *tensor.shape) if dim is None else tensor.movedim(dim, 0)
            for tensor, dim in zip(tensors, in_dims[2:], strict=True)
        ]
        return read_in_pieces(read, stacks[0], stacks[1:], pairs), 0


def _read_after_pause(read: Read, images: Tensor, params: Sequence[Tensor]) -> Tensor:
    if _must_stop.get()():
        raise StoppedAtPause
    return read(images, params)
