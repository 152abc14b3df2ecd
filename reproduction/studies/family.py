"""All methods on a crowd, with those that know the operators, the rewards or the expert.

Intersection, 1600 pairs per run in equal shares from six operators with uniform noise σ 0.05 … 1,
100 starts per run, both ways of acting. `ileed` knows who demonstrated which pair,
`discriminator-bc` which pairs are the best operator's, `advantage-bc` the rewards.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

import counterbc as cb
from counterbc.acting.act import ACTS
from counterbc.acting.intervals import mean_interval, paired_difference
from counterbc.demonstrators import UniformNoise
from counterbc.diagnosis import expertise
from counterbc.experiments.cell import evaluate_acts, reproducible
from reproduction.markdown import markdown_table
from reproduction.options import StudyOptions
from reproduction.paper import PAPER_RADIUS
from reproduction.records import Record, Records, read
from reproduction.rows import mean_and_runs

WORLD, PAIRS, STEPS_OF_AN_EPISODE = "intersection", 1600, 20
SIGMAS = (0.05, 0.2, 0.4, 0.6, 0.8, 1.0)
OPERATORS = tuple(f"sigma {s:g}" for s in SIGMAS)
CASES: dict[str, cb.Method] = {
    name: cb.METHODS[name]
    for name in ("bc", "counter-bc", "weighted-bc", "ileed", "discriminator-bc", "advantage-bc")
}
CASES["advantage-bc, exponential"] = cb.Method(weighting=cb.Advantage(form="exponential"))
BEST_ALONE = "bc on the best operator alone"


@dataclass(frozen=True, kw_only=True)
class FamilyOptions(StudyOptions):
    """Compare all methods on a crowd of six operators."""

    seeds: int = 20
    steps: int = 10_000
    device: str | None = None
    cases: tuple[str, ...] = (*CASES, BEST_ALONE)


def run(options: FamilyOptions) -> None:
    """Compute the missing cases and print the table."""
    records = Records(options.numbers("family"), device=options.device)
    with reproducible():
        datasets = [crowd(seed) for seed in range(options.seeds)]
        for case in options.cases:
            if records.has(case=case, seeds=options.seeds, steps=options.steps):
                continue
            data = datasets
            if case == BEST_ALONE:
                data = [d.subset(operator=OPERATORS[0]) for d in datasets]
            policies = cb.train(
                data,
                CASES.get(case, cb.METHODS["bc"]),
                seeds=options.seeds,
                steps=options.steps,
                radius=PAPER_RADIUS,
                device=options.device,
                progress=False,
            )
            records.add(row_of(case, policies, data))
    print(markdown(records.rows))
    for row in (r for r in records.rows if "expertise" in r):
        print(f"\n{expertise_text(row)}")


def crowd(seed: int) -> cb.Demonstrations:
    """Return equal shares of pairs of every operator, drawn from whole episodes."""
    shares = np.full(len(SIGMAS), PAIRS // len(SIGMAS))
    shares[: PAIRS - shares.sum()] += 1
    parts = []
    for i, (sigma, name) in enumerate(zip(SIGMAS, OPERATORS, strict=True)):
        draw = seed * len(SIGMAS) + i
        whole = -(-int(shares.max()) // STEPS_OF_AN_EPISODE) * STEPS_OF_AN_EPISODE
        demos = cb.demonstrate(WORLD, UniformNoise(sigma), whole, draw)
        episodes = tuple(replace(e, operator=name) for e in demos.episodes)
        parts.append(replace(demos, episodes=episodes).sample_pairs(int(shares[i]), draw))
    demos = cb.merge(parts)
    expert = tuple(e.name for e in demos.episodes if e.operator == OPERATORS[0])
    return replace(demos, masks={"expert": expert})


def row_of(case: str, policies: cb.Policies, datasets: list[cb.Demonstrations]) -> Record:
    """Return the numbers of one case, with every run's return for paired comparisons."""
    row: Record = {"case": case, "seeds": len(policies)}
    row |= {"steps": policies.run_config.settings["steps"], "seconds": policies.run_config.seconds}
    row["kernel"] = policies.run_config.kernel
    for e in evaluate_acts(policies, WORLD, episodes=100, acts=ACTS):
        row[e.act] = mean_and_runs(e.returns.mean(1))
    if "operator" in policies.weighting_params:
        row["expertise"] = order(expertise(policies, datasets))
    return row


def order(rho: dict[str, Any]) -> Record:
    """Return mean ρ of each operator, and its rank correlation with −σ in every run."""
    from scipy import stats

    by_operator = np.stack([rho[name] for name in OPERATORS], 1)  # (members, operators)
    ranks = [float(stats.spearmanr(-np.array(SIGMAS), run).statistic) for run in by_operator]
    numbers: Record = {"spearman": asdict(mean_interval(np.array(ranks)))}
    numbers["spearman"]["runs"] = [round(x, 4) for x in ranks]
    numbers["rho"] = {name: asdict(mean_interval(rho[name])) for name in OPERATORS}
    return numbers


def sections(results: Path) -> dict[str, dict[str, str]]:
    """Return the table of docs/benchmarks.md."""
    return {"benchmarks": {"family": markdown(read(results / "family" / "numbers.json"))}}


def markdown(rows: list[Record]) -> str:
    """Return mean ± standard error over runs, and the paired difference to BC with its interval."""
    lines = []
    bc = {(r["seeds"], r["steps"]): r for r in rows if r["case"] == "bc"}
    for r in rows:
        cells, base = [r["case"]], bc.get((r["seeds"], r["steps"]))
        for act in ("sample", "mean"):
            above = "–"
            if base is not None and base is not r:
                runs = (np.array(x[act]["runs"]) for x in (r, base))
                above = str(paired_difference(*runs).interval).replace("-", "−")
            cells += [f"{r[act]['mean']:.2f} ± {r[act]['se']:.2f}", above]
        lines.append(cells)
    return markdown_table(["method", "act=sample", "above BC", "act=mean", "above BC"], lines)


def expertise_text(row: Record) -> str:
    """Return the expertise of each operator in words."""
    rho = ", ".join(f"{name} {v['mean']:.2f}" for name, v in row["expertise"]["rho"].items())
    rank = row["expertise"]["spearman"]["mean"]
    return f"{row['case']}: ρ {rho}; rank correlation with −σ {rank:.2f}"
