"""Random numbers that the tests of policies share."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from counterbc.policies import Params, Policy


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def normal(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(*shape, generator=generator(seed), dtype=torch.float64)


def uniform(*shape: int, seed: int = 5) -> Tensor:
    u = torch.rand(*shape, generator=generator(seed), dtype=torch.float64)
    return u.clamp(1e-4, 1 - 1e-4)


def initial_params(policy: Policy, obs_size: int, action_size: int, seed: int = 0) -> Params:
    """Return initial parameters of residual layers with a head that is not nearly constant."""
    params = double(policy.init(generator(seed), obs_size, action_size))
    params["head.weight"] *= 10
    return params


def assert_near(actual: Sequence[Tensor], reference: Sequence[Tensor], share: float) -> None:
    """Compare tensors within a share of the largest number of each."""
    assert len(actual) == len(reference)
    for a, b in zip(actual, reference, strict=True):
        scale = float(b.detach().abs().max())
        torch.testing.assert_close(a, b, rtol=0, atol=share * scale)


def double(params: Params) -> Params:
    return {k: v.double() for k, v in params.items()}


def check_stack(
    networks: Sequence[Params],
    outputs: Callable[..., tuple[Tensor, ...]],
    *inputs: Tensor,
    mapped: bool = False,
) -> None:
    """Compare stacked networks, and `mapped` ones, with each alone, in value and gradient.

    `outputs` takes parameters and `inputs`, whose first dimension is that of the networks.
    """
    stack = {k: torch.stack([p[k] for p in networks]).requires_grad_() for k in networks[0]}
    alone = [
        outputs({k: v[i] for k, v in stack.items()}, *(x[i] for x in inputs))
        for i in range(len(networks))
    ]
    looped = [torch.stack(x) for x in zip(*alone, strict=True)]
    expected = _gradients(looped, stack)
    for all_at_once in (outputs, torch.func.vmap(outputs))[: 1 + mapped]:
        together = all_at_once(stack, *inputs)
        assert_near(together, looped, 1e-12)
        assert_near(_gradients(together, stack), expected, 1e-11)


def _gradients(values: Sequence[Tensor], params: Params) -> Sequence[Tensor]:
    loss = torch.stack([x.square().sum() for x in values]).sum()
    return torch.autograd.grad(loss, list(params.values()))


def check_gradients(
    params: Params, loss: Callable[[Params], Tensor], *, atol: float, fast_mode: bool = False
) -> None:
    """Compare the gradients of a loss of the parameters with finite differences."""
    leaves = [p.requires_grad_() for p in params.values()]

    def loss_of(*values: Tensor) -> Tensor:
        return loss(dict(zip(params, values, strict=True)))

    assert torch.autograd.gradcheck(loss_of, leaves, eps=1e-6, atol=atol, fast_mode=fast_mode)
