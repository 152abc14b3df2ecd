"""Simulated demonstrations are recorded once while they fit in memory."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from counterbc.demonstrators import UniformNoise
from counterbc.experiments import simulated_data
from counterbc.experiments.simulated_data import SimulatedData, simulated_datasets

RECORDING = SimulatedData(world="intersection", teacher=UniformNoise(0.5), pairs=30, seeds=2)
OTHER = replace(RECORDING, teacher=UniformNoise(0.25))


def test_each_seed_has_its_own_demonstrations() -> None:
    first, second = simulated_datasets(RECORDING)
    assert first.pairs == second.pairs == 30
    assert first.fingerprint() != second.fingerprint()


def test_a_pool_is_recorded_whole_and_pairs_are_drawn_from_it() -> None:
    for demos in simulated_datasets(RECORDING, pool=60):
        assert demos.pairs == 30
        assert len(demos.obs) == 60
        assert not np.array_equal(demos.learned, np.arange(30))


def test_demonstrations_are_recorded_once_while_they_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    first = simulated_datasets(RECORDING)
    simulated_datasets(OTHER)
    assert all(x is y for x, y in zip(first, simulated_datasets(RECORDING), strict=True))
    monkeypatch.setattr(simulated_data, "CACHE_BYTES", 0)  # keeps only the last recording
    simulated_datasets(OTHER)
    assert all(x is not y for x, y in zip(first, simulated_datasets(RECORDING), strict=True))
