"""Counter-BC in Car Racing with Δ in some action dimensions only.

Its numbers are the share of the track of each run; the study `car-racing` has them with Δ in no
dimension (BC) and in all.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Any

from counterbc.acting.act import ACTS
from counterbc.experiments.comparison import select_runs
from reproduction.options import StudyOptions
from reproduction.records import computed_with, read, update
from reproduction.studies.car_racing import EPISODES, SEEDS, STEPS, WORLD, training_cell

DIMENSIONS = {"steering": (0.4, 0.0, 0.0), "gas and brake": (0.0, 0.4, 0.4)}
"""Δ of steering, gas and brake."""


@dataclass(frozen=True, kw_only=True)
class CarRacingDimensionsOptions(StudyOptions):
    """Train Counter-BC with Δ in some dimensions of Car Racing."""

    seeds: int = SEEDS
    episodes: int = EPISODES
    steps: int = STEPS
    device: str | None = None


def run(options: CarRacingDimensionsOptions) -> None:
    """Compute the missing variants; each is kept as soon as it is finished."""
    path = options.numbers(WORLD)
    laps: dict[str, Any] = read(path).get("dimensions", {}) if path.exists() else {}
    for name, radius in DIMENSIONS.items():
        if name in laps:
            continue
        cell = training_cell(options.seeds)
        cell = replace(cell, radius=radius, episodes=options.episodes, steps=options.steps)
        table = cell.rows(options.device)
        laps[name] = {act: select_runs(table, act, "lap").tolist() for act in ACTS}
        laps[name] |= computed_with(options.device, table["kernel"][0].as_py())
        update(path, dimensions=laps)
    print(json.dumps(laps, indent=1))
