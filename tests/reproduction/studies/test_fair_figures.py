"""The figures of the fair comparison."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from PIL import Image

from reproduction.records import Record, write_rows
from reproduction.studies import fair_figures
from reproduction.studies.fair_figures import FairFiguresOptions, points

VARIANTS = ("bc", "counter-bc", "four-bc", "bc, tuned", "counter-bc, Δ 0", "counter-bc, Δ 1")


def rows_of(world: str, teacher: str, **changes: Any) -> list[Record]:
    """Return two runs of every variant, by both ways of acting."""
    about = {"world": world, "taken": "whole", "teacher": teacher, "pairs": 400, "sigma": 0.5}
    hockey = {"hits": 3.0, "distance_per_hit": 0.5, "time_per_hit": 2.0}
    return [
        about | hockey | {"variant": v, "act": act, "seed": s, "return": 10.0 + s, "shown": 9.0}
        | {"radius": float(v[-1]) if "Δ" in v else 0.0} | changes
        for v in VARIANTS for act in ("mean", "sample") for s in (0, 1)
    ]  # fmt: skip


def test_every_figure_with_two_points_is_drawn(tmp_path: Path) -> None:
    rows = rows_of("cartpole", "uniform") + rows_of("cartpole", "uniform", pairs=100)
    rows += rows_of("cartpole", "uniform", sigma=1.0)
    rows += rows_of("air-hockey", "crowd", sigma=None)
    rows += rows_of("air-hockey", "crowd", sigma=None, pairs=3200)
    write_rows(rows, tmp_path / "fair")
    fair_figures.run(FairFiguresOptions(out=tmp_path))
    names = {f"{name}-{act}" for act in ("mean", "sample") for name in (
        "figure4", "figure5", "figure6", "figure7", "means")}  # fmt: skip
    assert {path.stem for path in (tmp_path / "fair").glob("*.png")} == names
    for path in (tmp_path / "fair").glob("*.png"):
        with Image.open(path) as image:
            assert min(image.size) > 300


def test_a_figure_with_one_point_is_not_drawn(tmp_path: Path) -> None:
    write_rows(rows_of("cartpole", "uniform"), tmp_path / "fair")
    fair_figures.run(FairFiguresOptions(out=tmp_path))
    assert {path.stem[:7] for path in (tmp_path / "fair").glob("*.png")} == {
        "figure6",
        "means-m",
        "means-s",
    }


def test_a_point_is_the_mean_over_runs() -> None:
    group = [r for r in rows_of("cartpole", "uniform") if r["variant"] == "bc"]
    x, mean, se = points([r for r in group if r["act"] == "mean"], "pairs")
    assert (x, mean.tolist(), se.tolist()) == ([400], [10.5], [0.5])
