"""The cells of the study of Car Racing."""

from __future__ import annotations

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
