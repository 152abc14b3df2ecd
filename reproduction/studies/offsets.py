"""Whether constant offsets of operators are found, and whether removing them pays.

Crowds of five operators with white noise take turns. Nobody has an offset, or all of them have, or
one. Offsets are found as `counterbc train` does. BC and Counter-BC learn from the same datasets
with and without the offsets that were found; the rest is fixed, so that only this differs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch

from counterbc.acting.intervals import mean_interval
from counterbc.data.demonstrations import Demonstrations
from counterbc.demonstrators import Chain, Crowd, Offset, UniformNoise, demonstrate
from counterbc.envs import WORLDS, make_vec
from counterbc.experiments.cell import evaluate_acts, reproducible
from counterbc.experiments.workers import run_all
from counterbc.selection.offsets import OffsetChoice, choose_offsets
from counterbc.trainer import train
from reproduction.markdown import markdown_table
from reproduction.options import StudyOptions, option
from reproduction.records import Record, Records, read_rows, write_rows

OFFSET_WORLDS = ("intersection", "cartpole", "air-hockey")
CROWDS = ("none", "all", "one")
OPERATORS = 5
LARGEST = 0.4
"""Offsets are uniform in ± this number, where each action dimension spans [−1, 1]; if one operator
has an offset, it is this number in every dimension."""
SIGMA = 0.3
FIRST_SEED = 2200
KEY = ("world", "crowd", "pairs", "part", "method", "seed")
"""The columns that tell rows apart."""
SETTINGS: dict[str, Any] = {"lag": 0.0, "steps": 800, "radius": 0.3, "ensemble": 1}
REMOVALS = {"kept": "none", "removed": "auto"}
FOUND = ("estimate", "se", "truth", "corrected")
EMPTY: Record = dict.fromkeys(("method", *REMOVALS, "shown", "verdict", *FOUND))
"""All columns that rows of one part only have."""


@dataclass(frozen=True, kw_only=True)
class OffsetOptions(StudyOptions):
    """Find offsets that are known, and train with and without them."""

    seeds: int = 20
    first_seed: int = option(FIRST_SEED, "seed of the first dataset")
    worlds: tuple[str, ...] = OFFSET_WORLDS
    crowds: tuple[str, ...] = option(CROWDS, "who has an offset")
    methods: tuple[str, ...] = option(("bc", "counter-bc"), "methods to train; none to find only")
    pairs: tuple[int, ...] = (1600,)
    episodes: int = 40
    device: str | None = None
    workers: int | None = None


def run(options: OffsetOptions) -> None:
    """Compute the missing rows and print the tables."""
    records = Records(options.out / "offsets" / "rows.json", indent=None, device=options.device)
    jobs = {}
    for world in options.worlds:
        for crowd in options.crowds:
            for pairs in options.pairs:
                about = {"world": world, "crowd": crowd, "pairs": pairs}
                if not records.has(**about, part="found"):
                    jobs[f"{world}, {crowd}, {pairs}"] = partial(find, about, options)
                # Nothing is to be removed from the crowd without offsets.
                for method in options.methods if crowd != "none" else ():
                    kind = about | {"part": "trained", "method": method}
                    if not records.has(**kind):
                        name = f"{world}, {crowd}, {pairs}, {method}"
                        jobs[name] = partial(measure, kind, options)
    if jobs:
        run_all(jobs, lambda _, rows: records.add(*rows), options.workers, bars=False)
    write_rows([EMPTY | r for r in records.rows], options.out / "offsets")
    print(found_table(records.rows), trained_table(records.rows), sep="\n\n")


def true_offsets(crowd: str, size: int, seed: int) -> np.ndarray[Any, Any]:
    """Return the offsets of the operators: (operators, size)."""
    if crowd == "all":
        rng = np.random.default_rng(seed)
        return rng.uniform(-LARGEST, LARGEST, (OPERATORS, size))
    offsets = np.zeros((OPERATORS, size))
    offsets[0] = LARGEST if crowd == "one" else 0.0
    return offsets


def dataset(about: Record, seed: int) -> Demonstrations:
    """Record a crowd, each operator with an offset and white noise."""
    size = make_vec(about["world"], 1).single_action_space.shape[0]  # type: ignore[index]  # boxes
    teachers = [
        Chain((Offset(tuple(offset.tolist())), UniformNoise(SIGMA)))
        for offset in true_offsets(about["crowd"], size, seed)
    ]
    crowd = Crowd(tuple((f"operator_{i + 1}", t) for i, t in enumerate(teachers)))
    return demonstrate(about["world"], crowd, about["pairs"], seed)


def _seeds(options: OffsetOptions) -> range:
    return range(options.first_seed, options.first_seed + options.seeds)


def find(about: Record, options: OffsetOptions) -> list[Record]:
    """Return a row per dataset: what was found, beside the truth."""
    torch.set_num_threads(1)
    rows = []
    for seed in _seeds(options):
        demos = dataset(about, seed)
        choice = choose_offsets(demos)
        rows.append(about | {"part": "found", "seed": seed, "verdict": choice.verdict}
                    | _compare(choice, demos, about["crowd"], seed))  # fmt: skip
    return rows


def _compare(choice: OffsetChoice, demos: Demonstrations, crowd: str, seed: int) -> Record:
    """Return estimates, standard errors and truth, where each action dimension spans [−1, 1].

    The truth, too, sums to zero over the operators that could be compared.
    """
    half = _half_range(demos)
    names = list(demos.operators)
    estimates = [o for o in choice.operators if o.offset and choice.verdict != "cannot tell"]
    if not estimates:
        return {name: [] for name in FOUND}
    truth = true_offsets(crowd, demos.action_size, seed)[
        [names.index(o.operator) for o in estimates]
    ]
    zero = (0.0,) * demos.action_size
    removed = [dict(choice.offsets).get(o.operator, zero) for o in estimates]
    return {
        "estimate": (np.array([o.offset for o in estimates]) / half).ravel().tolist(),
        "se": (np.array([o.se for o in estimates]) / half).ravel().tolist(),
        "truth": (truth - truth.mean(0)).ravel().tolist(),
        "corrected": (np.array(removed) / half).ravel().tolist(),
    }


def _half_range(demos: Demonstrations) -> np.ndarray[Any, Any]:
    """Return half the range of each action dimension: (A,)."""
    assert demos.action_low is not None
    assert demos.action_high is not None
    return (demos.action_high - demos.action_low) / 2


def measure(about: Record, options: OffsetOptions) -> list[Record]:
    """Return a row per run: returns of policies that learned with and without the offsets."""
    torch.set_num_threads(1)
    seeds, world = list(_seeds(options)), about["world"]
    rows: dict[int, Record] = {seed: about | {"seed": seed} for seed in seeds}
    with reproducible():
        datasets = [dataset(about, seed) for seed in seeds]
        for name, offsets in REMOVALS.items():
            policies = train(
                datasets, about["method"], seeds=seeds, offsets=offsets, device=options.device,
                progress=False, **SETTINGS,
            )  # fmt: skip
            (e,) = evaluate_acts(policies, world, episodes=options.episodes, acts=("mean",))
            measured = WORLDS[world].measure
            values = e.returns if measured is None else e.measures.get(measured, e.returns)
            for i, seed in enumerate(seeds):
                rows[seed] |= {name: float(values[i].mean()), "shown": datasets[i].mean_return}
    return list(rows.values())


def sections(results: Path) -> dict[str, dict[str, str]]:
    """Return the tables of docs/tune.md."""
    rows = read_rows(results / "offsets")
    return {"tune": {"offsets-found": found_table(rows), "offsets-trained": trained_table(rows)}}


def found_table(rows: list[Record]) -> str:
    """Return how often offsets were found, and how far the estimates are from the truth."""
    lines = []
    for key, group in _groups([r for r in rows if r["part"] == "found"], "world", "crowd", "pairs"):
        verdicts = [r["verdict"] for r in group]
        numbers = {name: np.concatenate([np.array(r[name]) for r in group]) for name in FOUND}
        error = numbers["estimate"] - numbers["truth"]
        with np.errstate(invalid="ignore", divide="ignore"):
            within = np.abs(error) <= 2 * numbers["se"]
        shares = [
            f"{verdicts.count(v) / len(verdicts):.0%}" for v in ("to one side", "cannot tell")
        ]
        texts = [_rms(numbers["truth"]), _rms(error), _rms(numbers["corrected"] - numbers["truth"])]
        share = f"{within.mean():.0%}" if len(within) else "–"
        lines.append([*map(str, key), *shares, *texts, share])
    columns = (
        "world", "who has an offset", "pairs", "found", "cannot tell", "true offset",
        "error of the estimate", "left after removal", "truth within 2 se",
    )  # fmt: skip
    return markdown_table(columns, lines)


def trained_table(rows: list[Record]) -> str:
    """Return the returns with and without removal, and their difference with its interval."""
    lines = []
    trained = [r for r in rows if r["part"] == "trained"]
    for key, group in _groups(trained, "world", "crowd", "pairs", "method"):
        kept, removed = (np.array([r[name] for r in group]) for name in REMOVALS)
        gain = mean_interval(removed - kept)
        shown = np.mean([r["shown"] for r in group])
        lines.append([
            *map(str, key), f"{shown:.1f}", f"{kept.mean():.2f}", f"{removed.mean():.2f}",
            f"{gain.mean:+.2f} [{gain.low:+.2f}, {gain.high:+.2f}]",
        ])  # fmt: skip
    columns = ("world", "who has an offset", "pairs", "method", "shown", *REMOVALS, "difference")
    return markdown_table(columns, lines)


def _rms(values: np.ndarray[Any, Any]) -> str:
    return f"{np.sqrt((values**2).mean()):.3f}" if len(values) else "–"


def _groups(rows: list[Record], *names: str) -> Iterator[tuple[tuple[Any, ...], list[Record]]]:
    groups: dict[tuple[Any, ...], list[Record]] = {}
    for r in rows:
        groups.setdefault(tuple(r[name] for name in names), []).append(r)
    yield from sorted(groups.items())
