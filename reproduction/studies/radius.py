"""Δ from the data against every fixed Δ, in return and in time.

    python -m reproduction.studies.radius --seeds 50 [--device cuda] [--out radius.json]
    python -m reproduction.studies.radius --cost

act=mean, 100 starts per run. Each run records 4000 pairs of its own and learns from 100 or 400 of
them, drawn at random, as the paper does. The best fixed Δ of a run is picked on the other half of
the runs. The way to read a curve was chosen on runs 0 to 99, so by default the next ones are taken.
Finished cells are kept in the output file, so a stopped run goes on where it was.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from counterbc.acting.evaluation import evaluate
from counterbc.acting.intervals import mean_interval, paired_difference
from counterbc.demonstrators import NOISES, Teacher, UniformNoise, demonstrate
from counterbc.errors import InfeasibleActions
from counterbc.files import aside
from counterbc.selection.radius import DoubtfulRadius, RadiusSearch, choose_radius
from counterbc.trainer import train

WORLDS, PAIRS, POOL = ("intersection", "cartpole"), (100, 400), 4000
RADII = RadiusSearch().radii
TEACHERS: dict[str, Teacher] = {
    f"{name} σ {sigma:g}": noise(sigma)
    for name, noise in NOISES.items()
    for sigma in (0.1, 0.2, 0.5)
}


def cell(key: dict[str, Any], device: str | None) -> dict[str, Any]:
    """Returns of each run at every fixed radius and at the chosen one."""
    world, runs, began = key["world"], key["seeds"], time.perf_counter()
    teacher, steps = TEACHERS[key["teacher"]], key["steps"]
    numbers = [*range(key["first"], key["first"] + runs)]
    datasets = [
        demonstrate(world, teacher, POOL, run).sample_pairs(key["pairs"], run) for run in numbers
    ]
    changes: dict[str, Any] = {"device": device} | ({} if steps is None else {"steps": steps})
    fixed = train(datasets, "counter-bc", seeds=numbers, radii=RADII, **changes)
    auto = train(datasets, "counter-bc", seeds=numbers, radius="auto", **changes)
    returns = evaluate(fixed, world).returns.mean(1).reshape(len(RADII), runs)
    choices = auto.config["radius_choices"]
    return key | {
        "fixed": {f"{r:g}": x.round(4).tolist() for r, x in zip(RADII, returns, strict=True)},
        "auto": evaluate(auto, world).returns.mean(1).round(4).tolist(),
        "chosen": [c["radius"] for c in choices],
        "curves": [c["error"] for c in choices],
        "plateaus": [c["plateau"] for c in choices],
        "minutes": round((time.perf_counter() - began) / 60, 2),
    }


def best_elsewhere(fixed: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The return of each run at the radius that is best on the other half of the runs: (runs,)."""
    runs = fixed.shape[1]
    half = np.arange(runs) % 2
    picked = [int(fixed[:, half != half[run]].mean(1).argmax()) for run in range(runs)]
    return np.asarray(fixed[picked, np.arange(runs)])


def holm(p: list[float]) -> list[float]:
    """p-values corrected for their number."""
    order, largest = np.argsort(p), 0.0
    corrected = [1.0] * len(p)
    for rank, i in enumerate(order):
        largest = max(largest, min(1.0, (len(p) - rank) * p[i]))
        corrected[i] = largest
    return corrected


def below(row: dict[str, Any]) -> float:
    """One-sided p-value of the chosen Δ being below BC, run by run."""
    found = paired_difference(np.array(row["auto"]), np.array(row["fixed"]["0"]))
    if not np.isfinite(found.p):
        return 1.0
    return found.p / 2 if found.interval.mean < 0 else 1 - found.p / 2


def markdown(rows: list[dict[str, Any]]) -> str:
    """A line per cell, then what choosing costs over all of them."""
    head = ["world", "teacher", "pairs", "runs", "BC", "Δ 0.4", "best fixed"]
    head += ["chosen", "chosen Δ", "lost"]
    lines = ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    corrected, lost, lost_by_fixed, ranges = holm([below(r) for r in rows]), [], [], []
    afterwards = []
    for row, p in zip(rows, corrected, strict=True):
        fixed, auto = np.array(list(row["fixed"].values())), np.array(row["auto"])  # (G, runs)
        best, usual = best_elsewhere(fixed), np.array(row["fixed"]["0.4"])
        lost.append(100 * float((best - auto).mean() / best.mean()))
        ranges.append(100 * np.array(_bounds(best, auto)) / best.mean())
        top = float(fixed.mean(1).max())
        afterwards.append(100 * (top - float(auto.mean())) / top)
        lost_by_fixed.append(100 * float((best - usual).mean() / best.mean()))
        at = float(RADII[int(fixed.mean(1).argmax())])
        cells = [_text(x) for x in (row["fixed"]["0"], usual, best, auto, row["chosen"])]
        cells[2] += f" ({at:g})"
        cells[3] += " ▼" if p < 0.05 else ""
        about = [row["world"], row["teacher"], str(row["pairs"]), str(row["seeds"])]
        lines.append(f"| {' | '.join([*about, *cells, f'{lost[-1]:.1f} %'])} |")
    worst = int(np.argmax(lost))
    where = rows[worst]
    below_bc = sum(p < 0.05 for p in corrected)
    lines.append(
        f"\nLost against the best fixed Δ: {np.mean(lost):.1f} % on average, at worst "
        f"{lost[worst]:.1f} % [{ranges[worst][0]:.1f}, {ranges[worst][1]:.1f}] ({where['world']}, "
        f"{where['teacher']}, {where['pairs']} pairs); with Δ 0.4 everywhere "
        f"{np.mean(lost_by_fixed):.1f} % and {max(lost_by_fixed):.1f} %. Against the Δ that turns "
        f"out best on the same runs: {np.mean(afterwards):.1f} % and {max(afterwards):.1f} %. "
        f"Cells below BC (▼, Holm over {len(rows)} cells, 5 %): {below_bc}."
    )
    return "\n".join(lines)


