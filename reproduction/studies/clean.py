"""Are cleaned demonstrations nearer to the intended actions, and do others learn more from them?

400 pairs, uniform noise of σ 0.5, Δ 0.5, one dataset and one policy per seed. Distances are RMS per
dimension to the expert's mean action, before and after, also for the first eight steps of an
episode, which few pairs resemble. Returns are those of BC and Counter-BC on the demonstrated
actions, and of BC on the cleaned ones. To separate the effects of averaging and limiting, BC also
learns from the held-out predictions, and from those of a single split into folds.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import counterbc as cb
from counterbc.acting.act import ACTS
from counterbc.acting.intervals import mean_interval, paired_difference
from counterbc.data.scaling import scaled_feasible_set
from counterbc.demonstrators import UniformNoise
from counterbc.diagnosis.clamp_to_support import within
from counterbc.diagnosis.components import by_episode
from counterbc.experiments.cell import evaluate_acts, reproducible
from reproduction.markdown import markdown_table
from reproduction.options import StudyOptions, option
from reproduction.records import Record, Records, read

Array = NDArray[Any]
SIGMA, RADIUS, PAIRS, FIRST = 0.5, 0.5, 400, 8
LEARNERS = ("BC", "Counter-BC", "BC on cleaned", "BC on predicted", "BC on one split")
CLEANED_LEARNERS = LEARNERS[2:]


@dataclass(frozen=True, kw_only=True)
class CleanOptions(StudyOptions):
    """Measure how much cleaning demonstrations helps."""

    seeds: int = 20
    first: int = option(0, "number of the first seed")
    worlds: tuple[str, ...] = ("cartpole", "intersection")
    block: int = option(10, "seeds that are trained together")
    device: str | None = None


def run(options: CleanOptions) -> None:
    """Compute the missing seeds and print the tables."""
    records = Records(options.numbers("clean"), device=options.device)
    seeds = range(options.first, options.first + options.seeds)
    with reproducible():
        for world in options.worlds:
            missing_seeds = [s for s in seeds if not records.has(world=world, seed=s)]
            for start in range(0, len(missing_seeds), options.block):
                block = missing_seeds[start : start + options.block]
                records.add(*measure(world, block, options.device))
                print(f"{world}, {len(records.rows)} datasets", file=sys.stderr, flush=True)
    print(markdown(records.rows))


def expert_mean(world: str, demos: cb.Demonstrations) -> Array:
    """Return the expert's mean action at each state: (N, A); on Intersection it is random."""
    expert, keys, obs = cb.WORLDS[world].load_expert(), 1 if world == "cartpole" else 50, demos.obs
    samples = [expert(obs, np.arange(len(obs)) + k * len(obs), 0) for k in range(keys)]
    return np.asarray(np.mean(samples, axis=0))


def cleaned_sets(
    demos: cb.Demonstrations, seed: int, changes: dict[str, Any]
) -> dict[str, cb.Demonstrations]:
    """Return the demonstrations that each learner of `CLEANED` learns from."""
    folds = cb.HeldOut(seed=seed)
    changes = changes | {"lag": 0.0, "offsets": "none"}
    many = cb.meaning(demos, radius=RADIUS, held_out=folds, **changes)
    single = cb.meaning(
        demos, radius=RADIUS, held_out=replace(folds, repeats=1, rounds=1), **changes
    )
    predicted_sets = [_with_actions(demos, _limit(m)) for m in (many, single)]
    return dict(zip(CLEANED_LEARNERS, (many.cleaned, *predicted_sets), strict=True))


def _limit(meaning: cb.Meaning) -> Array:
    """Return the predictions within Δ and the action set; these worlds act in [−1, 1]."""
    A, delta = scaled_feasible_set(meaning.demos), np.array(meaning.radius)
    return within(np.array(meaning.shown), np.array(meaning.predicted), delta, meaning.shape, A)


def _with_actions(demos: cb.Demonstrations, action: Array) -> cb.Demonstrations:
    pairs = zip(demos.episodes, by_episode(demos, action), strict=True)
    return replace(demos, episodes=tuple(replace(e, action=a) for e, a in pairs))


