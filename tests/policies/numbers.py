"""Random numbers that the tests of policies share."""

from __future__ import annotations

from collections.abc import Callable, Sequence

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


def check_stack(
    networks: Sequence[Params], outputs: Callable[..., tuple[Tensor, ...]], *inputs: Tensor
) -> None:
    """Compare stacked networks with each of them alone, in value and gradient.

    `outputs` takes parameters and `inputs`, whose first dimension is that of the networks.
    """
    stack = {k: torch.stack([p[k] for p in networks]).requires_grad_() for k in networks[0]}
    together = outputs(stack, *inputs)
    alone = [
        outputs({k: v[i] for k, v in stack.items()}, *(x[i] for x in inputs))
        for i in range(len(networks))
    ]
    looped = [torch.stack(x) for x in zip(*alone, strict=True)]
    assert_near(together, looped, 1e-12)
    joint, single = (
        torch.autograd.grad(
            torch.stack([x.square().sum() for x in values]).sum(), [*stack.values()]
        )
        for values in (together, looped)
    )
    assert_near(joint, single, 1e-11)


def check_gradients(
    params: Params, loss: Callable[[Params], Tensor], *, atol: float, fast_mode: bool = False
) -> None:
    """Compare the gradients of a loss of the parameters with finite differences."""
    leaves = [p.requires_grad_() for p in params.values()]

    def loss_of(*values: Tensor) -> Tensor:
        return loss(dict(zip(params, values, strict=True)))

    assert torch.autograd.gradcheck(loss_of, leaves, eps=1e-6, atol=atol, fast_mode=fast_mode)
