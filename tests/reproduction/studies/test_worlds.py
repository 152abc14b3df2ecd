"""Returns of experts and teachers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

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


@pytest.mark.slow
def test_the_study_writes_returns_spread_and_delays(tmp_path: Path, check_origin: Any) -> None:
    options = worlds.WorldsOptions(episodes=2, out=tmp_path)
    worlds.run(options)
    numbers = read(options.numbers("worlds"))
    assert set(numbers["returns"]) >= {*worlds.CORE_WORLDS, "cartpole, starts ±2"}
    assert numbers["returns"]["cartpole"]["expert"]["return"] == 200
    assert 0.05 <= numbers["spread of the paper's return"] <= 16
    assert len(numbers["delays"]) == 4
    check_origin(numbers)
