"""Car Racing under the paper's conventions, beside ours.

Noise of ± σ on raw steering, gas and brake; actions and Δ in raw units; a learning rate of 1e-3 and
10,000 steps. Each seed records 8000 pairs and learns from 400 of them, drawn at random. Variants of
the pedals learn from the actions that the car executed: projected to their bounds, or declared as
cut there, which makes the likelihood a censored one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Any

import numpy as np

from counterbc.acting.act import ACTS
from counterbc.data.demonstrations import Demonstrations
from counterbc.demonstrators import NOISES, Distortion, EpisodeBatch, Teacher, demonstrate
from counterbc.experiments.cell import evaluate_acts, reproducible
from counterbc.experiments.workers import run_all
from counterbc.trainer import train
from reproduction.options import StudyOptions, option
from reproduction.paper import PAPER_METHODS, PAPER_RADIUS
from reproduction.records import Record, Records, kernels_of, write_rows

STUDY, WORLD = "car-racing-paper", "car-racing"
FIRST_SEED = 3270
SIGMA, PAIRS, POOL, STEPS = 0.5, 400, 8000, 10_000
KEY = ("noise", "variant", "act", "seed")
"""The columns that tell rows apart."""
HALF_RANGE = np.array([1.0, 0.5, 0.5])
"""Half the range of steering, gas and brake: what 1 means where teachers act."""
TUNED = "bc, tuned"
CURVE = (200, 500, 1000, 2000, 5000)
"""Numbers of steps of the curve, beside 10,000."""
BOTH = ("bc", "counter-bc")
PEDALS = ("projected", "censored")
"""What BC and Counter-BC learn from beside the actions asked for."""
PAPER_WAY: dict[str, Any] = {
    "scale_actions": False, "learning_rate": 1e-3, "radius": PAPER_RADIUS, "lag": 0.0,
    "offsets": "none", "ensemble": 1,
}  # fmt: skip
"""Settings that all variants share."""


@dataclass(frozen=True)
class RawNoise(Teacher):
    """Noise of the same size in the units of every action, whatever its range is."""

    noise: str
    sigma: float

    def begin(self, batch: EpisodeBatch) -> Distortion:
        error = NOISES[self.noise](self.sigma).errors(batch) / HALF_RANGE  # (T, N, A)
        return lambda action, t: action + error[t]

    def __str__(self) -> str:
        return f"{self.noise} σ={self.sigma:g} in raw units"


@dataclass(frozen=True, kw_only=True)
class CarRacingPaperOptions(StudyOptions):
    """Compare methods in Car Racing under the paper's conventions."""

    seeds: int = 5
    first_seed: int = option(FIRST_SEED, "seed of the first run")
    noises: tuple[str, ...] = option(("uniform", "gaussian"), "noises of σ 0.5")
    variants: tuple[str, ...] = option((), "only these variants; by default all")
    episodes: int = 10
    steps: int = STEPS
    pool: int = option(POOL, "pairs that each run records")
    device: str | None = None
    workers: int | None = None


def variants(steps: int = STEPS) -> dict[str, dict[str, Any]]:
    """Return how each variant is trained, the most informative first."""
    order = ("bc", "counter-bc", "bc-rnn", "bcnd", "weighted-bc")
    table: dict[str, dict[str, Any]] = {name: {"method": name, "steps": steps} for name in order}
    table[TUNED] = {"method": "bc", "steps": "auto"}
    for way, settings in zip(PEDALS, ({"feasible": "project"}, {}), strict=True):
        table |= {f"{name}, {way}": table[name] | settings for name in BOTH}
    for count in (count for count in CURVE if count < steps):
        table |= {f"{name}, {count} steps": table[name] | {"steps": count} for name in BOTH}
    return table


def cells(options: CarRacingPaperOptions) -> list[Record]:
    """Return noises × variants: after the methods of the first noise, BC and Counter-BC of others,
    then the rest of the first noise, then everything else."""
    names = list(options.variants or variants(options.steps))
    methods = [name for name in names if name in (*PAPER_METHODS, TUNED)]
    first, *others = options.noises
    table = [(first, name) for name in methods]
    table += [(noise, name) for noise in others for name in names if name in BOTH]
    table += [(noise, name) for noise in options.noises for name in names]
    return [{"noise": noise, "variant": name} for noise, name in dict.fromkeys(table)]


def run(options: CarRacingPaperOptions) -> None:
    """Compute the missing rows."""
    records = Records(options.out / STUDY / "rows.json", indent=None, device=options.device)
    jobs = {
        ", ".join(about.values()): partial(measure, about, options)
        for about in cells(options)
        if not records.has(**about)
    }

    def keep(name: str, rows: list[Record]) -> None:
        records.add(*rows)
        print(name, flush=True)

    if jobs:
        run_all(jobs, keep, options.workers, bars=False)
    write_rows(records.rows, options.out / STUDY)


@lru_cache(maxsize=10)
def recorded(noise: str, pool: int, seed: int) -> Demonstrations:
    """Return the demonstrations of a seed; a worker records them once."""
    demos = demonstrate(WORLD, RawNoise(noise, SIGMA), pool, seed)
    return demos.sample_pairs(min(PAIRS, pool), seed)


def as_taken(demos: Demonstrations) -> Demonstrations:
    """Return demonstrations with the actions that the car executed, declared as such."""
    low, high = np.asarray(demos.action_low), np.asarray(demos.action_high)
    executed_demos = demos.map_actions(
        lambda action: np.clip(action, low, high).astype(action.dtype)
    )
    return replace(executed_demos, actions_are="taken")


def measure(about: Record, options: CarRacingPaperOptions) -> list[Record]:
    """Return a row per run and way of acting."""
    seeds = list(range(options.first_seed, options.first_seed + options.seeds))
    variant = about["variant"]
    with reproducible():
        datasets = [recorded(about["noise"], options.pool, seed) for seed in seeds]
        if variant.endswith(PEDALS[1]):
            datasets = [as_taken(demos) for demos in datasets]
        policies = train(
            datasets, seeds=seeds, device=options.device, progress=False,
            **(PAPER_WAY | variants(options.steps)[variant]),
        )  # fmt: skip
        evaluations = evaluate_acts(policies, WORLD, episodes=options.episodes, acts=ACTS)
    rows, config = [], policies.run_config
    for e in evaluations:
        for i, member in enumerate(policies.members):
            rows.append(about | {
                "act": e.act, "seed": member.seed, "return": float(np.mean(e.returns[i])),
                **{name: float(np.mean(e.measures[name][i])) for name in ("tiles", "lap")},
                "shown": float(datasets[i].mean_return or 0.0),
                "steps": member.steps or config.settings["steps"],
                "seconds": config.seconds, "kernel": kernels_of(policies),
            })  # fmt: skip
    return rows
