"""Whether the actions of a training are censored, and what follows for its policy."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from counterbc.data.arrays import Array
from counterbc.data.censoring import bound_sides
from counterbc.data.demonstrations import Demonstrations
from counterbc.data.lags import undo_lag
from counterbc.errors import DataError, OptionError, UncensoredActions
from counterbc.methods import Method
from counterbc.settings import Settings

REACH = 2
"""The largest mean of a policy whose actions are censored or relative; the bounds are ±1."""


def is_censored(datasets: Sequence[Demonstrations], method: Method, settings: Settings) -> bool:
    """Return whether actions on a bound are censored, which the data must declare."""
    if settings.censored is False:
        return False
    reasons = [_reason(data, method) for data in datasets]
    if settings.censored is True and any(reasons):
        raise OptionError(f"censored is True, but {next(filter(None, reasons))}")
    for data, reason in zip(datasets, reasons, strict=True):
        if data.actions_are == "taken" and reason is not None:
            warnings.warn(f"actions are not censored: {reason}", UncensoredActions, stacklevel=3)
    if None in reasons and any(reasons):
        raise DataError(
            "some datasets declare actions taken, cut at their bounds, and others do not; train "
            "them separately, or with censored=False"
        )
    return None in reasons


def _reason(data: Demonstrations, method: Method) -> str | None:
    """Return why a method cannot censor actions on a bound of these data; None where it does."""
    if data.actions_are is None:
        return (
            "the data do not declare whether their actions are those asked or taken; if they were "
            'cut at the bounds, declare it: --actions-are taken, or actions_are="taken"'
        )
    if data.actions_are == "asked":
        return (
            "the data declare that their actions are those asked for, which no bound cuts; leave "
            "censored out"
        )
    if data.action_low is None:
        return (
            "the data declare no bounds at which actions were cut; add action_low and action_high"
        )
    if data.action_set == "ball":
        return (
            "the feasible actions are a ball, which cuts the length of an action and not its "
            "dimensions; only bounds of each dimension are supported"
        )
    if not method.policy.has_density:
        return (
            f"a {type(method.policy).__name__} has no likelihood of censored actions; train with "
            "censored=False, or choose another policy"
        )
    if method.policy.horizon > 1:
        return (
            f"the policy predicts {method.policy.horizon} actions at once, whose bounds are not "
            "supported; train with censored=False, or with a horizon of 1"
        )
    if method.weighting.compares_densities:
        return (
            f"the weighting {type(method.weighting).__name__} compares densities, and the "
            "likelihood of a censored action is a probability; train with censored=False, or "
            "choose another method, such as bc"
        )
    return None


def wide_method(method: Method) -> Method:
    """Return the method with a policy whose mean can lie beyond the bounds."""
    return replace(method, policy=replace(method.policy, reach=REACH))


def lagged_sides(data: Demonstrations, lag: Sequence[float]) -> Array:
    """Return on which bound the action a_(t+k) of each pair lies: 1, −1 or 0, (N, A).

    An action between two neighbours is censored on the side on which one of them is, and unknown,
    here 0, where they lie on opposite bounds.
    """
    assert data.action_low is not None
    assert data.action_high is not None
    side = bound_sides(data.action, data.action_low, data.action_high)
    upper, lower = (undo_lag(data, lag, (side == s).astype(float))[0] > 0 for s in (1, -1))
    return upper.astype(np.int8) - lower.astype(np.int8)