def measure(world: str, seeds: list[int], device: str | None) -> list[Record]:
    """Return one row per seed; the seeds of a learner train together."""
    changes: dict[str, Any] = {"progress": False, "device": device}
    demos = [cb.demonstrate(world, UniformNoise(SIGMA), PAIRS, s) for s in seeds]
    after = [cleaned_sets(d, s, changes) for d, s in zip(demos, seeds, strict=True)]
    policies_by_name = {
        "BC": cb.train(demos, "bc", seeds=seeds, **changes),
        "Counter-BC": cb.train(demos, seeds=seeds, radius=RADIUS, **changes),
    } | {
        name: cb.train([a[name] for a in after], "bc", seeds=seeds, **changes)
        for name in CLEANED_LEARNERS
    }
    returns = {
        f"{name}, {e.act}": e.returns.mean(1)
        for name, policies in policies_by_name.items()
        for e in evaluate_acts(policies, world, episodes=100, acts=ACTS)
    }
    rows = [_row(world, *samples) for samples in zip(seeds, demos, after, strict=True)]
    for i, row in enumerate(rows):
        row["returns"] = {k: float(r[i]) for k, r in returns.items()}
    return rows


def _row(
    world: str, seed: int, demos: cb.Demonstrations, after: dict[str, cb.Demonstrations]
) -> Record:
    mean, first = expert_mean(world, demos), np.arange(PAIRS) - demos.starts < FIRST
    off = {name: d.action - mean for name, d in ({"BC": demos} | after).items()}
    return {
        "world": world,
        "seed": seed,
        "distance": {name: _rms(x) for name, x in off.items()},
        "first steps": {name: _rms(x[first]) for name, x in off.items()},
    }


def _rms(off: Array) -> float:
    return float(np.sqrt((off**2).mean()))


HEAD = ("learned by", "distance", "lower, %", "first steps", "act=mean", "act=sample")


def sections(results: Path) -> dict[str, dict[str, str]]:
    """Return the tables of docs/clean.md."""
    rows = read(results / "clean" / "numbers.json")
    worlds = dict.fromkeys(r["world"] for r in rows)
    return {"clean": {w: markdown([r for r in rows if r["world"] == w]) for w in worlds}}


def markdown(rows: list[Record]) -> str:
    """Return a table per world, and how much of Counter-BC's gain cleaning keeps."""
    blocks = []
    for world in dict.fromkeys(r["world"] for r in rows):
        part = [r for r in rows if r["world"] == world]
        lines = []
        for name in LEARNERS:
            means = (str(mean_interval(_returns(part, name, act))) for act in ACTS)
            lines.append([name, *_distances(part, name), *means])
        gains = [_gain(part, act) for act in ACTS]
        blocks += [f"{world}, {len(part)} datasets", markdown_table(HEAD, lines), *gains]
    return "\n\n".join(blocks)


def _distances(rows: list[Record], name: str) -> tuple[str, str, str]:
    """Return the distance of a learner's demonstrations to the intended actions."""
    of = name if name in CLEANED_LEARNERS else "BC"
    before, cleaned_values = (np.array([r["distance"][k] for r in rows]) for k in ("BC", of))
    first = np.mean([r["first steps"][of] for r in rows])
    lower = "–" if of == "BC" else str(mean_interval(100 * (1 - cleaned_values / before)))
    return f"{cleaned_values.mean():.3f}", lower, f"{first:.3f}"


def _gain(rows: list[Record], act: str) -> str:
    bc, counter, cleaned_values = (_returns(rows, name, act) for name in LEARNERS[:3])
    difference = paired_difference(cleaned_values, bc).interval
    gains = np.stack([cleaned_values - bc, counter - bc])  # (2, seeds)
    resamples = np.random.default_rng(0).integers(len(bc), size=(10_000, len(bc)))
    share = [100 * clean_gain / whole for clean_gain, whole in gains[:, resamples].mean(2).T]
    low, high = np.quantile(share, [0.025, 0.975])
    clean_gain, whole = gains.mean(1)
    return (
        f"{act}: BC on cleaned is above BC by {difference}; {100 * clean_gain / whole:.0f} % "
        f"[{low:.0f}, {high:.0f}] (bootstrap of seeds) of Counter-BC's gain, {whole:.2f}"
    )


def _returns(rows: list[Record], name: str, act: str) -> Array:
    return np.array([r["returns"][f"{name}, {act}"] for r in rows])
