"""Errors of timing: acting late, and not acting at all for a while."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from counterbc.demonstrators.teacher import Array, Erring, Takes, Teacher, check, check_range


@dataclass(frozen=True)
class Delay(Teacher):
    """Reaction: what is shown was meant k + f steps ago, k whole and 0 ≤ f < 1; at first 0.

    a_t = (1 − f) · a*_(t−k) + f · a*_(t−k−1)
    """

    steps: float
    """k + f: seconds times the world's rate. People need about 0.2 s to react to what they see."""

    def __post_init__(self) -> None:
        check_range(self, ("steps",))

    def begin(self, takes: Takes) -> Erring:
        f, k = math.modf(self.steps)
        meant = [np.zeros((len(takes.key), takes.size))] * (int(k) + 1)  # oldest first

        def show(action: Array, t: int) -> Array:
            meant.append(action)
            return (1 - f) * meant[1] + f * meant.pop(0)

        return show


@dataclass(frozen=True)
class Lapses(Teacher):
    """Attention lost: in each attentive step, with `probability`, for 1 … `longest` steps.

    A lapse begins in the step that it is drawn for, and its length is uniform. Meanwhile the last
    action before it is held, or, where `holds` is false, the hand is taken off: 0.
    """

    probability: float
    longest: int = 3
    holds: bool = True

    def __post_init__(self) -> None:
        check_range(self, ("probability",), most=1.0)
        check(self, "longest", "1 or more", self.longest >= 1)

    def begin(self, takes: Takes) -> Erring:
        u = takes.uniform("lapse", 2)  # (T, N, 2)
        length = 1 + (self.longest * u[..., 1]).astype(int)  # (T, N)
        left = np.zeros(len(takes.key), int)  # (N,)
        last = np.zeros((len(takes.key), takes.size))  # (N, A)

        def show(action: Array, t: int) -> Array:
            nonlocal left, last
            begins = (left == 0) & (u[t, :, 0] < self.probability)
            left = np.where(begins, length[t], left)
            shown = np.where((left > 0)[:, None], last if self.holds else 0.0, action)
            left, last = np.maximum(left - 1, 0), shown
            return shown

        return show
