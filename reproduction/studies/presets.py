"""The paper's five methods under each preset, and what each of our choices costs.

Intersection, uniform noise σ 0.5, 400 pairs, 100 starts per run, both ways of acting.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from counterbc.experiments.comparison import Comparison, demonstrations, train_and_evaluate
from reproduction.options import StudyOptions
from reproduction.paper import PAPER_METHODS, PAPER_RADIUS
from reproduction.records import Record, Records, expected_warnings, read

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
    with expected_warnings():
        datasets = demonstrations(Comparison(seeds=options.seeds))
        for case in options.cases:
            preset, methods, changes = CASES[case]
            if preset == "default":
                changes = {"radius": PAPER_RADIUS} | changes
            if options.steps is not None:
                changes = changes | {"steps": options.steps}
            comparison = Comparison(
                seeds=options.seeds, preset=preset, changes=changes, device=options.device
            )
            for method in methods:
                key = {"case": case, "method": method, "seeds": options.seeds}
                if records.has(**key, steps=options.steps):
                    continue
                evaluations, seconds = train_and_evaluate(comparison, method, datasets)
                row: Record = key | {"steps": options.steps, "seconds": seconds}
                for e in evaluations:
                    row[e.act] = {"mean": e.interval.mean, "se": e.interval.se}
                    row[e.act]["runs"] = [round(float(x), 4) for x in e.returns.mean(1)]
                records.add(row)
    print(markdown(records.rows))


def sections(results: Path) -> dict[str, dict[str, str]]:
    """Return the tables of docs/benchmarks.md: whole presets, and Counter-BC by single choices."""
    rows = read(results / "presets" / "numbers.json")
    presets = [r for r in rows if r["case"] in ("authors", "paper", "default")]
    choices = [r for r in rows if r not in presets or r["method"] == "counter-bc"]
    return {"benchmarks": {"presets": markdown(presets, "preset"), "choices": markdown(choices)}}


def markdown(rows: list[Record], head: str = "case") -> str:
    """Return mean ± standard error over runs."""
    lines = [f"| {head} | method | act=sample | act=mean |", "|---|---|---|---|"]
    for r in rows:
        numbers = " | ".join(f"{r[a]['mean']:.2f} ± {r[a]['se']:.2f}" for a in ("sample", "mean"))
        lines.append(f"| {r['case']} | {r['method']} | {numbers} |")
    return "\n".join(lines)
