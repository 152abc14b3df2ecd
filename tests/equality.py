"""Comparisons of trained policies."""

from __future__ import annotations

import torch

from counterbc.acting.policies import Policies


def same_params(a: Policies, b: Policies) -> bool:
    """Return whether parameters are equal to the bit."""
    return a.params.keys() == b.params.keys() and all(
        torch.equal(value, b.params[name]) for name, value in a.params.items()
    )


def same(a: Policies, b: Policies) -> bool:
    """Return whether parameters and loss curves are equal to the bit."""
    assert a.curve is not None
    assert b.curve is not None
    held_out = [c.held_out for c in (a.curve, b.curve) if c.held_out is not None]
    return (
        same_params(a, b)
        and torch.equal(a.curve.steps, b.curve.steps)
        and torch.equal(a.curve.loss, b.curve.loss)
        and (not held_out or torch.equal(*held_out))
    )


def assert_near(a: Policies, b: Policies, within: float) -> None:
    """Compare parameters, with a tolerance relative to their size."""
    for name, value in a.params.items():
        torch.testing.assert_close(value, b.params[name], rtol=within, atol=within)
