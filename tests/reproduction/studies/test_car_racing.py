"""The cells of the study of Car Racing."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from reproduction.figure_options import FigureOptions
from reproduction.paper import PAPER_METHODS
from reproduction.studies import car_racing


def test_the_study_has_two_teachers_two_sizes_and_five_methods() -> None:
    cells = car_racing.cells()
    assert len(cells) == 2 * 2 * 5
    assert {(c.seeds, c.episodes, c.steps, c.pool) for c in cells} == {(5, 10, 2000, 8000)}
    assert {c.teacher for c in cells} == set(car_racing.RACING_TEACHERS)


def test_the_follow_up_studies_use_demonstrations_of_the_study() -> None:
    cell = car_racing.training_cell(5)
    (same,) = (
        c for c in car_racing.cells()
        if (c.teacher, c.pairs, c.method) == ("uniform", 400, "counter-bc")
    )  # fmt: skip
    assert (cell.pool, cell.radius, cell.seeds) == (same.pool, same.radius, same.seeds)


@pytest.mark.slow
@pytest.mark.needs("envpool")
def test_the_study_archives_the_rows_of_every_cell(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    few_pairs = partial(FigureOptions, quick=True, pairs=(20,))
    monkeypatch.setattr(car_racing, "FigureOptions", few_pairs)
    monkeypatch.setattr(car_racing, "RACING_TEACHERS", ("uniform",))
    options = car_racing.CarRacingOptions(
        seeds=2, episodes=1, steps=2, device="cpu", workers=1, out=tmp_path
    )
    car_racing.run(options)
    rows = pq.read_table(tmp_path / "car-racing" / "rows.parquet").to_pylist()
    assert {r["method"] for r in rows} == set(PAPER_METHODS)
    assert len(rows) == 5 * 2 * 2  # methods, seeds, ways of acting
    assert all(0 <= r["lap"] <= 1 and r["kernel"] and r["torch"] for r in rows)
