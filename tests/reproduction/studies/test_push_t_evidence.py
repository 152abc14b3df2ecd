"""What recordings of Push-T are like."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import counterbc as cb
from reproduction.studies.push_t_evidence import autocorrelation


def test_errors_are_correlated_within_episodes_only() -> None:
    episode = cb.Episode(np.zeros((4, 1)), np.zeros((4, 1)))
    demos = cb.Demonstrations((episode, replace(episode, name="second")))
    off = np.array([1.0, -1, 1, -1, 1, 1, -1, -1])[:, None]
    # Lag 1: −1 −1 −1 in the first episode, 1 −1 1 in the second; the mean square is 1.
    assert autocorrelation(demos, off, 1) == pytest.approx((-3 + 1) / 6)
    assert autocorrelation(demos, off, 2) == pytest.approx((2 - 2) / 4)
