"""Δ in some dimensions of Car Racing."""

from __future__ import annotations

from pathlib import Path

from reproduction.records import read, write
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
