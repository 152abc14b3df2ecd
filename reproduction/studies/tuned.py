"""Counter-BC against BC when both are tuned by the same search, from the same demonstrations.

Lag, offsets, number of steps and size of the ensemble are chosen for both methods; only Δ is 0 for
BC. Both learn from the same datasets, start from the same seeds and are tested from the same
starts. The kinds of data are the 36 of the study `radius`, scattered pairs of noisy teachers, and
whole episodes of teachers without noise, of a crowd and of teachers who react late.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import torch

from counterbc.acting.act import ACTS
from counterbc.acting.intervals import holm, mean_interval
from counterbc.data.demonstrations import Demonstrations
from counterbc.demonstrators import HUMAN_TEACHERS, NOISES, Teacher, demonstrate
from counterbc.envs import WORLDS
from counterbc.experiments.cell import evaluate_acts, reproducible
from counterbc.experiments.workers import run_all
from counterbc.selection.radius import RadiusSearch
from counterbc.trainer import train
from reproduction.markdown import markdown_table
from reproduction.options import DOCS, StudyOptions, option
from reproduction.records import Record, Records, read, read_rows, write_rows
from reproduction.studies.lag import late_teacher

TUNED_WORLDS = ("intersection", "cartpole", "air-hockey")
SCATTERED_WORLDS = ("intersection", "cartpole")
SCATTERED_PAIRS = (100, 400)
SIGMAS = (0.1, 0.2, 0.5)
POOL = 4000
"""Pairs of which the scattered ones are a random sample."""
WHOLE_PAIRS = 400
"""Pairs of the datasets of whole episodes."""
LATE = 0.2
"""Reaction time of the late teachers in seconds."""
FIRST_SEED = 2300
COST = DOCS.parent / "benchmarks" / "results" / "tuning.json"
KEY = ("world", "pairs", "teacher", "variant", "act", "seed")
"""The columns that tell rows apart."""
_AS_SHOWN: dict[str, Any] = {"steps": 10_000, "lag": 0.0, "offsets": "none"}
VARIANTS: dict[str, dict[str, Any]] = {
    "bc, 10,000 steps": {"method": "bc"} | _AS_SHOWN,
    "counter-bc, 10,000 steps": {"method": "counter-bc"} | _AS_SHOWN,
    "bc, tuned": {"method": "bc"},
    "counter-bc, tuned": {"method": "counter-bc"},
}
"""How each variant is trained; what is not named is chosen from the data: Δ for 10,000 steps as
`choose_radius` does."""


@dataclass(frozen=True, kw_only=True)
class TunedOptions(StudyOptions):
    """Compare tuned methods on the same demonstrations."""

    seeds: int = 50
    first_seed: int = option(FIRST_SEED, "seed of the first run")
    worlds: tuple[str, ...] = TUNED_WORLDS
    episodes: int = 40
    device: str | None = None
    workers: int | None = None
    variants: tuple[str, ...] = option((), "variants to train; by default all")


def run(options: TunedOptions) -> None:
    """Compute the missing rows and print the table."""
    records = Records(options.out / "tuned" / "rows.json", indent=None, device=options.device)
    jobs = {}
    for kind, teacher in kinds(options):
        for variant in options.variants or VARIANTS:
            about = kind | {"variant": variant}
            is_in_radius = kind["teacher"].endswith("scattered") and "steps" in VARIANTS[variant]
            if not is_in_radius and not records.has(**about):
                name = ", ".join(map(str, about.values()))
                jobs[name] = partial(measure, about, teacher, VARIANTS[variant], options)
    if jobs:
        run_all(jobs, lambda _, rows: records.add(*rows), options.workers, bars=False)
    write_rows(records.rows, options.out / "tuned")
    print(f"{markdown(records.rows)}\n\n{summary(records.rows)}")


def kinds(options: TunedOptions) -> Iterator[tuple[Record, Teacher]]:
    """Yield every kind of demonstrations: scattered pairs of noisy teachers, and whole episodes."""
    for world in options.worlds:
        if world in SCATTERED_WORLDS:
            for (name, noise), sigma, pairs in product(NOISES.items(), SIGMAS, SCATTERED_PAIRS):
                about = {"world": world, "pairs": pairs, "teacher": f"{name} {sigma:g}, scattered"}
                yield about, noise(sigma)
        teachers: dict[str, Teacher] = {
            "no noise": NOISES["uniform"](0.0),
            "quick-crowd": HUMAN_TEACHERS["quick-crowd"],
            "0.2 s late": late_teacher("none", LATE),
            "0.2 s late, white 0.3": late_teacher("white 0.3", LATE),
            "0.2 s late, typical": late_teacher("typical", LATE),
        }
        for name, teacher in teachers.items():
            yield {"world": world, "pairs": WHOLE_PAIRS, "teacher": name}, teacher


def datasets_of(about: Record, teacher: Teacher, seeds: range) -> list[Demonstrations]:
    """Return the demonstrations of one kind, one dataset for each seed."""
    world, pairs = about["world"], about["pairs"]
    if not about["teacher"].endswith("scattered"):
        return [demonstrate(world, teacher, pairs, s) for s in seeds]
    return [demonstrate(world, teacher, POOL, s).sample_pairs(pairs, s) for s in seeds]


def measure(
    about: Record, teacher: Teacher, variant: dict[str, Any], options: TunedOptions
) -> list[Record]:
    """Return a row per run and way of acting."""
    torch.set_num_threads(1)
    seeds = range(options.first_seed, options.first_seed + options.seeds)
    with reproducible():
        datasets = datasets_of(about, teacher, seeds)
        policies = train(
            datasets, seeds=list(seeds), device=options.device, progress=False,
            search=RadiusSearch(), **variant,
        )  # fmt: skip
        evaluations = evaluate_acts(policies, about["world"], episodes=options.episodes, acts=ACTS)
    measured = WORLDS[about["world"]].measure
    rows = []
    for e in evaluations:
        values = e.returns if measured is None else e.measures.get(measured, e.returns)
        for i, member in enumerate(policies.members):
            rows.append(about | {
                "act": e.act, "seed": member.seed, "return": float(values[i].mean()),
                "shown": _shown(datasets[i]), "lag": list(member.lag), "steps": member.steps,
                "radius": max(member.radius), "ensemble": policies.shards,
            })  # fmt: skip
    return rows


def _shown(demos: Demonstrations) -> float:
    return float(demos.mean_return or 0.0)


def sections(results: Path) -> dict[str, dict[str, str]]:
    """Return the tables of docs/tune.md."""
    rows = read_rows(results / "tuned")
    text = f"{markdown(rows)}\n\n{summary(rows)}".strip()
    return {"tune": {"tuned": text, "tuning-cost": cost_table(read(COST) if COST.exists() else [])}}


def cost_table(rows: list[Record]) -> str:
    """Return the seconds that `benchmarks/tuning.py` measured, and how they grow with pairs."""
    fewest = {r["world"]: r for r in sorted(rows, key=lambda r: -r["pairs"])}
    lines = []
    for r in rows:
        base = fewest[r["world"]]
        growth = f"{r['tune'] / base['tune']:.1f} × for {r['pairs'] / base['pairs']:g} × the pairs"
        lines.append([
            r["world"], str(r["pairs"]), f"{r['train']:.1f} s", f"{r['tune']:.1f} s",
            f"{r['tune'] / r['train']:.1f}", "–" if r is base else growth,
        ])  # fmt: skip
    columns = ("world", "pairs", "train, fixed", "tune", "tune / train", "growth of tune")
    return markdown_table(columns, lines)


def markdown(rows: list[Record]) -> str:
    """Return the means of every variant, and tuned Counter-BC minus tuned BC with its interval."""
    lines, p_values = [], []
    for key, group in groups_of(rows):
        by_variant = {v: returns_of(group, v) for v in VARIANTS}
        means = [f"{x.mean():.2f}" if len(x) else "–" for x in by_variant.values()]
        pair = (by_variant["counter-bc, tuned"], by_variant["bc, tuned"])
        text, p = "–", float("nan")
        if all(map(len, pair)):
            difference = pair[0] - pair[1]
            interval = mean_interval(difference)
            text = f"{interval.mean:+.2f} [{interval.low:+.2f}, {interval.high:+.2f}]"
            p = _sign_test(difference)
        p_values.append(p)
        lines.append([*map(str, key), f"{np.mean([r['shown'] for r in group]):.1f}", *means, text])
    for line, p in zip(lines, holm(p_values), strict=True):
        line.append("–" if np.isnan(p) else f"{p:.2f}")
    columns = ("world", "pairs", "teacher", "act", "shown", *VARIANTS, "tuned: difference", "p")
    return markdown_table(columns, lines)


def summary(rows: list[Record]) -> str:
    """Return the mean difference over all kinds of data, in percent of tuned BC, by way of acting.

    Each run has one number, its mean over the kinds of data; the interval is over runs.
    """
    by_act: dict[str, list[np.ndarray[Any, Any]]] = {}
    for key, group in groups_of(rows):
        counter_bc, bc = (returns_of(group, v) for v in ("counter-bc, tuned", "bc, tuned"))
        if len(counter_bc) and len(counter_bc) == len(bc):
            by_act.setdefault(key[-1], []).append(100 * (counter_bc - bc) / abs(bc.mean()))
    lines = []
    for act, percent in by_act.items():
        interval = mean_interval(np.mean(percent, axis=0))
        lines.append(
            f"act={act}: tuned Counter-BC minus tuned BC is {interval.mean:+.1f} % "
            f"[{interval.low:+.1f}, {interval.high:+.1f}] on average over {len(percent)} kinds of "
            f"data, {len(percent[0])} runs."
        )
    return "\n".join(lines)


def returns_of(rows: list[Record], variant: str) -> np.ndarray[Any, Any]:
    """Return the returns of a variant by seed."""
    chosen = sorted((r for r in rows if r["variant"] == variant), key=lambda r: r["seed"])
    return np.array([r["return"] for r in chosen])


def _sign_test(difference: np.ndarray[Any, Any]) -> float:
    """Return the two-sided p-value of Wilcoxon's signed-rank test; 1 where nothing differs."""
    from scipy.stats import wilcoxon

    return 1.0 if not difference.any() else float(wilcoxon(difference).pvalue)


def groups_of(rows: list[Record]) -> Iterator[tuple[tuple[str, int, str, str], list[Record]]]:
    """Yield the rows of each kind of data and way of acting."""
    groups: dict[tuple[str, int, str, str], list[Record]] = {}
    for r in rows:
        groups.setdefault((r["world"], r["pairs"], r["teacher"], r["act"]), []).append(r)
    yield from sorted(groups.items())
