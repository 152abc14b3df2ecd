"""What makes the arm stop: a lost camera, a stalled policy, a number that is not finite."""

from __future__ import annotations

import numpy as np

from counterbc.robots.decider import Decision
from counterbc.robots.robot import Reading

CAMERA, OBSERVATION = "camera lost", "observation not finite"
CLOCK = "clock of the camera is not that of the loop"
LATE = "tick too late for a command"
STALLED, ENDED, ACTION = "policy stalled", "policy ended", "action not finite"
FINAL = (ENDED, ACTION)
"""Faults that end a run at once: what caused them does not pass by itself."""
ROUNDING = 1e-3
"""Seconds by which a picture may seem to come from the future."""


def reading_fault(reading: Reading | None, now: float, oldest: float) -> str:
    """Return what is wrong with a reading, or an empty text.

    A picture that is older than `oldest` seconds counts as lost. With less than one period, the arm
    stops within two periods of the last picture, as the next tick comes at most one later. `now` is
    read after the arm was observed: a picture that is younger has the time of another clock, and
    its age is unknown.
    """
    if reading is not None and now - reading.time < -ROUNDING:
        return CLOCK
    if reading is None or not now - reading.time <= oldest:  # a time that is NaN is a fault too
        return CAMERA
    is_finite = np.isfinite(reading.obs).all() and np.isfinite(reading.position).all()
    return "" if is_finite else OBSERVATION


def decision_fault(decision: Decision | None, is_running: bool) -> str:
    """Return what is wrong with the policy's answer, or an empty text."""
    if decision is None:
        return STALLED if is_running else ENDED
    return "" if np.isfinite(decision.action).all() else ACTION
