"""The paper's five methods in worlds with long episodes, by teacher and number of pairs.

Δ 0.4, 100 starts per run, both ways of acting. Each run records 4000 pairs and learns from 100 or
400 of them, drawn at random, so that a dataset is not the middle of one episode.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from itertools import product
from typing import Any

from counterbc.acting.intervals import mean_interval
from counterbc.experiments.cell import reproducible
from counterbc.experiments.comparison import Comparison
from counterbc.experiments.comparison import run as run_comparison
from counterbc.experiments.simulated_cell import SimulatedCell
from reproduction.markdown import markdown_table
from reproduction.options import StudyOptions
from reproduction.paper import PAPER_RADIUS
from reproduction.records import Record, Records

STUDY_TEACHERS: dict[str, dict[str, Any]] = {
    "uniform σ 0.5": {"teacher": "uniform", "sigma": 0.5},
    "quick-typical": {"teacher": "quick-typical", "sigma": None},
}
PAIRS = (100, 400)
WORLD_MEASURES = {"air-hockey": ("hits", "distance_per_hit", "time_per_hit")}
"""What a world reports beside the return."""


@dataclass(frozen=True, kw_only=True)
class MethodsOptions(StudyOptions):
    """Compare the paper's methods in worlds with long episodes."""

    seeds: int = 10
    steps: int | None = None
    worlds: tuple[str, ...] = ("cartpole", "cartpole-hard", "air-hockey")


def run(options: MethodsOptions) -> None:
    """Compute the missing cells and print the table."""
    records = Records(options.numbers("methods"))
    with reproducible():
        for world, teacher, pairs in product(options.worlds, STUDY_TEACHERS, PAIRS):
            key = {"world": world, "teacher": teacher, "pairs": pairs}
            key |= {"seeds": options.seeds, "steps": options.steps}
            if not records.has(**key):
                records.add(*measure(key))
    print(markdown(records.rows))


def cell(world: str, teacher: str, pairs: int, seeds: int, **changes: Any) -> SimulatedCell:
    """Return Counter-BC on some pairs of 4000; other methods have the same demonstrations."""
    about: dict[str, Any] = {"method": "counter-bc", "radius": PAPER_RADIUS, "pool": 4000}
    about |= STUDY_TEACHERS[teacher] | changes
    return SimulatedCell(world=world, pairs=pairs, seeds=seeds, **about)


def measure(key: Record) -> list[Record]:
    """Return a row per method and way of acting."""
    outcome = run_comparison(Comparison(cell(**key)))
    about = key | {"expert": outcome.expert, "demonstrated": outcome.demonstrated}
    rows = []
    for row in outcome.table():
        measures = {
            name: asdict(mean_interval(outcome.runs(row["method"], row["act"], name)))
            for name in WORLD_MEASURES.get(key["world"], ())
        }
        kernel = outcome.tables[row["method"]]["kernel"][0].as_py()
        rows.append(about | row | {"measures": measures, "kernel": kernel})
    return rows


def markdown(rows: list[Record]) -> str:
    """Return mean ± standard error over runs.

    ▲ and ▼ mark a paired difference to BC whose 95 % interval excludes 0.
    """
    methods = list(dict.fromkeys(r["method"] for r in rows))
    lines = []
    cells: dict[tuple[Any, ...], dict[str, Record]] = {}
    for r in rows:
        key = (r["world"], r["teacher"], r["pairs"], r["act"])
        cells.setdefault(key, {})[r["method"]] = r
    for key, by_method in cells.items():
        method_rows = [by_method[m] for m in methods]
        texts = [f"{r['mean']:.1f} ± {r['se']:.1f}{sign(r)}" for r in method_rows]
        lines.append([*map(str, key), *texts])
    return markdown_table(["world", "teacher", "pairs", "act", *methods], lines)


def sign(row: Record) -> str:
    """Return a mark where a method differs from BC."""
    above = row.get("above_bc")
    if above is None or (above["low"] <= 0 <= above["high"]):
        return ""
    return " ▲" if above["low"] > 0 else " ▼"
