"""The native steps of weighted methods against torch's."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from counterbc.data.demonstrations import Demonstrations
from counterbc.methods import METHODS, Method
from counterbc.policies import GaussianGRU
from counterbc.training.network_stack import NetworkStack
from counterbc.weightings import Advantage, StateExpertise
from counterbc.weightings.pretraining import Pretraining
from tests.kernels.stacks import advance, demonstrations, stack

native = pytest.importorskip("counterbc.kernels.numba_weights", reason="the kernel needs numba")


def facts() -> Demonstrations:
    """Return demonstrations of two operators, with rewards."""
    demos, rng = demonstrations(), np.random.default_rng(1)
    return replace(
        demos,
        episodes=tuple(
            replace(e, operator="ab"[i % 2], reward=rng.normal(size=len(e)))
            for i, e in enumerate(demos.episodes)
        ),
    )


def add_previous(networks: NetworkStack) -> None:
    """Let the networks know the previous round's likelihoods, as a round of BCND does."""
    generator = torch.Generator().manual_seed(0)
    shape = (*networks.view.nets.pairs.shape, 4)
    previous = 3 * torch.randn(shape, generator=generator)
    networks.view.columns["log_pi_prev"] = previous.to(networks.loss.dtype)


def keep(networks: NetworkStack) -> None:
    """Change nothing."""


BY_TORCH = ("posterior", "epsilon-insensitive")
"""The methods without native steps."""
ADVANTAGE = Method(weighting=Advantage("exponential", Pretraining((8,), steps=20)))
GRU = Method(weighting=StateExpertise(), policy=GaussianGRU())
Prepare = Callable[[NetworkStack], None]


@pytest.mark.parametrize("method", METHODS)
def test_every_method_has_native_steps_but_these(method: str) -> None:
    name = stack(facts(), method, batch=10).kernel.name
    assert name == ("torch" if method in BY_TORCH else "numba")


@pytest.mark.parametrize(
    ("method", "prepare"),
    [
        *((name, keep) for name in METHODS if name not in BY_TORCH),
        ("bcnd", add_previous), (ADVANTAGE, keep), (GRU, keep),
    ],
)  # fmt: skip
def test_gradients_and_losses_are_those_of_torch(method: str | Method, prepare: Prepare) -> None:
    """Not the parameters: Adam makes whole steps of gradients that are 0 but for rounding."""
    options: dict[str, Any] = {"batch": 10, "hidden": (8, 20)}
    both_stacks = [stack(facts(), method, kernel=k, **options) for k in ("numba", "torch")]
    for networks in both_stacks:
        prepare(networks)
        advance(networks, 1)
    native_state, state = (networks.state() for networks in both_stacks)
    # A softmax does not change with the last bias, whose gradient is rounding alone.
    names = [n for n in state if n.startswith("adam/first/") and n[-9:] != "rho2.bias"]
    assert len(names) > 5
    for name in names:
        difference = (native_state[name] - state[name]).norm()
        assert difference <= 1e-4 * state[name].norm(), name
    for networks in both_stacks:
        advance(networks, 5)
    torch.testing.assert_close(both_stacks[0].loss, both_stacks[1].loss, rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize("method", ["weighted-bc", "ileed"])
def test_a_member_alone_gets_the_same_bits(method: str) -> None:
    three, single_stack = (stack(facts(), method, seeds=n, kernel="numba") for n in (3, 1))
    for networks in (three, single_stack):
        advance(networks, 20)
    for name, value in single_stack.params.items():
        assert torch.equal(three.params[name][:1], value)


def test_a_softmax_over_the_batch_is_that_of_torch() -> None:
    x = torch.linspace(-30, 50, 21)
    values = x.numpy().copy()
    native.softmax(values)
    torch.testing.assert_close(torch.tensor(values), x.softmax(0), rtol=1e-5, atol=1e-9)
    values[3] = np.nan
    native.softmax(values)
    assert np.isnan(values).all()
