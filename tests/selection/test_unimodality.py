"""Errors with one peak and with two."""

from __future__ import annotations

import numpy as np
import pytest

from counterbc.selection.unimodality import departure, two_peaks


def test_errors_with_one_peak_are_rarely_said_to_have_two() -> None:
    rng = np.random.default_rng(0)
    alarms = [bool(two_peaks(rng.uniform(-1, 1, (80, 2)))) for _ in range(400)]
    assert np.mean(alarms) <= 0.02
    assert two_peaks(np.concatenate([rng.normal(m, 0.3, (100, 1)) for m in (-1, 1)])) == [0]


def test_departure_is_nothing_where_the_distribution_has_one_peak_by_hand() -> None:
    one_peak = np.concatenate([-(np.arange(1, 20) ** 1.5), np.arange(20) ** 1.5])
    assert departure(one_peak) == pytest.approx(0, abs=1e-12)
    # Three values at each end: F is flat between, half of it lies above the chord 1/6 … 5/6.
    assert departure(np.array([0.0, 0.01, 0.02, 1.0, 1.01, 1.02])) > 0.25
