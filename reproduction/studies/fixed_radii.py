"""Counter-BC at other radii than 0.4, and how much the teachers err: why an ordering may change.

    python -m reproduction.studies.fixed_radii [--seeds 10] [--out fixed-radii.json]

The data of benchmarks/methods.py with 400 pairs, mean actions, 100 starts per run. The error is the
shown minus the intended action in cells where actions span [−1, 1].
"""

from __future__ import annotations

import argparse
import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from counterbc.acting.evaluation import evaluate
from counterbc.acting.intervals import mean_interval, paired_difference
from counterbc.demonstrators import DEFAULT_TEACHER, TEACHERS, Teacher, record
from counterbc.errors import InfeasibleActions
from counterbc.experiments.comparison import Comparison, demonstrations
from counterbc.trainer import train

BY: dict[str, Teacher] = {"uniform σ 0.5": DEFAULT_TEACHER, "typical": TEACHERS["typical"]}
RADII = (0.0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.6)


def errors(world: str, teacher: Teacher) -> dict[str, float]:
    """RMS of what is meant and of the error, and the error's slope against what is meant."""
    taken = record(world, teacher, 50, seed=0)
    meant = np.concatenate([r.intended for r in taken]).ravel()
    error = np.concatenate([r.episode.action for r in taken]).ravel() - meant
    slope = float((meant * error).mean() / (meant**2).mean())
    rms = {"rms meant": float(np.sqrt((meant**2).mean()))}
    return rms | {"rms error": float(np.sqrt((error**2).mean())), "slope": slope}


def cell(world: str, name: str, seeds: int) -> dict[str, Any]:
    comparison = Comparison(world, BY[name], 400, pool=4000, seeds=seeds)
    policies = train(
        demonstrations(comparison), "counter-bc", radii=RADII, seeds=seeds, progress=False
    )
    returns = evaluate(policies, world, episodes=100, act="mean", progress=False).returns.mean(1)
    by_radius = returns.reshape(len(RADII), seeds)
    row: dict[str, Any] = {"world": world, "teacher": name, "seeds": seeds}
    row |= errors(world, BY[name])
    for radius, runs in zip(RADII, by_radius, strict=True):
        interval = mean_interval(runs)
        above = paired_difference(runs, by_radius[0]).interval
        row[f"{radius:g}"] = {"mean": interval.mean, "se": interval.se}
        row[f"{radius:g}"] |= {"above 0": [above.mean, above.low, above.high]}
    return row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--worlds", nargs="*", default=["cartpole", "cartpole-hard", "air-hockey"])
    parser.add_argument("--out", type=Path, default=Path("fixed-radii.json"))
    options = parser.parse_args()
    warnings.simplefilter("ignore", InfeasibleActions)
    rows = json.loads(options.out.read_text()) if options.out.exists() else []
    finished = {(r["world"], r["teacher"], r["seeds"]) for r in rows}
    for world in options.worlds:
        for name in BY:
            if (world, name, options.seeds) not in finished:
                rows.append(cell(world, name, options.seeds))
                options.out.write_text(json.dumps(rows, indent=1) + "\n")
    print(markdown(rows))


def markdown(rows: list[dict[str, Any]]) -> str:
    """Mean ± standard error over runs by Δ."""
    radii = [f"{r:g}" for r in RADII]
    heads = ["world", "teacher", "RMS meant", "RMS error", "slope", *(f"Δ {r}" for r in radii)]
    lines = ["| " + " | ".join(heads) + " |", "|---" * len(heads) + "|"]
    for row in rows:
        numbers = [f"{row[k]:.2f}".replace("-", "−") for k in ("rms meant", "rms error", "slope")]
        cells = [f"{row[r]['mean']:.1f} ± {row[r]['se']:.1f}" for r in radii]
        lines.append("| " + " | ".join([row["world"], row["teacher"], *numbers, *cells]) + " |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
