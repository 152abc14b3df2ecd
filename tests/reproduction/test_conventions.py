"""Whose convention the rows of a figure follow."""

from __future__ import annotations

import pytest

from counterbc.envs import WORLDS
from reproduction.conventions import (
    CONVENTIONS,
    OTHER_WORLDS,
    convention_text,
    conventions_of,
    is_noise_scattered,
)
from reproduction.grid import PaperGrid


@pytest.mark.parametrize(
    ("world", "teacher", "names"),
    [
        ("intersection", "uniform", ()),
        ("intersection", "quick-crowd", ("quick crowd",)),
        ("cartpole", "uniform", ("scattered noise",)),
        ("cartpole", "crowd", ("late crowd",)),
        ("car-racing", "uniform", ("pedals and training", "scattered noise")),
        ("push-t", "people", ("another task",)),
        ("a toy", "uniform", ()),
    ],
)
def test_rows_differ_by_their_world_and_their_teachers(
    world: str, teacher: str, names: tuple[str, ...]
) -> None:
    assert conventions_of(world, [teacher]) == names
    assert set(names) <= set(CONVENTIONS)


@pytest.mark.parametrize("world", ["intersection", "cartpole", "car-racing"])
def test_noise_is_scattered_where_figures_draw_from_a_recording(world: str) -> None:
    grid = PaperGrid(worlds=[world], teachers=["uniform"], pairs=[400], methods=["bc"])
    (cell,) = grid.cells()
    assert is_noise_scattered(world) == (cell.pool > 0)


def test_a_convention_is_named_in_words() -> None:
    assert convention_text(()) == "the paper's"
    both = conventions_of("cartpole", ["quick-crowd", "gaussian"])
    assert convention_text(both) == "ours (quick crowd, scattered noise)"
    assert set(OTHER_WORLDS) <= set(WORLDS)
