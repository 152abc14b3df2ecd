"""The tables of docs/car-racing.md from the rows and numbers of Car Racing."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from counterbc.acting.act import ACTS
from counterbc.acting.intervals import mean_interval, paired_difference
from reproduction.figure_json import from_json
from reproduction.figure_numbers import Figure5, Figure6, FigureCell
from reproduction.markdown import markdown_table
from reproduction.numbers import where
from reproduction.paper import PAPER_IMPROVEMENTS, PAPER_METHODS
from reproduction.records import Record, read
from reproduction.rows import ARCHIVE, open_study
from reproduction.studies.car_racing import WORLD, cells
from reproduction.studies.car_racing_dimensions import DIMENSIONS

RACING_IMPROVEMENTS = PAPER_IMPROVEMENTS[WORLD]


def sections(results: Path) -> dict[str, dict[str, str]]:
    """Return the tables of docs/car-racing.md."""
    return {WORLD: tables(results)}


def tables(results: Path) -> dict[str, str]:
    """Return all tables by their mark."""
    path = results / WORLD / "numbers.json"
    rows, numbers = archived(results), read(path)
    blocks = {
        "Share of the track visited, in %": markdown(rows, "lap", 100),
        "Return": markdown(rows, "return", 1),
        "Improvement of Counter-BC in tiles visited, in %": improvements(rows),
    }
    return {
        "tables": "\n\n".join(f"**{title}**\n\n{block}" for title, block in blocks.items()),
        "sigmas": by_noise(from_json(Figure5, numbers["figure5"], path, "figure5")),
        "radii": by_radius(from_json(Figure6, numbers["figure6"], path, "figure6")),
        "dimensions": by_dimension(rows, numbers["dimensions"]),
    }


def archived(results: Path) -> list[Record]:
    """Return the rows of the study in the archive."""
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / WORLD
        target.mkdir()
        shutil.copy(results / WORLD / ARCHIVE, target)
        rows: list[Record] = open_study(cells(), Path(folder), WORLD).table().to_pylist()
    return rows


def by_noise(figure: Figure5) -> str:
    """Return figure 5 as a table: tiles visited, a line per σ and way of acting."""
    rows = []
    for act, sigma in sorted({(c.act, c.sigma or 0.0) for c in figure.cells}):
        texts = {c.method: tiles(c) for c in where(figure.cells, act=act, sigma=sigma)}
        rows.append([act, f"{sigma:g}", *(texts[m] for m in PAPER_METHODS)])
    return markdown_table(["act", "σ", *PAPER_METHODS], rows)


def by_radius(figure: Figure6) -> str:
    """Return figure 6 as a table: tiles visited by BC and by Counter-BC of each Δ."""
    radii = sorted({c.radius for c in figure.cells if c.radius is not None})
    rows = []
    for teacher, act in dict.fromkeys((c.teacher, c.act) for c in figure.cells):
        panel = where(figure.cells, teacher=teacher, act=act)
        texts = {c.radius: tiles(c) for c in panel if c.method in ("bc", "counter-bc")}
        rows.append([teacher, act, *(texts[r] for r in (None, *radii))])
    return markdown_table(["teacher", "act", "BC", *(f"Δ {r:g}" for r in radii)], rows)


def by_dimension(rows: list[Record], laps: Record) -> str:
    """Return the share of the track with Δ in some or all dimensions, and the lead over BC."""
    lines = []
    for act in ACTS:
        cell: dict[str, Any] = {"teacher": "uniform", "pairs": 400, "act": act}
        base = by_seed(rows, "lap", method="bc", **cell)
        partial_laps = [np.array(laps[name][act]) for name in DIMENSIONS]
        texts = [f"{100 * base.mean():.0f} %"]
        for lap in (*partial_laps, by_seed(rows, "lap", method="counter-bc", **cell)):
            i = paired_difference(100 * lap, 100 * base).interval
            text = f"{100 * lap.mean():.0f} % ({i.mean:+.0f} [{i.low:+.0f}, {i.high:+.0f}])"
            texts.append(text.replace("-", "−"))
        lines.append([act, *texts])
    heads = [f"Δ in {name}" for name in (*DIMENSIONS, "all")]
    return markdown_table(["act", "BC", *heads], lines)


def tiles(cell: FigureCell) -> str:
    """Return the mean with its standard error."""
    return f"{cell.mean:.0f} ± {cell.sem:.0f}"


def by_seed(rows: list[Record], name: str, **filters: Any) -> np.ndarray[Any, Any]:
    """Return one number per seed, in order: (seeds,)."""
    chosen_rows = [r for r in rows if all(r[k] == v for k, v in filters.items())]
    return np.array([r[name] for r in sorted(chosen_rows, key=lambda r: int(r["seed"]))], float)


def table_lines(rows: list[Record]) -> list[Record]:
    """Return teacher, pairs and act of each line of a table, in the order of the rows."""
    keys = ("teacher", "pairs", "act")
    return [
        dict(zip(keys, v, strict=True))
        for v in dict.fromkeys(tuple(r[k] for k in keys) for r in rows)
    ]


def markdown(rows: list[Record], name: str, factor: float) -> str:
    """Return mean ± standard error over seeds.

    ▲ and ▼ mark a paired difference to BC whose 95 % interval excludes 0.
    """
    lines = []
    for cell in table_lines(rows):
        base, texts = by_seed(rows, name, method="bc", **cell), []
        for method in PAPER_METHODS:
            values = by_seed(rows, name, method=method, **cell)
            mean, above = mean_interval(values * factor), paired_difference(values, base).interval
            sign = " ▲" if above.low > 0 else " ▼" if above.high < 0 else ""
            texts.append(f"{mean.mean:.1f} ± {mean.se:.1f}{sign}")
        lines.append([*map(str, cell.values()), *texts])
    return markdown_table(["teacher", "pairs", "act", *PAPER_METHODS], lines)


def improvements(rows: list[Record]) -> str:
    """Return the improvement over each method, the largest possible one over BC, and the paper's.

    A policy that visits every tile improves on BC by the largest possible number.
    """
    heads = [*(f"over {m}" for m in RACING_IMPROVEMENTS), "over bc at most"]
    lines = []
    for cell in table_lines(rows):
        our_tiles = np.nanmean(by_seed(rows, "tiles", method="counter-bc", **cell))
        baseline_tiles = [
            np.nanmean(by_seed(rows, "tiles", method=m, **cell)) for m in RACING_IMPROVEMENTS
        ]
        bc_lap = np.nanmean(by_seed(rows, "lap", method="bc", **cell))
        texts = [
            f"{100 * x:+.0f}"
            for x in (*(our_tiles / o - 1 for o in baseline_tiles), 1 / bc_lap - 1)
        ]
        lines.append([*map(str, cell.values()), *texts])
    paper = [f"+{number}" for number in RACING_IMPROVEMENTS.values()]
    lines.append(["the paper", "", "", *paper, ""])
    return markdown_table(["teacher", "pairs", "act", *heads], lines)
