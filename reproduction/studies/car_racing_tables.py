"""The tables of docs/car-racing.md from the rows and numbers of Car Racing."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from counterbc.acting.actor import ACTS
from counterbc.acting.intervals import mean_interval, paired_difference
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
    rows, numbers = archived(results), read(results / WORLD / "numbers.json")
    blocks = {
        "Share of the track visited, in %": markdown(rows, "lap", 100),
        "Return": markdown(rows, "return", 1),
        "Improvement of Counter-BC in tiles visited, in %": improvements(rows),
    }
    return {
        "tables": "\n\n".join(f"**{title}**\n\n{block}" for title, block in blocks.items()),
        "sigmas": by_noise(numbers),
        "radii": by_radius(numbers),
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


def by_noise(numbers: Record) -> str:
    """Return figure 5 as a table: tiles visited, a line per σ and way of acting."""
    cells = numbers["figure5"]["cells"]
    keys = sorted({(c["act"], c["sigma"]) for c in cells})
    lines = [
        "| act | σ | " + " | ".join(PAPER_METHODS) + " |",
        "|---" * (2 + len(PAPER_METHODS)) + "|",
    ]
    for act, sigma in keys:
        row = {c["method"]: tiles(c) for c in cells if (c["act"], c["sigma"]) == (act, sigma)}
        lines.append(f"| {act} | {sigma:g} | " + " | ".join(row[m] for m in PAPER_METHODS) + " |")
    return "\n".join(lines)


def by_radius(numbers: Record) -> str:
    """Return figure 6 as a table: tiles visited by BC and by Counter-BC of each Δ."""
    cells = numbers["figure6"]["cells"]
    radii = sorted({c["radius"] for c in cells} - {None})
    lines = ["| teacher | act | BC | " + " | ".join(f"Δ {r:g}" for r in radii) + " |"]
    lines.append("|---" * (3 + len(radii)) + "|")
    for teacher, act in dict.fromkeys((c["teacher"], c["act"]) for c in cells):
        panel = [c for c in cells if (c["teacher"], c["act"]) == (teacher, act)]
        texts_by_radius = {
            c["radius"]: tiles(c) for c in panel if c["method"] in ("bc", "counter-bc")
        }
        texts = [texts_by_radius[r] for r in (None, *radii)]
        lines.append("| " + " | ".join([teacher, act, *texts]) + " |")
    return "\n".join(lines)


def by_dimension(rows: list[Record], laps: Record) -> str:
    """Return the share of the track with Δ in some or all dimensions, and the lead over BC."""
    heads = [f"Δ in {name}" for name in (*DIMENSIONS, "all")]
    lines = ["| act | BC | " + " | ".join(heads) + " |"]
    lines.append("|---" * (3 + len(DIMENSIONS)) + "|")
    for act in ACTS:
        cell: dict[str, Any] = {"teacher": "uniform", "pairs": 400, "act": act}
        base = by_seed(rows, "lap", method="bc", **cell)
        partial_laps = [np.array(laps[name][act]) for name in DIMENSIONS]
        texts = [f"{100 * base.mean():.0f} %"]
        for lap in (*partial_laps, by_seed(rows, "lap", method="counter-bc", **cell)):
            i = paired_difference(100 * lap, 100 * base).interval
            texts.append(f"{100 * lap.mean():.0f} % ({i.mean:+.0f} [{i.low:+.0f}, {i.high:+.0f}])")
        lines.append("| " + " | ".join([act, *texts]) + " |")
    return "\n".join(lines).replace("-", "−").replace("−−−", "---")


def tiles(cell: Record) -> str:
    """Return the mean with its standard error."""
    return f"{cell['mean']:.0f} ± {cell['sem']:.0f}"


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
    lines = ["| teacher | pairs | act | " + " | ".join(PAPER_METHODS) + " |"]
    lines.append("|---" * (3 + len(PAPER_METHODS)) + "|")
    for cell in table_lines(rows):
        base, texts = by_seed(rows, name, method="bc", **cell), []
        for method in PAPER_METHODS:
            values = by_seed(rows, name, method=method, **cell)
            mean, above = mean_interval(values * factor), paired_difference(values, base).interval
            sign = " ▲" if above.low > 0 else " ▼" if above.high < 0 else ""
            texts.append(f"{mean.mean:.1f} ± {mean.se:.1f}{sign}")
        lines.append("| " + " | ".join([*map(str, cell.values()), *texts]) + " |")
    return "\n".join(lines)


def improvements(rows: list[Record]) -> str:
    """Return the improvement over each method, the largest possible one over BC, and the paper's.

    A policy that visits every tile improves on BC by the largest possible number.
    """
    heads = [*(f"over {m}" for m in RACING_IMPROVEMENTS), "over bc at most"]
    lines = [
        "| teacher | pairs | act | " + " | ".join(heads) + " |",
        "|---" * (3 + len(heads)) + "|",
    ]
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
        lines.append("| " + " | ".join([*map(str, cell.values()), *texts]) + " |")
    paper = [f"+{number}" for number in RACING_IMPROVEMENTS.values()]
    return "\n".join([*lines, "| " + " | ".join(["the paper", "", "", *paper, ""]) + " |"])
