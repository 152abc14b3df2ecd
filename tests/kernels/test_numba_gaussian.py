"""The native loop over states: exponentials, and a state computed by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

native = pytest.importorskip("counterbc.kernels.numba_gaussian", reason="the loop needs numba")


def test_exponentials_are_those_of_numpy() -> None:
    x = np.linspace(-80, 0, 1001).astype(np.float32)
    bits, out = np.empty(1001, np.int32), np.empty(1001, np.float32)
    native.exponentials(x, bits, bits.view(np.float32), out)
    np.testing.assert_allclose(out, np.exp(x.astype(float)), rtol=1e-5, atol=0)  # 4e-6 without FMA


def test_one_state_with_two_actions_by_hand() -> None:
    """μ = 0, σ = 1 and the actions 0 and 1: ℓ = −½ log 2π and that less ½."""
    mean, log_std, inverse, d_mean, d_log_std = (np.zeros((1, 1), np.float32) for _ in range(5))
    native.inverse_scales(log_std, inverse)
    block = native.Gaussians(mean, log_std, inverse, d_mean, d_log_std)
    actions, loss = np.array([[[0.0, 1.0]]], np.float32), np.zeros(1, np.float32)
    native.states(block, actions, np.array([0]), loss)
    p = 1 / (1 + math.exp(-0.5))  # of the action 0
    expected_loss = 0.5 * math.log(2 * math.pi) + 0.5 * (1 - p)
    assert loss[0] == pytest.approx(expected_loss, rel=1e-6)
    slope = -(1 - p) * (1 - 0.5 * p)  # ∂L/∂ℓ of the action 1: −p (ℓ + L + 1), where z = 1
    assert d_mean[0, 0] == pytest.approx(slope, rel=1e-5)


def test_one_state_with_its_action_alone_by_hand() -> None:
    """μ = 0, log σ = log 2 and the action 1: z = ½, and the loss is −log N(1; 0, 2²)."""
    mean, inverse, d_mean, d_log_std = (np.zeros((1, 1), np.float32) for _ in range(4))
    log_std, loss = np.full((1, 1), math.log(2), np.float32), np.zeros(1, np.float32)
    native.inverse_scales(log_std, inverse)
    block = native.Gaussians(mean, log_std, inverse, d_mean, d_log_std)
    native.states(block, np.ones((1, 1), np.float32), np.array([0]), loss)
    assert loss[0] == pytest.approx(0.5 * math.log(2 * math.pi) + math.log(2) + 0.125, rel=1e-6)
    assert d_mean[0, 0] == pytest.approx(-0.25, rel=1e-6)
    assert d_log_std[0, 0] == pytest.approx(0.75, rel=1e-6)
