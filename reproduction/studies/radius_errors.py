"""Where the assumption behind the choice of Δ fails: errors that are biased, last or come late.

    python -m reproduction.studies.radius_errors [--seeds 5] [--pairs 100] [--out radius_errors.json]

Intersection, whole episodes. Synthetic teachers know what they meant, so the policies that choose Δ
by what was shown can also be judged by what was meant. Finished teachers are kept in the output
file; the rows behind docs/radius.md are in reproduction/results/radius_errors/numbers.json.
"""

from __future__ import annotations

import argparse
import json
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from counterbc.acting.intervals import mean_interval
from counterbc.demonstrators import (
    Bias,
    Chain,
    Delay,
    MotorNoise,
    Teacher,
    UniformNoise,
    demonstrate,
    record,
)
from counterbc.errors import InfeasibleActions
from counterbc.files import aside
from counterbc.methods import find_method
from counterbc.selection.error_curve import best_radius
from counterbc.selection.folds import split_folds
from counterbc.selection.held_out import Training, held_out_errors
from counterbc.selection.radius import RadiusSearch
from counterbc.settings import settings_for
from counterbc.training.progress import Bar

WORLD, SEARCH = "intersection", RadiusSearch(radii=(0.0, 0.2, 0.4, 0.6, 0.8))
TEACHERS: dict[str, Callable[[int], Teacher]] = {
    "uniform σ 0.4": lambda run: UniformNoise(0.4),
    "the same, off by up to 0.4": lambda run: Chain((Bias(0.4, run), UniformNoise(0.4))),
    "the same, 1 step late": lambda run: Chain((Delay(1), UniformNoise(0.4))),
    "1 step late, no noise": lambda run: Delay(1),
    "Gaussian, sd 0.25": lambda run: MotorNoise(0, 0.25, memory=0),
    "the same, lasting (memory 0.9)": lambda run: MotorNoise(0, 0.25, memory=0.9),
}


def measure(name: str, pairs: int, runs: int) -> dict[str, Any]:
    """The chosen Δ of each run, and each radius' error against what was meant."""
    teacher, episodes = TEACHERS[name], range(runs)
    demos = [demonstrate(WORLD, teacher(run), pairs, run) for run in episodes]
    folds = [[split_folds(d, SEARCH.folds, 0)] for d in demos]
    usual = settings_for("default")
    settings = replace(usual, steps=min(SEARCH.steps_for(pairs), usual.steps))
    training = Training(
        name="counter-bc",
        method=find_method("counter-bc")[1],
        settings=settings,
        device=torch.device("cpu"),
        progress=Bar(name),
    )
    fits = held_out_errors(demos, folds, SEARCH.radii, training)
    chosen, meant = [], []
    for run, (data, fit) in enumerate(zip(demos, fits, strict=True)):
        recorded = record(WORLD, teacher(run), len(data), run)
        intended = np.concatenate([r.intended for r in recorded])[:pairs]
        residual = fit.residual[0] - (data.action - intended)  # (G, n, A): actions span ±1 here
        meant.append((residual**2).sum(-1).mean(-1).round(6).tolist())  # (G,)
        chosen.append(best_radius(SEARCH.radii, fit.by_fold().sum(-1)))
    return {"teacher": name, "pairs": pairs, "seeds": runs, "chosen": chosen, "meant": meant}


def markdown(rows: list[dict[str, Any]]) -> str:
    """Mean ± standard error over runs; errors are RMS distances to the meant action."""
    head = ("teacher", "chosen Δ", "best Δ", "error: BC", "Δ 0.4", "chosen", "best")
    lines = ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    radii = SEARCH.radii
    for row in rows:
        rms = np.sqrt(row["meant"])  # (runs, G)
        at = [np.interp(r, radii, e) for r, e in zip(row["chosen"], rms, strict=True)]
        best = [radii[int(e.argmin())] for e in rms]
        columns = (row["chosen"], best, rms[:, 0], rms[:, radii.index(0.4)], at, rms.min(1))
        texts = [_text(np.array(c), 2 if i < 2 else 3) for i, c in enumerate(columns)]
        lines.append(f"| {row['teacher']} | {' | '.join(texts)} |")
    return "\n".join(lines)


def _text(values: Any, digits: int) -> str:
    interval = mean_interval(values)
    return f"{interval.mean:.{digits}f} ± {interval.se:.{digits}f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--pairs", type=int, default=100)
    parser.add_argument("--out", type=Path, default=Path("radius_errors.json"))
    options = parser.parse_args()
    warnings.simplefilter("ignore", InfeasibleActions)
    rows = json.loads(options.out.read_text()) if options.out.exists() else []
    for name in TEACHERS:
        if not any(
            (r["teacher"], r["pairs"], r["seeds"]) == (name, options.pairs, options.seeds)
            for r in rows
        ):
            rows.append(measure(name, options.pairs, options.seeds))
            with aside(options.out) as temporary:
                temporary.write_text(json.dumps(rows) + "\n")
            print(markdown(rows[-1:]).splitlines()[-1], flush=True)
    print(markdown(rows))


if __name__ == "__main__":
    main()
