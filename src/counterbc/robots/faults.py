"""What makes the arm stop: a lost camera, an old position, a stalled policy, a NaN."""

from __future__ import annotations

from collections import deque

import numpy as np

from counterbc.robots.decider import Decision
from counterbc.robots.robot import Reading

CAMERA, OBSERVATION = "camera lost", "observation not finite"
CLOCK = "clock of the camera is not that of the loop"
POSITION, POSITION_CLOCK = "position too old", "clock of the position is not that of the loop"
STILL = "position does not follow the commands"
LATE = "tick too late for a command"
STALLED, ENDED, ACTION = "policy stalled", "policy ended", "action not finite"
FINAL = (ENDED, ACTION, STILL)
"""Faults that end a run at once: what caused them does not pass by itself."""
ROUNDING = 1e-3
"""Seconds by which a picture or a position may seem to come from the future."""


def reading_fault(reading: Reading | None, now: float, oldest: float) -> str:
    """Return what is wrong with a reading, or an empty text.

    A picture that is older than `oldest` seconds counts as lost. With less than one period, the arm
    stops within two periods of the last picture, as the next tick comes at most one later. `now` is
    read after the arm was observed: a picture that is younger has the time of another clock, and
    its age is unknown. The same holds for the position, if the reading says when it was measured.
    """
    if reading is not None and now - reading.time < -ROUNDING:
        return CLOCK
    if reading is None or not now - reading.time <= oldest:  # a time that is NaN is a fault too
        return CAMERA
    if reading.position_time is not None:
        age = now - reading.position_time
        if not -ROUNDING <= age <= oldest:
            return POSITION_CLOCK if age < -ROUNDING else POSITION
    is_finite = np.isfinite(reading.obs).all() and np.isfinite(reading.position).all()
    return "" if is_finite else OBSERVATION


def decision_fault(decision: Decision | None, is_running: bool) -> str:
    """Return what is wrong with the policy's answer, or an empty text."""
    if decision is None:
        return STALLED if is_running else ENDED
    return "" if np.isfinite(decision.action).all() else ACTION


class FaultCount:
    """Says when a run has to end: after a final fault, or after `patience` faulty ticks.

    They count in a row, and also among the last 2 · `patience` ticks: a fault in every second tick
    does not pass by itself either.
    """

    def __init__(self, patience: int) -> None:
        self.patience, self.in_row = patience, 0
        self._recent = deque[bool](maxlen=2 * patience)
        self._count = 0

    def add(self, fault: str) -> str:
        """Note the fault of a tick, or an empty text; return why the run ends, if it does."""
        if len(self._recent) == self._recent.maxlen:
            self._count -= self._recent[0]
        self._recent.append(bool(fault))
        self._count += bool(fault)
        self.in_row = self.in_row + 1 if fault else 0
        if fault in FINAL or self.in_row >= self.patience:
            return fault
        if fault and self._count >= self.patience:
            return f"{fault}; {self._count} of the last {len(self._recent)} ticks were faulty"
        return ""
