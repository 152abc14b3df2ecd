"""Returns of experts and teachers."""

from __future__ import annotations

import pytest

from counterbc.demonstrators import UniformNoise
from reproduction.options import RESULTS
from reproduction.records import read
from reproduction.studies import worlds


def test_cartpole_s_expert_survives_from_gentle_starts() -> None:
    length, total = worlds.lengths_and_returns("cartpole", UniformNoise(0.0), 20)
    assert length.tolist() == total.tolist() == [200.0] * 20


def test_the_returns_on_file_are_those_of_the_experts_now() -> None:
    returns = read(RESULTS / "worlds" / "numbers.json")["returns"]
    assert set(returns) >= set(worlds.CORE_WORLDS) - {"fork"}
    row = returns["intersection"]["expert"]
    _, total = worlds.lengths_and_returns("intersection", UniformNoise(0.0), 500)
    assert total.mean() == pytest.approx(row["return"], abs=5 * total.std() / 500**0.5)
