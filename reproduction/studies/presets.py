"""The paper's five methods under each preset, and what each of our choices costs.

    python -m reproduction.studies.presets --seeds 50 [--device cuda] [--out presets.json]

Intersection, uniform noise σ 0.5, 400 pairs, 100 starts per run, both ways of acting. A finished
method is kept in the output file and not computed again, so a stopped run goes on where it was;
the rows behind docs/benchmarks.md are in reproduction/results/presets/numbers.json.
"""

from __future__ import annotations

import argparse
import json
import warnings
from pathlib import Path
from typing import Any

from counterbc.errors import InfeasibleActions
from counterbc.experiments.comparison import Comparison, demonstrations, train_and_evaluate
from counterbc.files import aside

METHODS = ("bc", "weighted-bc", "bc-rnn", "bcnd", "counter-bc")
CASES: dict[str, tuple[str, tuple[str, ...], dict[str, Any]]] = {
    "authors": ("authors", METHODS, {}),
    "paper": ("paper", METHODS, {}),
    "default": ("default", METHODS, {}),
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
    "default, drawn anew each epoch": ("default", ("counter-bc",), {"resample": True}),
}  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--seeds", type=int, default=50)
    parser.add_argument("--steps", type=int, default=None)
    parser.add_argument("--device", default=None)
    parser.add_argument("--cases", nargs="*", default=list(CASES))
    parser.add_argument("--out", type=Path, default=Path("presets.json"))
    options = parser.parse_args()
    warnings.simplefilter("ignore", InfeasibleActions)
    rows = json.loads(options.out.read_text()) if options.out.exists() else []
    finished = {(r["case"], r["method"], r["seeds"], r["steps"]) for r in rows}
    datasets = demonstrations(Comparison(seeds=options.seeds))
    for case in options.cases:
        preset, methods, changes = CASES[case]
        if preset == "default":
            changes = {"radius": 0.4} | changes
        if options.steps is not None:
            changes = {**changes, "steps": options.steps}
        comparison = Comparison(
            seeds=options.seeds, preset=preset, changes=changes, device=options.device
        )
        for method in methods:
            if (case, method, options.seeds, options.steps) in finished:
                continue
            evaluations, seconds = train_and_evaluate(comparison, method, datasets)
            row: dict[str, Any] = {"case": case, "method": method, "seeds": options.seeds}
            row |= {"steps": options.steps, "seconds": seconds, "device": options.device}
            for e in evaluations:
                row[e.act] = {"mean": e.interval.mean, "se": e.interval.se}
                row[e.act]["runs"] = [round(float(x), 4) for x in e.returns.mean(1)]
            rows.append(row)
            with aside(options.out) as temporary:
                temporary.write_text(json.dumps(rows, indent=1) + "\n")
            print(markdown([row]).splitlines()[-1], flush=True)
    print(markdown(rows))


def markdown(rows: list[dict[str, Any]]) -> str:
    """Mean ± standard error over runs."""
    lines = ["| case | method | act=sample | act=mean | training |", "|---|---|---|---|---|"]
    for r in rows:
        numbers = " | ".join(f"{r[a]['mean']:.2f} ± {r[a]['se']:.2f}" for a in ("sample", "mean"))
        lines.append(f"| {r['case']} | {r['method']} | {numbers} | {r['seconds']:.0f} s |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
