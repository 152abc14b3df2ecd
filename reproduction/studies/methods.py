"""The paper's five methods in worlds with long episodes, by teacher and number of pairs.

    python -m reproduction.studies.methods [--seeds 10] [--worlds cartpole air-hockey] [--out methods.json]

Δ 0.4 in every cell, 100 starts per run, both ways of acting. Each run records 4000 pairs of its own
and learns from 100 or 400 of them, drawn at random, so that a dataset is not one episode's middle.
Finished cells are kept in the output file, so a stopped run goes on where it was. Rows behind
docs/environments.md are in reproduction/results/methods/numbers.json.
"""

from __future__ import annotations

import argparse
import json
import warnings
from dataclasses import asdict
from pathlib import Path
from typing import Any

from counterbc.demonstrators import DEFAULT_TEACHER, TEACHERS, Teacher
from counterbc.errors import InfeasibleActions
from counterbc.experiments.comparison import Comparison, run
from counterbc.files import aside

WORLDS = ("cartpole", "cartpole-hard", "air-hockey")
BY: dict[str, Teacher] = {"uniform σ 0.5": DEFAULT_TEACHER, "typical": TEACHERS["typical"]}
PAIRS = (100, 400)


def cell(world: str, teacher: str, pairs: int, seeds: int, steps: int | None) -> list[Any]:
    """A row per method and way of acting."""
    changes: dict[str, Any] = {"radius": 0.4} | ({} if steps is None else {"steps": steps})
    outcome = run(Comparison(world, BY[teacher], pairs, pool=4000, seeds=seeds, changes=changes))
    about = {"world": world, "teacher": teacher, "pairs": pairs, "seeds": seeds, "steps": steps}
    about |= {"expert": outcome.expert, "demonstrated": outcome.demonstrated}
    rows = []
    for row in outcome.table():
        found = outcome.evaluations[row["method"], row["act"]].measure_intervals
        measured = {name: asdict(interval) for name, interval in found.items()}
        rows.append(about | row | {"measures": measured})
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--steps", type=int, default=None)
    parser.add_argument("--worlds", nargs="*", default=list(WORLDS))
    parser.add_argument("--out", type=Path, default=Path("methods.json"))
    options = parser.parse_args()
    warnings.simplefilter("ignore", InfeasibleActions)
    rows = json.loads(options.out.read_text()) if options.out.exists() else []
    finished = {(r["world"], r["teacher"], r["pairs"], r["seeds"], r["steps"]) for r in rows}
    for world in options.worlds:
        for teacher in BY:
            for pairs in PAIRS:
                key = (world, teacher, pairs, options.seeds, options.steps)
                if key not in finished:
                    rows += cell(*key)
                    with aside(options.out) as temporary:
                        temporary.write_text(json.dumps(rows, indent=1) + "\n")
    print(markdown(rows))


def markdown(rows: list[dict[str, Any]]) -> str:
    """Mean ± standard error over runs; ▲ ▼ where the 95 % interval of the paired difference to BC
    leaves out 0."""
    methods = list(dict.fromkeys(r["method"] for r in rows))
    lines = ["| world | teacher | pairs | act | " + " | ".join(methods) + " |"]
    lines.append("|---" * (4 + len(methods)) + "|")
    cells: dict[tuple[Any, ...], dict[str, dict[str, Any]]] = {}
    for r in rows:
        key = (r["world"], r["teacher"], r["pairs"], r["act"])
        cells.setdefault(key, {})[r["method"]] = r
    for key, by_method in cells.items():
        found = [by_method[m] for m in methods]
        texts = [f"{r['mean']:.1f} ± {r['se']:.1f}{sign(r)}" for r in found]
        lines.append("| " + " | ".join([*map(str, key), *texts]) + " |")
    return "\n".join(lines)


def sign(row: dict[str, Any]) -> str:
    above = row.get("above_bc")
    if above is None or (above["low"] <= 0 <= above["high"]):
        return ""
    return " ▲" if above["low"] > 0 else " ▼"


if __name__ == "__main__":
    main()
