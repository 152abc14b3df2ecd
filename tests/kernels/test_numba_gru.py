"""The native steps of BC-RNN against torch's."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from counterbc.data.demonstrations import Demonstrations
from counterbc.methods import METHODS, Method
from counterbc.policies import GaussianGRU
from counterbc.supports import Ball
from counterbc.weightings import PolicyLikelihood
from tests.kernels.stacks import advance, largest_difference, stack

pytest.importorskip("counterbc.kernels.numba_gru", reason="the kernel needs numba")


@pytest.mark.parametrize("changes", [{}, {"hidden": (20,)}, {"batch": 7, "hidden": (5, 9, 6)}])
def test_fifty_steps_are_those_of_torch(changes: dict[str, Any], tiny: Demonstrations) -> None:
    numba_stack, torchs = (stack(tiny, "bc-rnn", kernel=k, **changes) for k in ("numba", "torch"))
    for networks in (numba_stack, torchs):
        advance(networks)
    assert largest_difference(numba_stack, torchs) < 1e-4


@pytest.mark.parametrize("history", [1, 3])
def test_windows_may_have_any_length(history: int, tiny: Demonstrations) -> None:
    method = Method(policy=GaussianGRU(history=history))
    numba_stack, torchs = (stack(tiny, method, kernel=k) for k in ("numba", "torch"))
    for networks in (numba_stack, torchs):
        advance(networks, 20)
    assert largest_difference(numba_stack, torchs) < 1e-4


def test_counterfactuals_and_a_gru_go_together(tiny: Demonstrations) -> None:
    method = Method(Ball(count=5), PolicyLikelihood(), GaussianGRU())
    numba_stack, torchs = (stack(tiny, method, kernel=k) for k in ("numba", "torch"))
    for networks in (numba_stack, torchs):
        advance(networks, 20)
    assert largest_difference(numba_stack, torchs) < 1e-4


def test_a_member_alone_gets_the_same_bits(tiny: Demonstrations) -> None:
    three, single_stack = (stack(tiny, METHODS["bc-rnn"], seeds=n, kernel="numba") for n in (3, 1))
    for networks in (three, single_stack):
        advance(networks)
    for name, value in single_stack.params.items():
        assert torch.equal(three.params[name][:1], value)
