"""The paper's grids: which cells they have, and in which order they are computed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from reproduction.catalog import FigureOptions, cells
from reproduction.grid import PaperGrid

GRID = PaperGrid(
    worlds=["intersection"], teachers=["uniform", "gaussian"], pairs=[20, 40],
    methods=["bc", "counter-bc", "bc-rnn"], seeds=2, episodes=2, steps=4,
)  # fmt: skip


def test_a_grid_gives_a_radius_only_to_methods_that_use_one() -> None:
    grid = replace(GRID, radii=(0.1, 0.2), teachers=["crowd"], pairs=[20])
    found = [(p.method, p.radius, p.sigma) for p in grid.cells()]
    assert found == [
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


def test_figures_share_their_common_populations() -> None:
    options = FigureOptions(worlds=("intersection",), teachers=("uniform",))
    one_by_one = [u.name for f in ("figure4", "figure5", "figure6") for u in cells(f, options)]
    assert len(one_by_one) == 25 + 25 + 13
    everything = [u.name for u in cells("all", replace(options, worlds=()))]
    assert len(set(everything)) == len(everything)
    # 400 pairs at σ 0.5 belong to all three; the fifth method at Δ 0.4.
    assert len(set(one_by_one)) == 25 + 20 + 8


def test_the_longest_of_a_figure_and_world_come_first() -> None:
    names = {u.name for u in cells("figure4", FigureOptions())}
    figure4 = [u for u in cells("all", FigureOptions()) if u.name in names]
    assert [u.about["world"] for u in figure4] == ["intersection"] * 100 + ["cartpole"] * 100
    assert (figure4[0].about["pairs"], figure4[0].about["method"]) == (1600, "bc-rnn")
    assert [u.work for u in figure4[:100]] == sorted((u.work for u in figure4[:100]), reverse=True)
