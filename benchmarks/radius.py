"""Δ from the data against every fixed Δ: what choosing costs, and where its assumption fails.

    python benchmarks/radius.py --seeds 50 [--device cuda] [--out radius.json]     the noises
    python benchmarks/radius.py --teachers errors --seeds 10 --out errors.json     other errors
    python benchmarks/radius.py --cost                                             seconds

act=mean, 100 starts per run. With the noises, each run draws its pairs at random from 4000 of its
own, as the paper does; with the other errors it learns from whole episodes, so that errors which
last are seen to last. The best fixed Δ of a run is picked on the other half of the runs. Finished
cells are kept in the output file, so a stopped run goes on where it was.
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

from counterbc.demonstrations import Demonstrations
from counterbc.demonstrators import (
    NOISES,
    Bias,
    Chain,
    Delay,
    MotorNoise,
    Teacher,
    Uniform,
    demonstrate,
)
from counterbc.errors import InfeasibleActions
from counterbc.evaluation import evaluate
from counterbc.files import aside
from counterbc.intervals import mean_interval, paired_difference
from counterbc.radius import DoubtfulRadius, Search, choose_radius
from counterbc.training import train

WORLDS, PAIRS, POOL = ("intersection", "cartpole"), (100, 400), 4000
RADII = Search().radii
Of = Callable[[int], Teacher]
"""Who teaches a run."""


def _noise(name: str, sigma: float) -> Of:
    return lambda run: NOISES[name](sigma)


TEACHERS: dict[str, dict[str, Of]] = {
    "noises": {f"{n} σ {s:g}": _noise(n, s) for n in NOISES for s in (0.1, 0.2, 0.5)},
    "errors": {
        "white, sd 0.25": lambda run: MotorNoise(0, 0.25, memory=0),
        "lasting, sd 0.25": lambda run: MotorNoise(0, 0.25, memory=0.9),
        "uniform σ 0.4": lambda run: Uniform(0.4),
        "uniform σ 0.4, off by up to 0.4": lambda run: Chain((Bias(0.4, run), Uniform(0.4))),
        "uniform σ 0.4, 1 step late": lambda run: Chain((Delay(1), Uniform(0.4))),
        "1 step late": lambda run: Delay(1),
    },
}


def recorded(world: str, teacher: Of, pairs: int, runs: int, pool: int) -> list[Demonstrations]:
    shown = [demonstrate(world, teacher(run), pool or pairs, run) for run in range(runs)]
    return [d.sample_pairs(pairs, run) if pool else d for run, d in enumerate(shown)]


def cell(
    key: dict[str, Any], teacher: Of, pool: int, device: str | None, steps: int | None
) -> dict[str, Any]:
    """Returns of each run at every fixed radius and at the chosen one."""
    world, runs, began = key["world"], key["seeds"], time.perf_counter()
    datasets = recorded(world, teacher, key["pairs"], runs, pool)
    changes: dict[str, Any] = {"device": device} | ({} if steps is None else {"steps": steps})
    fixed = train(datasets, "counter-bc", seeds=runs, radii=RADII, **changes)
    auto = train(datasets, "counter-bc", seeds=runs, radius="auto", **changes)
    returns = evaluate(fixed, world).returns.mean(1).reshape(len(RADII), runs)
    choices = auto.config["radius_choices"]
    return key | {
        "fixed": {f"{r:g}": x.round(4).tolist() for r, x in zip(RADII, returns, strict=True)},
        "auto": evaluate(auto, world).returns.mean(1).round(4).tolist(),
        "chosen": [c["radius"] for c in choices],
        "curves": [c["error"] for c in choices],
        "doubts": sum(any("peak" in w for w in c["warnings"]) for c in choices),
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
    head = ("world", "teacher", "pairs", "BC", "Δ 0.4", "best fixed", "chosen", "chosen Δ", "lost")
    lines = ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    corrected, lost, lost_by_fixed = holm([below(r) for r in rows]), [], []
    for row, p in zip(rows, corrected, strict=True):
        fixed, auto = np.array(list(row["fixed"].values())), np.array(row["auto"])  # (G, runs)
        best, usual = best_elsewhere(fixed), np.array(row["fixed"]["0.4"])
        lost.append(100 * float((best - auto).mean() / best.mean()))
        lost_by_fixed.append(100 * float((best - usual).mean() / best.mean()))
        at = float(RADII[int(fixed.mean(1).argmax())])
        cells = [_text(x) for x in (row["fixed"]["0"], usual, best, auto, row["chosen"])]
        cells[2] += f" ({at:g})"
        cells[3] += " ▼" if p < 0.05 else ""
        about = [row["world"], row["teacher"], str(row["pairs"])]
        lines.append(f"| {' | '.join([*about, *cells, f'{lost[-1]:.1f} %'])} |")
    worst = int(np.argmax(lost))
    lines.append(
        f"\nLost against the best fixed Δ: {np.mean(lost):.1f} % on average, at worst "
        f"{lost[worst]:.1f} % ({rows[worst]['world']}, {rows[worst]['teacher']}, "
        f"{rows[worst]['pairs']} pairs); with Δ 0.4 everywhere {np.mean(lost_by_fixed):.1f} % and "
        f"{max(lost_by_fixed):.1f} %. Cells below BC (▼, Holm over {len(rows)} cells, 5 %): "
        f"{sum(p < 0.05 for p in corrected)}."
    )
    return "\n".join(lines)


def _text(values: Any) -> str:
    interval = mean_interval(np.asarray(values))
    return f"{interval.mean:.2f} ± {interval.se:.2f}"


def cost(rounds: int = 5) -> str:
    """Choosing Δ against training one policy, side by side."""
    demos, ratios = demonstrate("intersection", Uniform(0.5), 400, 0), []
    for _ in range(rounds + 1):  # the first one compiles
        times = [time.perf_counter()]
        train(demos, "counter-bc", progress=False)
        times.append(time.perf_counter())
        choose_radius(demos, progress=False)
        times.append(time.perf_counter())
        ratios.append((times[2] - times[1]) / (times[1] - times[0]))
    low, middle, high = np.quantile(ratios[1:], [0, 0.5, 1])
    return (
        f"Choosing Δ (9 radii × 5 folds, 400 pairs) takes {middle:.1f} times as long as training "
        f"one policy (median of {rounds} rounds; {low:.1f} to {high:.1f})."
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--seeds", type=int, default=50)
    parser.add_argument("--steps", type=int, default=None)
    parser.add_argument("--device", default=None)
    parser.add_argument("--teachers", choices=list(TEACHERS), default="noises")
    parser.add_argument("--only", nargs="*", help="teachers by name; by default all")
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
    teachers, pool = TEACHERS[options.teachers], POOL if options.teachers == "noises" else 0
    for world in options.worlds:
        for name in options.only or teachers:
            for pairs in options.pairs:
                key = {"world": world, "teacher": name, "pairs": pairs, "seeds": options.seeds}
                key |= {"steps": options.steps}
                if not any(key.items() <= row.items() for row in rows):
                    rows.append(cell(key, teachers[name], pool, options.device, options.steps))
                    with aside(options.out) as temporary:
                        temporary.write_text(json.dumps(rows, indent=1) + "\n")
                    print(markdown(rows[-1:]).splitlines()[2], flush=True)
    print(markdown(rows))


if __name__ == "__main__":
    main()
