"""Effects that are put in are found, with their standard errors."""

from __future__ import annotations

import numpy as np
import pytest

from counterbc.diagnosis.influence import random_halves
from counterbc.diagnosis.influence_effects import least_squares


def test_least_squares_finds_effects_that_are_put_in() -> None:
    rng = np.random.default_rng(0)
    truth = rng.normal(size=20)
    first = random_halves(20, 400, 0)
    difference = np.where(first, 1.0, -1.0) @ truth + 0.5 * rng.normal(size=400)
    fit = least_squares(first, difference)
    se = np.sqrt(np.diag(fit["covariance"]))
    assert se == pytest.approx(np.full(20, 0.5 / np.sqrt(400)), rel=0.2)
    assert np.abs((fit["effect"] - truth) / se).max() < 4
    assert fit["degrees"] == 380
    assert fit["differs"] < 1e-6


def test_equal_effects_differ_at_the_nominal_rate() -> None:
    p_values = []
    for seed in range(200):
        rng = np.random.default_rng(seed)
        first = random_halves(8, 40, seed)
        x = np.where(first, 1.0, -1.0)
        p_values.append(least_squares(first, 0.3 * x.sum(1) + rng.normal(size=40))["differs"])
    assert 0.01 < np.mean(np.array(p_values) < 0.05) < 0.11
