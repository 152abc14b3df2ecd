"""The expert of Car Racing."""

from __future__ import annotations

import pytest

from reproduction.options import RESULTS
from reproduction.records import read
from reproduction.studies import car_racing_expert


def test_the_numbers_on_file_have_both_simulators() -> None:
    numbers = read(RESULTS / "car-racing" / "numbers.json")["expert"]
    assert set(numbers) == set(car_racing_expert.BACKENDS)
    assert all(0.9 < row["lap"] <= 1 for row in numbers.values())


@pytest.mark.slow
def test_the_expert_visits_nearly_the_whole_track() -> None:
    pytest.importorskip("envpool", reason="the racing extra is not installed")
    numbers = car_racing_expert.drive("envpool", 2)
    assert numbers["lap"] > 0.95
