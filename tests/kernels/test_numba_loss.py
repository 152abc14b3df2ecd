"""The native loop of a Gaussian's loss against autograd, and who uses it."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
import torch
from torch import Tensor

from counterbc.data.demonstrations import Demonstrations
from counterbc.losses import cross_entropy
from counterbc.methods import METHODS, Method
from counterbc.policies import GaussianMLP
from counterbc.policies.fused import closed_form, evaluated_by, gaussian_cross_entropy
from tests.kernels.stacks import advance, largest_difference, stack

numba_loss = pytest.importorskip("counterbc.kernels.numba_loss", reason="the loop needs numba")
Three = tuple[Tensor, Tensor, Tensor]


def normal(*shape: int, seed: int = 0) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, generator=generator)


def inputs(states: int = 13, count: int = 51, size: int = 3) -> Three:
    """Return means, log standard deviations and actions."""
    mean, log_std = normal(states, size).tanh(), normal(states, size, seed=1) - 1
    return mean, log_std, normal(states, count, size, seed=2)


def plain(mean: Tensor, log_std: Tensor, actions: Tensor) -> Three:
    """Return the loss of each state and its gradients, by autograd in float64."""
    mean, log_std = (x.double().detach().requires_grad_() for x in (mean, log_std))
    loss = cross_entropy(GaussianMLP().log_prob((mean, log_std), actions.double()))
    by_mean, by_log_std = torch.autograd.grad(loss.sum(), (mean, log_std))
    return loss.detach(), by_mean, by_log_std


@pytest.mark.parametrize(("count", "size"), [(51, 1), (51, 2), (51, 7), (1, 3), (2, 28)])
def test_value_and_gradient_are_those_of_autograd(count: int, size: int) -> None:
    tensors = inputs(count=count, size=size)
    for numba_value, exact in zip(numba_loss.evaluate(*tensors), plain(*tensors), strict=True):
        scale = exact.abs().max().item()
        torch.testing.assert_close(numba_value.double(), exact, rtol=1e-5, atol=1e-5 * scale)


@pytest.mark.parametrize("log_std", [-20.0, -8.0, 2.0])
@pytest.mark.parametrize("shift", [0.0, 1.0, 1000.0])
def test_extreme_spreads_and_actions_stay_finite(log_std: float, shift: float) -> None:
    mean, _, actions = inputs()
    for part in numba_loss.evaluate(mean, torch.full_like(mean, log_std), actions + shift):
        assert bool(part.isfinite().all())


@pytest.mark.parametrize("log_std", [-2.0, -5.0, -8.0, -10.0, -20.0])
@pytest.mark.parametrize("count", [1, 51])
def test_a_confident_policy_that_is_wrong_still_gets_the_exact_gradient(
    log_std: float, count: int
) -> None:
    mean, spread = torch.zeros(1, 1), torch.full((1, 1), log_std)
    actions = torch.full((1, count, 1), 0.5)
    exact = closed_form(mean.double(), spread.double(), actions.double())
    for value, exact_value in zip(numba_loss.evaluate(mean, spread, actions), exact, strict=True):
        assert value.item() == pytest.approx(exact_value.item(), rel=1e-5)


def test_the_loop_replaces_the_closed_form_within_its_context_alone() -> None:
    calls = []

    def spy(*tensors: Tensor) -> Three:
        calls.append(len(tensors[0]))
        return closed_form(*tensors)

    with evaluated_by(spy):
        gaussian_cross_entropy(*inputs(states=4))
    gaussian_cross_entropy(*inputs(states=5))
    assert calls == [4]


@pytest.mark.parametrize("method", [Method(policy=GaussianMLP(history=2)), METHODS["counter-bc"]])
def test_twenty_steps_with_the_loop_are_those_of_torch(
    method: Method, tiny: Demonstrations
) -> None:
    options: dict[str, Any] = {"resample": method.support.count > 0}
    numba_stack = stack(tiny, method, **options)
    torchs = stack(tiny, method, kernel="torch", **options)
    assert (numba_stack.kernel.name, torchs.kernel.name) == ("torch, numba loss", "torch")
    for networks in (numba_stack, torchs):
        advance(networks, 20)
    assert largest_difference(numba_stack, torchs) < 1e-4


def test_the_kernel_torch_never_uses_the_loop(
    tiny: Demonstrations, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(*_: Tensor) -> Three:
        raise AssertionError("the loop was used")

    monkeypatch.setattr(numba_loss, "evaluate", never)
    networks = stack(tiny, "bc-rnn", kernel="torch")
    advance(networks, 1)
    networks.held_out(networks.view)


@pytest.mark.slow
def test_the_loop_leaves_the_number_of_torchs_threads_unchanged() -> None:
    """In a process of its own: numba's threads start once."""
    script = (
        "import torch; from counterbc.kernels import numba_loss\n"
        "torch.set_num_threads(1)\n"
        "numba_loss.evaluate(torch.zeros(4, 2), torch.zeros(4, 2), torch.zeros(4, 3, 2))\n"
        "print(torch.get_num_threads())"
    )
    process = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert process.stdout.strip() == "1"
