"""The paper's grids as cells."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from counterbc.errors import OptionError
from reproduction.grid import PaperGrid

GRID = PaperGrid(
    worlds=["intersection"],
    teachers=["uniform", "gaussian"],
    pairs=[20, 40],
    methods=["bc", "counter-bc", "bc-rnn"],
    seeds=2,
    episodes=2,
    steps=4,
)


def test_a_grid_gives_a_radius_only_to_methods_that_use_one() -> None:
    grid = replace(GRID, radii=(0.1, 0.2), teachers=["crowd"], pairs=[20])
    cells = [(p.method, p.radius, p.sigma) for p in grid.cells()]
    assert cells == [
        ("bc", None, None), ("counter-bc", 0.1, None), ("counter-bc", 0.2, None),
        ("bc-rnn", None, None),
    ]  # fmt: skip


def test_exactly_k_pairs_are_recorded_only_by_noises_in_intersection() -> None:
    def pools(world: str, teacher: str, **more: Any) -> set[int]:
        grid = replace(GRID, worlds=[world], teachers=[teacher], **more)
        return {p.pool for p in grid.cells()}

    assert pools("intersection", "uniform") == {0}
    assert pools("intersection", "crowd") == pools("cartpole", "uniform") == {20_000}
    assert pools("air-hockey", "crowd") == {48_000}
    assert pools("air-hockey", "crowd", largest_pool=300) == {300}


def test_a_grid_refuses_more_pairs_than_are_recorded() -> None:
    with pytest.raises(OptionError, match="pairs is 20001; of crowd in cartpole 20000 are rec"):
        replace(GRID, worlds=["cartpole"], teachers=["crowd"], pairs=[20_001])
