"""Δ in some dimensions of Car Racing."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from reproduction.records import read, write
from reproduction.studies import car_racing
from reproduction.studies import car_racing_dimensions as dimensions


def test_finished_variants_are_not_trained_again(tmp_path: Path) -> None:
    options = dimensions.CarRacingDimensionsOptions(out=tmp_path)
    laps = {name: {"mean": [0.5], "sample": [0.4]} for name in dimensions.DIMENSIONS}
    path = write({"dimensions": laps, "expert": {}}, options.numbers("car-racing"))
    dimensions.run(options)
    assert read(path) == {"dimensions": laps, "expert": {}}


def test_every_variant_has_a_radius_in_some_dimensions_of_three() -> None:
    for radius in dimensions.DIMENSIONS.values():
        assert len(radius) == 3
        assert 0 < sum(r > 0 for r in radius) < 3


@pytest.mark.slow
@pytest.mark.needs("envpool")
def test_the_study_writes_the_laps_of_every_variant(
    tmp_path: Path, check_origin: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    cell = replace(car_racing.training_cell(2), pairs=20, pool=100)
    monkeypatch.setattr(dimensions, "training_cell", lambda seeds: replace(cell, seeds=seeds))
    options = dimensions.CarRacingDimensionsOptions(
        seeds=1, episodes=1, steps=2, device="cpu", out=tmp_path
    )
    dimensions.run(options)
    laps = read(options.numbers("car-racing"))["dimensions"]
    assert list(laps) == list(dimensions.DIMENSIONS)
    assert all(0 <= row[act][0] <= 1 for row in laps.values() for act in ("mean", "sample"))
    check_origin(*laps.values(), trained=True)
