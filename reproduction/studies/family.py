"""The whole family on a crowd: methods that know who demonstrated, what was earned, who is expert.

    python -m reproduction.studies.family --seeds 20 [--device cuda] [--out reproduction/results/family/numbers.json]

Intersection, 1600 pairs per run in equal shares from six operators with uniform noise σ 0.05 … 1,
100 starts per run, both ways of acting. `ileed` is told who showed what, `discriminator-bc` who is
best, `advantage-bc` the rewards. A finished method is kept in the output file and not computed
again, so a stopped run goes on where it was.
"""

from __future__ import annotations

import argparse
import json
import warnings
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np

from counterbc.acting.actor import ACTS
from counterbc.acting.evaluation import evaluate
from counterbc.acting.intervals import mean_interval, paired_difference
from counterbc.acting.policies import Policies
from counterbc.data.demonstrations import Demonstrations
from counterbc.data.merge import merge
from counterbc.demonstrators import UniformNoise, demonstrate
from counterbc.diagnosis import expertise
from counterbc.errors import InfeasibleActions
from counterbc.methods import METHODS, Method
from counterbc.trainer import train
from counterbc.weightings import Advantage

WORLD, PAIRS, STEPS_OF_AN_EPISODE = "intersection", 1600, 20
SIGMAS = (0.05, 0.2, 0.4, 0.6, 0.8, 1.0)
OPERATORS = tuple(f"sigma {s:g}" for s in SIGMAS)
CASES: dict[str, Method] = {
    name: METHODS[name]
    for name in ("bc", "counter-bc", "weighted-bc", "ileed", "discriminator-bc", "advantage-bc")
}
CASES["advantage-bc, exponential"] = Method(weighting=Advantage(form="exponential"))
BEST_ALONE = "bc on the best operator alone"


def crowd(seed: int) -> Demonstrations:
    """Whole episodes of every operator, of which equal shares of the pairs are learned from."""
    shares = np.full(len(SIGMAS), PAIRS // len(SIGMAS))
    shares[: PAIRS - shares.sum()] += 1
    shown = []
    for i, (sigma, name) in enumerate(zip(SIGMAS, OPERATORS, strict=True)):
        own = seed * len(SIGMAS) + i
        whole = -(-int(shares.max()) // STEPS_OF_AN_EPISODE) * STEPS_OF_AN_EPISODE
        demos = demonstrate(WORLD, UniformNoise(sigma), whole, own)
        episodes = tuple(replace(e, operator=name) for e in demos.episodes)
        shown.append(replace(demos, episodes=episodes).sample_pairs(int(shares[i]), own))
    demos = merge(shown)
    expert = tuple(e.name for e in demos.episodes if e.operator == OPERATORS[0])
    return replace(demos, masks={"expert": expert})


def row(case: str, policies: Policies, datasets: list[Demonstrations]) -> dict[str, Any]:
    """What is kept of one case; every run's return, so that cases can be compared run by run."""
    found: dict[str, Any] = {"case": case, "seeds": len(policies)}
    found |= {"steps": policies.config["settings"]["steps"], "device": policies.config["device"]}
    found["seconds"] = policies.config["seconds"]
    for act in ACTS:
        e = evaluate(policies, WORLD, act=act, progress=False)
        found[act] = {"mean": e.interval.mean, "se": e.interval.se}
        found[act]["runs"] = [round(float(x), 4) for x in e.returns.mean(1)]
    if "operator" in policies.weighting_params:
        found["expertise"] = orders(expertise(policies, datasets))
    return found


def orders(rho: dict[str, Any]) -> dict[str, Any]:
    """Mean ρ of each operator, and its rank correlation with −σ in every run: 1 is right."""
    from scipy import stats

    each = np.stack([rho[name] for name in OPERATORS], 1)  # (members, operators)
    right = [float(stats.spearmanr(-np.array(SIGMAS), run).statistic) for run in each]
    found: dict[str, Any] = {"spearman": asdict(mean_interval(np.array(right)))}
    found["spearman"]["runs"] = [round(x, 4) for x in right]
    found["rho"] = {name: asdict(mean_interval(rho[name])) for name in OPERATORS}
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--steps", type=int, default=10_000)
    parser.add_argument("--device", default=None)
    parser.add_argument("--cases", nargs="*", default=[*CASES, BEST_ALONE])
    parser.add_argument(
        "--out", type=Path, default=Path("reproduction/results/family/numbers.json")
    )
    options = parser.parse_args()
    warnings.simplefilter("ignore", InfeasibleActions)
    rows = json.loads(options.out.read_text()) if options.out.exists() else []
    finished = {(r["case"], r["seeds"], r["steps"]) for r in rows}
    datasets = [crowd(seed) for seed in range(options.seeds)]
    for case in options.cases:
        if (case, options.seeds, options.steps) in finished:
            continue
        data, method = datasets, CASES.get(case, METHODS["bc"])
        if case == BEST_ALONE:
            data = [d.subset(operator=OPERATORS[0]) for d in datasets]
        policies = train(
            data, method, seeds=options.seeds, steps=options.steps, device=options.device,
            radius=0.4, progress=False,
        )  # fmt: skip
        rows.append(row(case, policies, data))
        options.out.parent.mkdir(parents=True, exist_ok=True)
        options.out.write_text(json.dumps(rows, indent=1) + "\n")
        print(markdown(rows[-1:], rows).splitlines()[-1], flush=True)
    print(markdown(rows, rows))


def markdown(rows: list[dict[str, Any]], known: list[dict[str, Any]]) -> str:
    """Mean ± standard error over runs, and the paired difference to BC with its 95 % interval."""
    lines = [
        "| method | act=sample | above BC | act=mean | above BC | training |",
        "|---|" + 5 * "---|",
    ]
    bc = {(r["seeds"], r["steps"]): r for r in known if r["case"] == "bc"}
    for r in rows:
        cells, base = [r["case"]], bc.get((r["seeds"], r["steps"]))
        for act in ("sample", "mean"):
            cells.append(f"{r[act]['mean']:.2f} ± {r[act]['se']:.2f}")
            above = "–"
            if base is not None and base is not r:
                runs = (np.array(x[act]["runs"]) for x in (r, base))
                above = str(paired_difference(*runs).interval)
            cells.append(above)
        lines.append(f"| {' | '.join(cells)} | {r['seconds']:.0f} s |")
    for r in rows:
        if "expertise" in r:
            rho = ", ".join(f"{n} {v['mean']:.2f}" for n, v in r["expertise"]["rho"].items())
            rank = r["expertise"]["spearman"]["mean"]
            lines.append(f"\n{r['case']}: ρ {rho}; rank correlation with −σ {rank:.2f}")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
