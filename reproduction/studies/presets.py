"""The paper's five methods under each preset, and what each of our choices costs.

Intersection, uniform noise σ 0.5, 400 pairs, 100 starts per run, both ways of acting.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from counterbc.experiments.comparison import select_runs
from counterbc.experiments.simulated_cell import SimulatedCell
from counterbc.experiments.styles import method_style
from reproduction.markdown import markdown_table
from reproduction.options import StudyOptions
from reproduction.paper import PAPER_METHODS, PAPER_RADIUS
from reproduction.records import Record, Records, read
from reproduction.rows import mean_and_runs

CASES: dict[str, tuple[str, tuple[str, ...], dict[str, Any]]] = {
    "authors": ("authors", PAPER_METHODS, {}),
    "paper": ("paper", PAPER_METHODS, {}),
    "default": ("default", PAPER_METHODS, {}),
    "authors, radius 0.4": ("authors", ("counter-bc",), {"radius": 0.4}),
    "paper, radius 0.5": ("paper", ("counter-bc",), {"radius": 0.5}),
    "paper, not limited to A": ("paper", ("counter-bc",), {"limited": False}),
    "paper, not limited, radius 0.5": (
        "paper", ("counter-bc",), {"limited": False, "radius": 0.5},
    ),
    "paper, box": ("paper", ("counter-bc",), {"shape": "box"}),
    "default, limited to A": ("default", ("counter-bc",), {"limited": True}),
    "default, radius 0.5": ("default", ("counter-bc",), {"radius": 0.5}),
    "default, feasible=project": ("default", ("bc", "counter-bc"), {"feasible": "project"}),
    "default, 200 counterfactuals": ("default", ("counter-bc",), {"counterfactuals": 200}),
    "default, redrawn each epoch": ("default", ("counter-bc",), {"resample": True}),
}  # fmt: skip
"""Name → preset, methods, and the settings that differ from the preset."""


@dataclass(frozen=True, kw_only=True)
class PresetsOptions(StudyOptions):
    """Compare the presets, and single choices of them."""

    seeds: int = 50
    steps: int | None = None
    device: str | None = None
    cases: tuple[str, ...] = tuple(CASES)


def run(options: PresetsOptions) -> None:
    """Compute the missing methods and print the table."""
    records = Records(options.numbers("presets"), device=options.device)
    for case in options.cases:
        for method in CASES[case][1]:
            key: Record = {"case": case, "method": method}
            key |= {"seeds": options.seeds, "steps": options.steps}
            if not records.has(**key):
                records.add(key | measure(cell(case, method, options), options.device))
    print(markdown(records.rows))


def cell(case: str, method: str, options: PresetsOptions) -> SimulatedCell:
    """Return one method of a case; the default preset has the paper's radius."""
    preset, _, changes = CASES[case]
    return SimulatedCell(
        world="intersection", teacher="uniform", sigma=0.5, pairs=400, method=method,
        radius=changes.get("radius", PAPER_RADIUS if preset == "default" else None),
        seeds=options.seeds, preset=preset, steps=options.steps,
        changes={k: v for k, v in changes.items() if k != "radius"},
    )  # fmt: skip


def measure(cell: SimulatedCell, device: str | None) -> Record:
    """Return the training time of a cell, and the returns of its runs by way of acting."""
    table = cell.rows(device)
    row: Record = {"seconds": table["train_seconds"][0].as_py()}
    row["kernel"] = table["kernel"][0].as_py()
    return row | {act: mean_and_runs(select_runs(table, act)) for act in cell.acts}


def sections(results: Path) -> dict[str, dict[str, str]]:
    """Return the tables of docs/benchmarks.md (presets, single choices) and of the README."""
    rows = read(results / "presets" / "numbers.json")
    presets = [r for r in rows if r["case"] in ("authors", "paper", "default")]
    choices = [r for r in rows if r not in presets or r["method"] == "counter-bc"]
    tables = {"presets": markdown(presets, "preset"), "choices": markdown(choices)}
    return {"benchmarks": tables, "README": {"preset means": by_method(presets)}}


def by_method(rows: list[Record]) -> str:
    """Return the README's table, a column for each method; bold where Counter-BC is the best."""
    lines = []
    for preset in ("authors", "default"):
        for act in ("sample", "mean"):
            numbers = {r["method"]: r[act] for r in rows if r["case"] == preset}
            texts = [f"{numbers[m]['mean']:.2f} ± {numbers[m]['se']:.2f}" for m in PAPER_METHODS]
            texts = [text.replace("± 0.", "± .") for text in texts]
            if max(numbers, key=lambda m: float(numbers[m]["mean"])) == "counter-bc":
                texts[-1] = f"**{texts[-1]}**"
            lines.append([f"`{preset}` preset, act={act}", *texts])
    return markdown_table(["", *(method_style(m).label for m in PAPER_METHODS)], lines)


def markdown(rows: list[Record], head: str = "case") -> str:
    """Return mean ± standard error over runs."""
    lines = []
    for r in rows:
        numbers = (f"{r[a]['mean']:.2f} ± {r[a]['se']:.2f}" for a in ("sample", "mean"))
        lines.append([r["case"], r["method"], *numbers])
    return markdown_table([head, "method", "act=sample", "act=mean"], lines)
