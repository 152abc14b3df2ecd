"""The native steps of a mixture against torch's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from counterbc.data.demonstrations import Demonstrations
from counterbc.policies import Mixture
from counterbc.training.network_stack import NetworkStack
from tests.kernels.stacks import advance, largest_difference, stack

native = pytest.importorskip("counterbc.kernels.numba_mixture", reason="the kernel needs numba")
MODES, SIZE, COUNT = 3, 2, 7


def mixture_stack(
    demos: Demonstrations, method: str = "counter-bc", **changes: Any
) -> NetworkStack:
    options: dict[str, Any] = {"policy": "mixture", "modes": MODES}
    return stack(demos, method, **(options | changes))


def head_of(raw: Tensor) -> tuple[Tensor, ...]:
    """What `Mixture.head` makes of the last layer's numbers."""
    policy = Mixture(hidden=(raw.shape[1],), modes=MODES)
    layers = {"layer0.weight": torch.eye(raw.shape[1], dtype=raw.dtype) * 0}
    layers["layer0.bias"] = torch.zeros(raw.shape[1], dtype=raw.dtype)
    heads = [policy.head(layers | _head(row), row.new_zeros(1, raw.shape[1])) for row in raw]
    return tuple(torch.cat(parts) for parts in zip(*heads, strict=True))


def _head(row: Tensor) -> dict[str, Tensor]:
    return {"head.weight": row.new_zeros(len(row), len(row)), "head.bias": row}


@pytest.mark.parametrize("scale", [1.0, 4.0])
def test_value_and_gradient_are_those_of_autograd_in_float64(scale: float) -> None:
    rng = np.random.default_rng(0)
    head = (scale * rng.normal(size=(9, MODES + 2 * MODES * SIZE))).astype(np.float32)
    head[0, -1], head[1, -2] = 5.0, -25.0  # beyond the range of log σ
    actions = rng.uniform(-1, 1, (9, SIZE, COUNT)).astype(np.float32)
    grad, losses = np.empty_like(head), np.empty(9, np.float32)
    native.mixture_losses(head, grad, actions, np.arange(9), MODES, losses)
    raw = torch.tensor(head, dtype=torch.float64, requires_grad=True)
    offered = torch.tensor(actions, dtype=torch.float64).transpose(1, 2)  # (B, M, A)
    loss = Mixture(modes=MODES).cross_entropy(head_of(raw), offered).sum()
    (exact_gradient,) = torch.autograd.grad(loss, raw)
    assert losses.sum() == pytest.approx(float(loss.detach()), rel=1e-5)
    exact = exact_gradient.numpy()
    size = np.abs(exact).max(1, keepdims=True)  # float32 is as fine as its largest term
    np.testing.assert_allclose(grad / size, exact / size, rtol=0, atol=2e-5)
    assert grad[0, -1] == 0
    assert grad[1, -2] == 0


def test_logarithms_are_those_of_numpy() -> None:
    x = np.geomspace(1, 1e6, 1000).astype(np.float32)
    bits, out = np.empty(1000, np.int32), np.empty(1000, np.float32)
    native.logarithms(x, bits, bits.view(np.float32), out)
    np.testing.assert_allclose(out, np.log(x.astype(float)), rtol=3e-6, atol=1e-6)


@pytest.mark.parametrize("method", ["bc", "counter-bc"])
@pytest.mark.parametrize("modes", [1, 5])
def test_fifty_steps_are_those_of_torch(method: str, modes: int, tiny: Demonstrations) -> None:
    numba_stack, torchs = (
        mixture_stack(tiny, method, modes=modes, kernel=kernel) for kernel in ("numba", "torch")
    )
    for networks in (numba_stack, torchs):
        advance(networks, 50)
    assert largest_difference(numba_stack, torchs) < 1e-4


def test_one_mode_is_trained_as_the_gaussian_is(tiny: Demonstrations) -> None:
    single = mixture_stack(tiny, modes=1, kernel="numba")
    gaussian = stack(tiny, kernel="numba")
    with torch.no_grad():
        for name, value in gaussian.params.items():
            value.copy_(single.params[name][..., 1:] if "head" in name else single.params[name])
    for networks in (single, gaussian):
        advance(networks, 50)
    for name, value in gaussian.params.items():
        mixture_value = single.params[name][..., 1:] if "head" in name else single.params[name]
        scale = float(value.detach().abs().max())
        torch.testing.assert_close(mixture_value, value, rtol=0, atol=1e-4 * scale)


@pytest.mark.parametrize("parameter_name", ["policy.layer0.weight", "policy.head.bias"])
def test_a_member_that_diverged_shows_it_and_leaves_the_others_alone(
    parameter_name: str, tiny: Demonstrations
) -> None:
    ill, well = (mixture_stack(tiny, kernel="numba") for _ in range(2))
    with torch.no_grad():
        ill.params[parameter_name][1, ..., -1] = float("nan")  # of a head: the last log σ alone
    for networks in (ill, well):
        advance(networks, 5)
    assert ill.loss.isnan().tolist() == [False, True, False]
    for name, value in well.params.items():
        assert torch.equal(ill.params[name][[0, 2]], value[[0, 2]])
