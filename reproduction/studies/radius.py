"""Δ chosen from the data against every fixed Δ, in return and in time.

act=mean, 100 starts per run. Each run records 4000 pairs and learns from 100 or 400 of them, drawn
at random, as the paper does. The best fixed Δ of a run is picked on the other half of the runs.
The rule that reads a curve was chosen on runs 0 to 99, so by default later runs are used.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

import counterbc as cb
from counterbc.acting.intervals import holm, mean_interval, paired_difference
from counterbc.demonstrators import UniformNoise
from counterbc.experiments.cell import reproducible
from counterbc.settings import PAPER_STEPS
from reproduction.markdown import markdown_table
from reproduction.options import StudyOptions, option
from reproduction.paper import PAPER_RADIUS
from reproduction.records import Record, Records, kernels_of, read

Array = np.ndarray[Any, Any]
POOL = 4000
RADII = cb.RadiusSearch().radii
AS_SHOWN: dict[str, Any] = {"lag": 0.0, "offsets": "none", "ensemble": 1}
"""Nothing but Δ is chosen from the data."""
NOISY_TEACHERS: dict[str, cb.Teacher] = {
    f"{name} σ {sigma:g}": noise(sigma)
    for name, noise in cb.NOISES.items()
    for sigma in (0.1, 0.2, 0.5)
}


@dataclass(frozen=True, kw_only=True)
class RadiusOptions(StudyOptions):
    """Compare Δ from the data with every fixed Δ."""

    seeds: int = 50
    first: int = option(100, "number of the first run")
    steps: int | None = None
    device: str | None = None
    teachers: tuple[str, ...] = tuple(NOISY_TEACHERS)
    worlds: tuple[str, ...] = ("intersection", "cartpole")
    pairs: tuple[int, ...] = (100, 400)
    cost: bool = option(False, "only measure how long choosing Δ takes")


def run(options: RadiusOptions) -> None:
    """Compute the missing cells and print the tables."""
    with reproducible():
        if options.cost:
            print(cost())
            return
        records = Records(options.numbers("radius"), device=options.device)
        for world, teacher, pairs in product(options.worlds, options.teachers, options.pairs):
            key = {"world": world, "teacher": teacher, "pairs": pairs, "seeds": options.seeds}
            key |= {"first": options.first, "steps": options.steps}
            if not records.has(**key):
                records.add(measure(key, options.device))
                print(markdown(records.rows[-1:]).splitlines()[2], flush=True)
    print(f"{markdown(records.rows)}\n\n{rules(records.rows)}")


def sections(results: Path) -> dict[str, dict[str, str]]:
    """Return the tables of docs/radius.md."""
    rows = read(results / "radius" / "numbers.json")
    return {"radius": {"returns": markdown(rows), "rules": rules(rows)}}


def measure(key: Record, device: str | None) -> Record:
    """Return the returns of each run at every fixed radius and at the chosen one."""
    world, runs, start = key["world"], key["seeds"], time.perf_counter()
    teacher, steps = NOISY_TEACHERS[key["teacher"]], key["steps"]
    numbers = [*range(key["first"], key["first"] + runs)]
    datasets = [
        cb.demonstrate(world, teacher, POOL, run).sample_pairs(key["pairs"], run) for run in numbers
    ]
    changes: dict[str, Any] = {"device": device, "steps": PAPER_STEPS if steps is None else steps}
    changes |= AS_SHOWN
    fixed_policies = cb.train(datasets, "counter-bc", seeds=numbers, radii=RADII, **changes)
    auto_policies = cb.train(
        datasets, "counter-bc", seeds=numbers, radius="auto", search=cb.RadiusSearch(), **changes
    )
    returns = cb.evaluate(fixed_policies, world).returns.mean(1).reshape(len(RADII), runs)
    choices = [c for c in auto_policies.run_config.choices if "radius" in c]
    return key | {
        "fixed": {f"{r:g}": x.round(4).tolist() for r, x in zip(RADII, returns, strict=True)},
        "auto": cb.evaluate(auto_policies, world).returns.mean(1).round(4).tolist(),
        "chosen": [c["radius"] for c in choices],
        "curves": [c["error"] for c in choices],
        "kernel": kernels_of(fixed_policies, auto_policies),
        "plateaus": [c["plateau"] for c in choices],
        "minutes": round((time.perf_counter() - start) / 60, 2),
    }


def best_elsewhere(fixed_returns: Array) -> Array:
    """Return each run's return (runs,) at the radius that is best on the other half of the runs."""
    runs = fixed_returns.shape[1]
    half = np.arange(runs) % 2
    best = [int(fixed_returns[:, half != half[run]].mean(1).argmax()) for run in range(runs)]
    return np.asarray(fixed_returns[best, np.arange(runs)])


def below(row: Record) -> float:
    """Return the one-sided p-value of the chosen Δ being below BC, run by run."""
    difference = paired_difference(np.array(row["auto"]), np.array(row["fixed"]["0"]))
    if not np.isfinite(difference.p):
        return 1.0
    return difference.p / 2 if difference.interval.mean < 0 else 1 - difference.p / 2


