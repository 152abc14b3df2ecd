"""The ways of acting, in a module without torch, so that the command line can list them."""

from __future__ import annotations

from typing import Literal, get_args

Act = Literal["mean", "sample"]
"""Take the action as deployed, which is deterministic except for a flow, or a sampled one."""
ACTS: tuple[Act, ...] = get_args(Act)
AVERAGING = 0.01
"""Overlapping predictions of an action are averaged with weights exp(−0.01 i), the oldest being
i = 0, as by ACT."""
