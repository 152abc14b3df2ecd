"""Counter-BC against BC when both are tuned by the same search, from the same demonstrations.

Lag, offsets, number of steps and size of the ensemble are chosen for both methods; only Δ is 0 for
BC. Both learn from the same datasets, start from the same seeds and are tested from the same
starts. The kinds of data are the 36 of the study `radius`, scattered pairs of noisy teachers, and
whole episodes of teachers without noise, of a crowd and of teachers who react late. Further kinds
of teachers and numbers of pairs can be asked for by `--teachers` and `--pairs`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import torch

from counterbc.acting.act import ACTS
from counterbc.acting.evaluation import Evaluation
from counterbc.acting.policies import Policies
from counterbc.data.demonstrations import Demonstrations
from counterbc.demonstrators import HUMAN_TEACHERS, NOISES, Teacher, demonstrate
from counterbc.envs import WORLDS
from counterbc.errors import unknown
from counterbc.experiments.cell import evaluate_acts, reproducible
from counterbc.experiments.workers import run_all
from counterbc.selection.radius import RadiusSearch
from counterbc.trainer import train
from reproduction.options import DOCS, StudyOptions, option
from reproduction.records import Record, Records, read, read_rows, write_rows
from reproduction.studies.lag import late_teacher
from reproduction.studies.tuned_tables import cost_table, markdown, summary

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
LATER_SEED = 3000
"""Seed of the first run of the kinds that were added later."""
LATE_TEACHERS = ("0.2 s late", "0.2 s late, white 0.3", "0.2 s late, typical")
PEOPLE = ("crowd", "novice")
"""The teachers who stand in for people: they react in 0.15 to 0.35 s."""
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
class TrainedOptions(StudyOptions):
    """How methods are trained and tested on the same demonstrations."""

    seeds: int = 50
    first_seed: int = option(FIRST_SEED, "seed of the first run")
    worlds: tuple[str, ...] = TUNED_WORLDS
    episodes: int = 40
    device: str | None = None
    workers: int | None = None
    variants: tuple[str, ...] = option((), "variants to train; by default all")


@dataclass(frozen=True, kw_only=True)
class TunedOptions(TrainedOptions):
    """Compare tuned methods on the same demonstrations."""

    teachers: tuple[str, ...] = option((), "teachers of whole episodes; by default the 51 kinds")
    pairs: int = option(WHOLE_PAIRS, "pairs of the teachers asked for by --teachers")


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
    """Yield every kind of demonstrations: scattered pairs of noisy teachers, and whole episodes.

    Where teachers are asked for, only their whole episodes.
    """
    teachers = whole_teachers()
    for name in options.teachers:
        if name not in teachers:
            raise unknown("teacher", name, teachers)
    for world in options.worlds:
        if world in SCATTERED_WORLDS and not options.teachers:
            for (name, noise), sigma, pairs in product(NOISES.items(), SIGMAS, SCATTERED_PAIRS):
                about = {"world": world, "pairs": pairs, "teacher": f"{name} {sigma:g}, scattered"}
                yield about, noise(sigma)
        pairs = options.pairs if options.teachers else WHOLE_PAIRS
        for name in options.teachers or [t for t in teachers if t not in PEOPLE]:
            yield {"world": world, "pairs": pairs, "teacher": name}, teachers[name]


def whole_teachers() -> dict[str, Teacher]:
    """Return the teachers whose whole episodes are learned from, by name."""
    return {
        "no noise": NOISES["uniform"](0.0),
        "quick-crowd": HUMAN_TEACHERS["quick-crowd"],
        "0.2 s late": late_teacher("none", LATE),
        "0.2 s late, white 0.3": late_teacher("white 0.3", LATE),
        "0.2 s late, typical": late_teacher("typical", LATE),
        **{name: HUMAN_TEACHERS[name] for name in PEOPLE},
    }


def is_later(row: Record) -> bool:
    """Return whether a kind of data was added after the report on the 51 kinds."""
    return row["teacher"] in PEOPLE or row["pairs"] not in (*SCATTERED_PAIRS, WHOLE_PAIRS)


def datasets_of(about: Record, teacher: Teacher, seeds: range) -> list[Demonstrations]:
    """Return the demonstrations of one kind, one dataset for each seed."""
    world, pairs = about["world"], about["pairs"]
    if not about["teacher"].endswith("scattered"):
        return [demonstrate(world, teacher, pairs, s) for s in seeds]
    return [demonstrate(world, teacher, POOL, s).sample_pairs(pairs, s) for s in seeds]


def measure(
    about: Record, teacher: Teacher, variant: dict[str, Any], options: TrainedOptions
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
        sizes = ensembles_of(policies)
        by_size = {
            size: evaluate_acts(
                first_networks(policies, size), about["world"], episodes=options.episodes, acts=ACTS
            )
            for size in sorted(set(sizes))
        }
    rows = []
    for k, act in enumerate(ACTS):
        for i, (member, size) in enumerate(zip(policies.members, sizes, strict=True)):
            rows.append(about | {
                "act": act, "seed": member.seed, "return": _return(by_size[size][k], i, about),
                "shown": _shown(datasets[i]), "lag": list(member.lag), "steps": member.steps,
                "radius": max(member.radius), "ensemble": size,
            })  # fmt: skip
    return rows


def ensembles_of(policies: Policies) -> list[int]:
    """Return the size of the ensemble that each member's own dataset chose."""
    sizes = [c["ensemble"] for c in policies.config["choices"] if "ensemble" in c]
    return sizes or [policies.shards] * len(policies)


def first_networks(policies: Policies, size: int) -> Policies:
    """Return members of the first `size` networks each: those of a training of that size."""
    nets = [i * policies.shards + k for i in range(len(policies)) for k in range(size)]
    params = {name: value[nets] for name, value in policies.params.items()}
    return replace(policies, params=params, weighting_params={}, shards=size)


def _return(evaluation: Evaluation, member: int, about: Record) -> float:
    measured, returns = WORLDS[about["world"]].measure, evaluation.returns
    values = returns if measured is None else evaluation.measures.get(measured, returns)
    return float(values[member].mean())


def _shown(demos: Demonstrations) -> float:
    return float(demos.mean_return or 0.0)


def sections(results: Path) -> dict[str, dict[str, str]]:
    """Return the tables of docs/tune.md."""
    rows = read_rows(results / "tuned")
    first, later = [r for r in rows if not is_later(r)], [r for r in rows if is_later(r)]
    tables = {
        "tuned": f"{markdown(first)}\n\n{summary(first)}".strip(),
        "tuned-later": markdown(later),
        "tuning-cost": cost_table(read(COST) if COST.exists() else []),
    }
    return {"tune": tables}
