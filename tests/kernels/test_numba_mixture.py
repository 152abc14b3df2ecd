"""The native steps of a mixture against torch's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from counterbc.data.demonstrations import Demonstrations
from counterbc.methods import METHODS
from counterbc.policies import Mixture
from counterbc.settings import Settings
from counterbc.training.batches import Batches
from counterbc.training.network_stack import NetworkStack
from counterbc.training.plan import Job

native = pytest.importorskip(
    "counterbc.kernels.numba_mixture", reason="the native steps need numba"
)
Make = Callable[..., Demonstrations]
MODES, SIZE, COUNT = 3, 2, 7


def population(demos: Demonstrations, method: str = "counter-bc", **changes: Any) -> NetworkStack:
    small: dict[str, Any] = {"hidden": (8, 8), "policy": "mixture", "modes": MODES}
    settings = Settings(**(small | changes))
    chosen = settings.apply(METHODS[method])
    job = Job([demos], "test", chosen, settings, "default", None)
    job.assign(3, None)
    view = job.view(job.datasets, torch.device("cpu"), torch.float32)
    view.update_columns(None, 1)
    return NetworkStack(view, job.fresh(view, 0), settings.rate(chosen.policy))


def advance(trained: NetworkStack, steps: int, batch: int = 20, by_torch: bool = False) -> None:
    position, epoch = Batches(trained.view.nets, batch).block(0, steps)
    if not by_torch:
        assert trained.native is not None
        trained.steps(position, epoch)
        return
    for p, e in zip(position, epoch, strict=True):
        trained.step(p, e)


def head_of(raw: Tensor) -> tuple[Tensor, ...]:
    """What `Mixture.head` makes of the last layer's numbers."""
    policy = Mixture(hidden=(raw.shape[1],), modes=MODES)
    layers = {"layer0.weight": torch.eye(raw.shape[1], dtype=raw.dtype) * 0}
    layers["layer0.bias"] = torch.zeros(raw.shape[1], dtype=raw.dtype)
    own = [policy.head(layers | _head(row), row.new_zeros(1, raw.shape[1])) for row in raw]
    return tuple(torch.cat(parts) for parts in zip(*own, strict=True))


def _head(row: Tensor) -> dict[str, Tensor]:
    return {"head.weight": row.new_zeros(len(row), len(row)), "head.bias": row}


@pytest.mark.parametrize("scale", [1.0, 4.0])
def test_value_and_gradient_are_those_of_autograd_in_float64(scale: float) -> None:
    rng = np.random.default_rng(0)
    head = (scale * rng.normal(size=(9, MODES + 2 * MODES * SIZE))).astype(np.float32)
    head[0, -1], head[1, -2] = 5.0, -25.0  # beyond the range of log σ
    actions = rng.uniform(-1, 1, (9, SIZE, COUNT)).astype(np.float32)
    grad = np.empty_like(head)
    total = native.mixture_losses(head, grad, actions, np.arange(9), MODES)
    raw = torch.tensor(head, dtype=torch.float64, requires_grad=True)
    offered = torch.tensor(actions, dtype=torch.float64).transpose(1, 2)  # (B, M, A)
    loss = Mixture(modes=MODES).cross_entropy(head_of(raw), offered).sum()
    (wanted,) = torch.autograd.grad(loss, raw)
    assert total == pytest.approx(float(loss.detach()), rel=1e-5)
    exact = wanted.numpy()
    size = np.abs(exact).max(1, keepdims=True)  # float32 is as fine as its largest term
    np.testing.assert_allclose(grad / size, exact / size, rtol=0, atol=2e-5)
    assert grad[0, -1] == 0
    assert grad[1, -2] == 0


def test_logarithms_are_those_of_numpy() -> None:
    x = np.geomspace(1, 1e6, 1000).astype(np.float32)
    bits, out = np.empty(1000, np.int32), np.empty(1000, np.float32)
    native.logarithms(x, bits, bits.view(np.float32), out)
    np.testing.assert_allclose(out, np.log(x.astype(float)), rtol=3e-7, atol=1e-7)


@pytest.mark.parametrize("method", ["bc", "counter-bc"])
@pytest.mark.parametrize("modes", [1, 5])
def test_fifty_steps_are_those_of_torch(method: str, modes: int, tiny: Demonstrations) -> None:
    ours, torchs = (population(tiny, method, modes=modes) for _ in range(2))
    advance(ours, 50)
    advance(torchs, 50, by_torch=True)
    for name, value in torchs.state().items():
        torch.testing.assert_close(ours.state()[name], value, rtol=1e-5, atol=2e-5, msg=name)
    torch.testing.assert_close(ours.loss, torchs.loss, rtol=1e-5, atol=1e-5)


def test_one_mode_is_trained_as_the_gaussian_is(tiny: Demonstrations) -> None:
    one, gaussian = population(tiny, modes=1), population(tiny, policy=None, modes=None)
    with torch.no_grad():
        for name, value in gaussian.params.items():
            value.copy_(one.params[name][..., 1:] if "head" in name else one.params[name])
    for each in (one, gaussian):
        advance(each, 50)
    for name, value in gaussian.params.items():
        own = one.params[name][..., 1:] if "head" in name else one.params[name]
        torch.testing.assert_close(own, value, rtol=1e-5, atol=2e-5)


@pytest.mark.parametrize("where", ["policy.layer0.weight", "policy.head.bias"])
def test_a_member_that_diverged_shows_it_and_stays_alone(where: str, tiny: Demonstrations) -> None:
    ill, well = population(tiny), population(tiny)
    with torch.no_grad():
        ill.params[where][1, ..., -1] = float("nan")  # of a head: the last log σ alone
    for each in (ill, well):
        advance(each, 5)
    assert ill.loss.isnan().tolist() == [False, True, False]
    for name, value in well.params.items():
        assert torch.equal(ill.params[name][[0, 2]], value[[0, 2]])


def test_a_mixture_that_reads_a_history_is_left_to_torch(tiny: Demonstrations) -> None:
    assert population(tiny, "bc-rnn").native is None