def markdown(rows: list[Record]) -> str:
    """Return a line per cell, then what choosing loses over all of them."""
    head = ["world", "teacher", "pairs", "runs", "BC", "Δ 0.4", "best fixed"]
    head += ["chosen", "chosen Δ", "lost"]
    lines = []
    corrected_p, losses, lost_by_fixed, ranges = holm([below(r) for r in rows]), [], [], []
    afterwards = []
    for row, p in zip(rows, corrected_p, strict=True):
        fixed_returns, auto = (
            np.array(list(row["fixed"].values())),
            np.array(row["auto"]),
        )  # (G, runs)
        best, usual = best_elsewhere(fixed_returns), np.array(row["fixed"]["0.4"])
        losses.append(100 * float((best - auto).mean() / best.mean()))
        ranges.append(100 * np.array(_bounds(best, auto)) / best.mean())
        top = float(fixed_returns.mean(1).max())
        afterwards.append(100 * (top - float(auto.mean())) / top)
        lost_by_fixed.append(100 * float((best - usual).mean() / best.mean()))
        at = float(RADII[int(fixed_returns.mean(1).argmax())])
        cells = [_text(x) for x in (row["fixed"]["0"], usual, best, auto, row["chosen"])]
        cells[2] += f" ({at:g})"
        cells[3] += " ▼" if p < 0.05 else ""
        about = [row["world"], row["teacher"], str(row["pairs"]), str(row["seeds"])]
        lines.append([*about, *cells, f"{losses[-1]:.1f} %"])
    worst = int(np.argmax(losses))
    worst_row = rows[worst]
    below_bc = sum(p < 0.05 for p in corrected_p)
    return (
        f"{markdown_table(head, lines)}\n\n"
        f"Lost against the best fixed Δ: {np.mean(losses):.1f} % on average, at worst "
        f"{losses[worst]:.1f} % [{ranges[worst][0]:.1f}, {ranges[worst][1]:.1f}] "
        f"({worst_row['world']}, {worst_row['teacher']}, {worst_row['pairs']} pairs); "
        f"with Δ 0.4 everywhere "
        f"{np.mean(lost_by_fixed):.1f} % and {max(lost_by_fixed):.1f} %. Against the Δ that turns "
        f"out best on the same runs: {np.mean(afterwards):.1f} % and {max(afterwards):.1f} %. "
        f"Cells below BC (▼, Holm over {len(rows)} cells, 5 %): {below_bc}."
    )


RULES: dict[str, Callable[[list[float], list[float], float], float]] = {
    "least error": lambda curve, plateau, chosen_radius: RADII[int(np.argmin(curve))],
    "halfway from least to largest (ours)": lambda curve, plateau, chosen_radius: chosen_radius,
    "smallest within one standard error": lambda curve, plateau, chosen_radius: plateau[0],
    "largest within one standard error": lambda curve, plateau, chosen_radius: plateau[-1],
    "middle of those": lambda curve, plateau, chosen_radius: float(np.mean(plateau)),
}


def rules(rows: list[Record]) -> str:
    """Return what other rules for the same curves lose, with returns interpolated between Δ."""
    lines = []
    for name, rule in RULES.items():
        radii, losses = [], []
        for row in rows:
            fixed_returns = np.array(list(row["fixed"].values()))  # (G, runs)
            evidences = zip(row["curves"], row["plateaus"], row["chosen"], strict=True)
            chosen_radius = [rule(*evidence) for evidence in evidences]
            interpolated = [
                np.interp(r, RADII, fixed_returns[:, run]) for run, r in enumerate(chosen_radius)
            ]
            best = best_elsewhere(fixed_returns).mean()
            radii += chosen_radius
            losses.append(100 * float((best - np.mean(interpolated)) / best))
        texts = (f"{np.mean(radii):.2f}", f"{np.mean(losses):.1f} %", f"{max(losses):.1f} %")
        lines.append([name, *texts])
    return markdown_table(["rule", "mean Δ", "lost on average", "at worst"], lines)


def _bounds(a: Array, b: Array) -> tuple[float, float]:
    """Return the 95 % interval of a − b, run by run."""
    interval = paired_difference(a, b).interval
    return interval.low, interval.high


def _text(values: Any) -> str:
    interval = mean_interval(np.asarray(values))
    return f"{interval.mean:.2f} ± {interval.se:.2f}"


def cost(rounds: int = 3) -> str:
    """Return how long choosing Δ takes relative to training one policy, side by side."""
    demos, ratios = cb.demonstrate("intersection", UniformNoise(0.5), 400, 0), []
    for steps in (2, *[PAPER_STEPS] * rounds):  # the first compiles
        times = [time.perf_counter()]
        cb.train(demos, radius=PAPER_RADIUS, steps=steps, progress=False, **AS_SHOWN)
        times.append(time.perf_counter())
        cb.choose_radius(demos, steps=steps, progress=False)
        times.append(time.perf_counter())
        ratios.append((times[2] - times[1]) / (times[1] - times[0]))
    ratio_text = ", ".join(f"{r:.1f}" for r in ratios[1:])
    return (
        f"Choosing Δ (9 radii × 5 folds, 400 pairs) takes {ratio_text} times one policy's training."
    )