RULES: dict[str, Callable[[list[float], list[float], float], float]] = {
    "least error": lambda curve, plateau, chosen: RADII[int(np.argmin(curve))],
    "halfway from least to largest (ours)": lambda curve, plateau, chosen: chosen,
    "smallest within one standard error": lambda curve, plateau, chosen: plateau[0],
    "largest within one standard error": lambda curve, plateau, chosen: plateau[-1],
    "middle of those": lambda curve, plateau, chosen: float(np.mean(plateau)),
}


def rules(rows: list[dict[str, Any]]) -> str:
    """What other ways to read the same curves would have lost, returns interpolated between Δ."""
    lines = ["| rule | mean Δ | lost on average | at worst |", "|---|---|---|---|"]
    for name, rule in RULES.items():
        radii, lost = [], []
        for row in rows:
            fixed = np.array(list(row["fixed"].values()))  # (G, runs)
            read = zip(row["curves"], row["plateaus"], row["chosen"], strict=True)
            picked = [rule(*evidence) for evidence in read]
            got = [np.interp(r, RADII, fixed[:, run]) for run, r in enumerate(picked)]
            best = best_elsewhere(fixed).mean()
            radii += picked
            lost.append(100 * float((best - np.mean(got)) / best))
        lines.append(
            f"| {name} | {np.mean(radii):.2f} | {np.mean(lost):.1f} % | {max(lost):.1f} % |"
        )
    return "\n".join(lines)


def _bounds(a: np.ndarray[Any, Any], b: np.ndarray[Any, Any]) -> tuple[float, float]:
    """The 95 % interval of a − b, run by run."""
    found = paired_difference(a, b).interval
    return found.low, found.high


def _text(values: Any) -> str:
    interval = mean_interval(np.asarray(values))
    return f"{interval.mean:.2f} ± {interval.se:.2f}"


def cost(rounds: int = 3) -> str:
    """Choosing Δ against training one policy, side by side, in seconds that one waits."""
    demos, ratios = demonstrate("intersection", UniformNoise(0.5), 400, 0), []
    for work in (train, choose_radius):  # compiles
        work(demos, steps=2, progress=False)
    for _ in range(rounds):
        times = [time.perf_counter()]
        for work in (train, choose_radius):
            work(demos, progress=False)
            times.append(time.perf_counter())
        ratios.append((times[2] - times[1]) / (times[1] - times[0]))
    each = ", ".join(f"{r:.1f}" for r in ratios)
    return f"Choosing Δ (9 radii × 5 folds, 400 pairs) takes {each} times one policy's training."


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--seeds", type=int, default=50)
    parser.add_argument("--first", type=int, default=100, help="number of the first run")
    parser.add_argument("--steps", type=int, default=None)
    parser.add_argument("--device", default=None)
    parser.add_argument("--teachers", nargs="*", default=list(TEACHERS))
    parser.add_argument("--worlds", nargs="*", default=list(WORLDS))
    parser.add_argument("--pairs", nargs="*", type=int, default=list(PAIRS))
    parser.add_argument("--out", type=Path, default=Path("radius.json"))
    parser.add_argument("--cost", action="store_true")
    options = parser.parse_args()
    warnings.simplefilter("ignore", InfeasibleActions)
    warnings.simplefilter("ignore", DoubtfulRadius)
    if options.cost:
        print(cost())
        return
    rows = json.loads(options.out.read_text()) if options.out.exists() else []
    for world in options.worlds:
        for name in options.teachers:
            for pairs in options.pairs:
                key = {"world": world, "teacher": name, "pairs": pairs, "seeds": options.seeds}
                key |= {"first": options.first, "steps": options.steps}
                if not any(key.items() <= row.items() for row in rows):
                    rows.append(cell(key, options.device))
                    with aside(options.out) as temporary:
                        temporary.write_text(json.dumps(rows, indent=1) + "\n")
                    print(markdown(rows[-1:]).splitlines()[2], flush=True)
    print(f"{markdown(rows)}\n\n{rules(rows)}")


if __name__ == "__main__":
    main()
