"""Small stacks of networks in training, made without pytest so that a GPU machine can use them."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from counterbc.data.demonstrations import Demonstrations, Episode
from counterbc.kernels.dispatch import choose_kernel
from counterbc.kernels.torch_kernel import TorchKernel
from counterbc.methods import METHODS, Method
from counterbc.settings import Settings
from counterbc.training.batches import Batches
from counterbc.training.network_stack import NetworkStack
from counterbc.training.plan import plan_training, seed_members
from counterbc.training.run import initial_params, plan_view

_ROUNDING = ("rho1.bias", "rho2.bias")


def is_rounding(name: str) -> bool:
    """Return whether a tensor of the training state may be the rounding of zeros.

    A constant in f of Weighted-BC cancels in the softmax, so the gradient by the bias of the output
    and of units that are positive at all states is 0; Adam turns its rounding into whole steps.
    """
    return name.endswith(_ROUNDING)


def demonstrations(
    episodes: int = 4, length: int = 10, seed: int = 0, inputs: int = 3
) -> Demonstrations:
    """Return noisy demonstrations of a smooth function of some observed numbers, with 2 actions.

    Two operators take turns.
    """
    rng = np.random.default_rng(seed)
    obs = rng.uniform(-1, 1, (episodes, length, inputs))
    target = 0.7 * np.sin(obs.sum(-1, keepdims=True) + np.arange(2))
    action = target + rng.uniform(-0.1, 0.1, target.shape)
    pairs = zip(obs, action, strict=True)
    return Demonstrations(
        tuple(
            Episode(o, a, name=f"demo_{i}", operator="ab"[i % 2]) for i, (o, a) in enumerate(pairs)
        ),
        action_low=-np.ones(2),
        action_high=np.ones(2),
    )


def stack(
    demos: Demonstrations,
    method: str | Method = "counter-bc",
    *,
    device: str = "cpu",
    dtype: torch.dtype = torch.float32,
    seeds: int = 3,
    later: bool = False,
    **changes: Any,
) -> NetworkStack:
    """Return networks at the start of a training with these settings.

    `later` stands for a round after the first: pairs have what the initial policies say of them.
    """
    small: dict[str, Any] = {"hidden": (8, 8), "batch": 20, "radius": 0.4}
    settings = Settings(**(small | changes))
    definition = settings.apply(METHODS[method] if isinstance(method, str) else method)
    members = seed_members([demos], range(seeds), [[settings.radius]])
    plan = plan_training([demos], definition, settings, members)
    view = plan_view(plan, torch.device(device), dtype)
    view.fit()
    view.update_columns(initial_params(plan, view, 0) if later else None, definition.shards)
    assert settings.batch is not None
    case = view.case(settings.batch, settings.products)
    kernel = choose_kernel(settings.kernel, case)
    params, rate = initial_params(plan, view, 0), settings.rate(definition.policy)
    return NetworkStack(view, params, rate, case, kernel)


def block(networks: NetworkStack, steps: int) -> tuple[Tensor, Tensor]:
    """Return positions and epochs of the first steps: (steps, N, B) each."""
    assert isinstance(networks.kernel, TorchKernel)
    return Batches(networks.view.nets, networks.kernel.case.batch).block(0, steps)


def advance(networks: NetworkStack, steps: int = 50) -> None:
    """Take the first steps by the kernel of the stack."""
    networks.steps(*block(networks, steps))


def largest_difference(networks: NetworkStack, reference: NetworkStack) -> float:
    """Return the largest relative RMS difference of a tensor of the training state.

    Not the largest difference of a number: Adam turns the rounding of a gradient near 0 into whole
    steps of single weights.
    """
    state, reference_state = ({**n.state(), "loss": n.loss} for n in (networks, reference))
    pairs = [
        (state[name].cpu().double(), value.cpu().double())
        for name, value in reference_state.items()
        if not is_rounding(name)
    ]
    return max(float((a - b).norm() / b.norm().clamp(min=1e-12)) for a, b in pairs)
