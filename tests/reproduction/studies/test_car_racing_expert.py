"""The expert of Car Racing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from reproduction.options import RESULTS
from reproduction.records import read
from reproduction.studies import car_racing_expert


def test_the_numbers_on_file_have_both_simulators() -> None:
    numbers = read(RESULTS / "car-racing" / "numbers.json")["expert"]
    assert set(numbers) == set(car_racing_expert.BACKENDS)
    assert all(0.9 < row["lap"] <= 1 for row in numbers.values())


@pytest.mark.slow
@pytest.mark.needs("envpool")
def test_the_expert_visits_nearly_the_whole_track(tmp_path: Path, check_origin: Any) -> None:
    options = car_racing_expert.CarRacingExpertOptions(
        tracks=2, backends=("envpool",), out=tmp_path
    )
    car_racing_expert.run(options)
    numbers = read(options.numbers("car-racing"))["expert"]
    assert numbers["envpool"]["lap"] > 0.95
    check_origin(*numbers.values())
