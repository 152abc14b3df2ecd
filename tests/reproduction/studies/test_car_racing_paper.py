"""Car Racing under the paper's conventions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from counterbc.data.demonstrations import Demonstrations, Episode
from counterbc.demonstrators import EpisodeBatch
from reproduction.paper import PAPER_METHODS
from reproduction.records import read
from reproduction.studies import car_racing_paper
from reproduction.studies.car_racing_paper import CarRacingPaperOptions, RawNoise, as_taken


def test_noise_is_as_large_on_the_pedals_as_on_the_wheel_in_raw_units() -> None:
    batch = EpisodeBatch(np.arange(50), np.arange(50), 3, 40, 50.0)
    distort = RawNoise("uniform", 0.5).begin(batch)
    scaled = np.stack([distort(np.zeros((50, 3)), t) for t in range(40)])
    raw = scaled * car_racing_paper.HALF_RANGE
    peak = np.abs(raw).max((0, 1))
    assert (peak <= 0.5).all()
    assert (peak > 0.49).all()


def test_variants_have_the_papers_steps_and_learning_rate() -> None:
    variants = car_racing_paper.variants()
    assert {variants[name]["steps"] for name in PAPER_METHODS} == {10_000}
    assert variants["bc, tuned"] == {"method": "bc", "steps": "auto"}
    assert variants["counter-bc, projected"]["feasible"] == "project"
    assert "bc, 200 steps" in variants
    way = car_racing_paper.PAPER_WAY
    assert (way["learning_rate"], way["scale_actions"], way["radius"]) == (1e-3, False, 0.4)


def test_the_methods_of_uniform_noise_come_first_and_no_cell_is_listed_twice() -> None:
    cells = [tuple(c.values()) for c in car_racing_paper.cells(CarRacingPaperOptions())]
    assert len(set(cells)) == len(cells) == 2 * len(car_racing_paper.variants())
    assert {name for noise, name in cells[:6]} == {*PAPER_METHODS, "bc, tuned"}
    assert cells[6:8] == [("gaussian", "bc"), ("gaussian", "counter-bc")]


def test_actions_taken_are_cut_at_the_bounds_and_declared() -> None:
    action = np.array([[0.5, -0.3, 1.2]], np.float32)
    demos = Demonstrations(
        (Episode(np.zeros((1, 2), np.float32), action),), action_low=np.array([-1.0, 0, 0]),
        action_high=np.ones(3), actions_are="asked",
    )  # fmt: skip
    executed = as_taken(demos)
    assert executed.actions_are == "taken"
    assert executed.action.tolist() == [[0.5, 0.0, 1.0]]


@pytest.mark.slow
@pytest.mark.needs("envpool")
def test_a_tiny_study_drives_with_raw_and_censored_pedals(tmp_path: Path, run_here: Any) -> None:
    run_here(car_racing_paper)
    options = CarRacingPaperOptions(
        seeds=1, noises=("uniform",), variants=("bc", "counter-bc, projected", "bc, censored"),
        episodes=1, steps=2, pool=450, device="cpu", out=tmp_path,
    )  # fmt: skip
    try:
        car_racing_paper.run(options)
    finally:
        car_racing_paper.recorded.cache_clear()
    rows = read(tmp_path / "car-racing-paper" / "rows.json")
    assert len(rows) == 3 * 2
    assert all(0 <= r["lap"] <= 1 and r["steps"] == 2 for r in rows)
