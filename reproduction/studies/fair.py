"""Figures 4 to 7 and table 1 with rivals that are tuned as Counter-BC is.

Beside the paper's five methods, with its 10,000 steps and Δ 0.4, there are four BC networks on
disjoint shards of the pairs, and methods for which everything is chosen from the data by one
search. All learn from the same demonstrations and are tested from the same starts. The crowd reacts
as late as people. Pairs are those of whole episodes, or scattered: drawn at random from a large
recording, as the paper does with its human data.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import zip_longest
from pathlib import Path
from typing import Any

import numpy as np
import torch

from counterbc.acting.act import ACTS
from counterbc.acting.device import find_device
from counterbc.acting.evaluation import Evaluation
from counterbc.acting.policies import Policies
from counterbc.data.demonstrations import Demonstrations
from counterbc.data.lags import NONE, answer_states
from counterbc.demonstrators import NOISES
from counterbc.errors import unknown
from counterbc.experiments.cell import evaluate_acts, reproducible
from counterbc.experiments.workers import run_all
from counterbc.methods import METHODS, Method
from counterbc.selection.held_out import Training
from counterbc.selection.lag import choose_lags
from counterbc.selection.radius import RadiusSearch
from counterbc.settings import Settings
from counterbc.trainer import train
from counterbc.training.progress import Quiet
from reproduction.options import StudyOptions, option
from reproduction.paper import PAPER_METHODS, PAPER_RADIUS
from reproduction.records import Record, Records, kernels_of, read, write, write_rows
from reproduction.sizes import PAPER_SIZES, PAPER_SIZES_IN
from reproduction.studies.fair_kinds import (
    CROWD,
    SCATTERED,
    WHOLE,
    datasets_of,
    noise_kinds,
    usual_kinds,
)
from reproduction.studies.tuned import ensembles_of, first_networks

STUDY = "fair"
FIRST_SEED = 3220
FAIR_WORLDS = ("intersection", "cartpole", "air-hockey")
KEY = ("world", "pairs", "taken", "teacher", "sigma", "variant", "act", "seed")
"""The columns that tell rows apart."""
FOUR_BC = "four-bc"
NOT_IN_PAPER = (("air-hockey", "bc-rnn"),)  # world and method
TUNED_METHODS = ("bc", "counter-bc", "posterior", "epsilon-insensitive")
"""Methods that are tuned wherever they are trained; the paper's other baselines at 400 pairs."""
AS_IN_PAPER: dict[str, Any] = {"steps": 10_000, "lag": 0.0, "offsets": "none", "ensemble": 1}
PAPER_VARIANTS: dict[str, dict[str, Any]] = {
    **{name: {"method": name, "radius": PAPER_RADIUS} | AS_IN_PAPER for name in PAPER_METHODS},
    FOUR_BC: {"method": Method(shards=4)} | AS_IN_PAPER,
}
TUNED_VARIANTS: dict[str, dict[str, Any]] = {
    f"{name}, tuned": {"method": name}
    for name in (*TUNED_METHODS, *(m for m in PAPER_METHODS if m not in TUNED_METHODS))
}
VARIANTS = PAPER_VARIANTS | TUNED_VARIANTS
"""How each variant is trained; what is not named is chosen from the data."""
SWEEPS = {"counter-bc by Δ": 10_000} | {
    f"counter-bc by Δ, {steps} steps": steps for steps in (200, 800, 3200)
}
"""Counter-BC at every Δ of figure 6, in one training: its name and number of steps."""
LAG_PARTS = tuple(f"lags, part {k}" for k in range(5))
"""Search the lags of a fifth of the runs each, and keep them for the tuned variants."""
MEASURES = ("hits", "distance_per_hit", "time_per_hit")
"""What air hockey reports beside the return."""


@dataclass(frozen=True, kw_only=True)
class FairOptions(StudyOptions):
    """Compare the paper's methods with rivals that are tuned alike."""

    seeds: int = 50
    first_seed: int = option(FIRST_SEED, "seed of the first run")
    worlds: tuple[str, ...] = FAIR_WORLDS
    pairs: tuple[int, ...] = option((), "only these numbers of pairs; by default the paper's")
    teachers: tuple[str, ...] = option((), "only these teachers; by default all")
    taken: tuple[str, ...] = option((), "only pairs that are whole, or scattered; by default both")
    variants: tuple[str, ...] = option((), "only these variants; by default all")
    episodes: int = 100
    steps: int | None = option(None, "gradient steps of the paper's methods; by default 10,000")
    lags: Path | None = option(None, "folder of lags that were searched; by default in --out")
    device: str | None = None
    workers: int | None = None


def run(options: FairOptions) -> None:
    """Compute the missing rows, the most informative ones first."""
    records = Records(options.out / STUDY / "rows.json", indent=None, device=options.device)
    jobs = {
        ", ".join(map(str, stack[0].values())): partial(measure, stack, options)
        for stack in stacks(missing_cells(options, records), options.device)
    }
    if jobs:
        run_all(jobs, lambda name, rows: _keep(records, name, rows), options.workers, bars=False)
    write_rows(records.rows, options.out / STUDY)


def _keep(records: Records, name: str, rows: list[Record]) -> None:
    if rows:
        records.add(*rows)
    print(name, flush=True)


def missing_cells(options: FairOptions, records: Records) -> list[Record]:
    """Return the cells without rows, and the searches for lags that tuned ones among them need."""
    planned = cells(options)
    missing = [about for about in planned if not records.has(**(about | first_of_sweep(about)))]
    kinds = [about | {"variant": ""} for about in missing if about["variant"] in TUNED_VARIANTS]
    return [a for a in missing if a["variant"] not in LAG_PARTS or a | {"variant": ""} in kinds]


def stacks(cell_list: list[Record], device: str | None) -> list[list[Record]]:
    """Return the cells that train together, in the order of their first ones.

    On a GPU cells that differ in their teachers alone do, which takes hardly longer than one of
    them. A search trains many networks for each cell already.
    """
    if find_device(device).type != "cuda":
        return [[about] for about in cell_list]
    groups: dict[tuple[Any, ...], list[Record]] = {}
    for about in cell_list:
        fixed = {**about, "teacher": "", "sigma": None}
        is_alone = about["variant"] in (*LAG_PARTS, *TUNED_VARIANTS)
        groups.setdefault(tuple((about if is_alone else fixed).values()), []).append(about)
    return [*groups.values()]


def cells(options: FairOptions) -> list[Record]:
    """Return every kind of demonstrations with every variant, the most informative first."""
    for name, values, allowed in (
        ("variant", options.variants, (*VARIANTS, *SWEEPS, *LAG_PARTS)),
        ("teacher", options.teachers, (*NOISES, CROWD)),
        ("way of taking pairs", options.taken, (SCATTERED, WHOLE)),
    ):
        for value in set(values) - set(allowed):
            raise unknown(name, value, allowed)
    return [
        kind | {"variant": variant}
        for stage in stages(options.worlds)
        for kind, variant in stage
        if _is_asked_for(kind | {"variant": variant}, options)
        if (kind["world"], variant.partition(",")[0]) not in NOT_IN_PAPER
    ]


def _is_asked_for(about: Record, options: FairOptions) -> bool:
    """Return whether a cell has one of the values of each option; without values all are kept."""
    asked = {"pairs": options.pairs, "taken": options.taken, "teacher": options.teachers}
    asked |= {"variant": options.variants}
    return all(not values or about[name] in values for name, values in asked.items())


def stages(worlds: tuple[str, ...]) -> Iterator[list[tuple[Record, str]]]:
    """Yield the kinds and variants of 400 pairs, of figures 6 and 5, then all sizes."""
    first, main = [*PAPER_VARIANTS, *list(TUNED_VARIANTS)[:2]], list(TUNED_VARIANTS)[2:4]
    kinds_of_400 = [kind for world in worlds for kind in usual_kinds(world, 400)]
    yield _tuned_last([(kind, variant) for kind in kinds_of_400 for variant in first])
    main_sweep, *short_sweeps = SWEEPS
    yield [(kind, main_sweep) for kind in kinds_of_400 if kind["teacher"] in (CROWD, "uniform")]
    yield [(k, sweep) for k in kinds_of_400 if k["teacher"] == "uniform" for sweep in short_sweeps]
    yield [(kind, variant) for kind in kinds_of_400 for variant in main]
    noisy = [kind for world in worlds for kind in noise_kinds(world)]
    yield _tuned_last([(kind, variant) for kind in noisy for variant in first])
    for middle in (False, True):
        for world in worlds:
            sizes = PAPER_SIZES_IN.get(world, PAPER_SIZES).pairs
            cell_list = [n for n in sizes if n != 400 and (n in (sizes[0], sizes[-1])) != middle]
            kinds = [kind for n in cell_list for kind in usual_kinds(world, n)]
            yield _tuned_last([(kind, variant) for kind in kinds for variant in first])
    yield [(kind, variant) for kind in kinds_of_400 for variant in list(TUNED_VARIANTS)[4:]]


def _tuned_last(cell_list: list[tuple[Record, str]]) -> list[tuple[Record, str]]:
    """Return the cells with searches of lags between the others, and those that use them last."""
    fixed_cells = [cell for cell in cell_list if cell[1] not in TUNED_VARIANTS]
    tuned_cells = [cell for cell in cell_list if cell[1] in TUNED_VARIANTS]
    whole_kinds = {tuple(kind.values()): kind for kind, _ in tuned_cells if kind["taken"] == WHOLE}
    lag_cells = [(kind, part) for kind in whole_kinds.values() for part in LAG_PARTS]
    mixed_cells = [cell for pair in zip_longest(fixed_cells, lag_cells) for cell in pair if cell]
    return [*mixed_cells, *sorted(tuned_cells, key=lambda cell: bool(cell[0]["taken"] == WHOLE))]


def first_of_sweep(about: Record) -> Record:
    """Return the name of the first variant of a sweep, by which it is found in rows."""
    steps = SWEEPS.get(about["variant"])
    return {"variant": sweep_name(0.0, steps)} if steps else {}


def sweep_name(radius: float, steps: int) -> str:
    """Return the name of Counter-BC with this Δ after this many steps."""
    return f"counter-bc, Δ {radius:g}" + ("" if steps == 10_000 else f", {steps} steps")


def measure(stack: Sequence[Record], options: FairOptions) -> list[Record]:
    """Return a row per run and way of acting, and per Δ of a sweep; none of a search for lags.

    The cells of a stack train as one population.
    """
    torch.set_num_threads(1)
    seeds = range(options.first_seed, options.first_seed + options.seeds)
    variant = stack[0]["variant"]
    with reproducible():
        datasets = [demos for about in stack for demos in datasets_of(about, seeds)]
        lags = lags_of(stack[0], datasets, seeds, options)
        if variant in LAG_PARTS:
            return []
        answered = [answer_states(d, lag) for d, lag in zip(datasets, lags, strict=True)]
        policies = train(
            answered, seeds=[*seeds] * len(stack), device=options.device, progress=False,
            search=RadiusSearch(), **settings_of(variant, options),
        )  # fmt: skip
        sizes = ensembles_of(policies)
        by_size = {
            size: evaluate_acts(
                _networks(policies, size), stack[0]["world"], episodes=options.episodes, acts=ACTS
            )
            for size in sorted(set(sizes))
        }
    sweep, config = SWEEPS.get(variant), policies.run_config
    rows = []
    for k, act in enumerate(ACTS):
        for i, (member, size) in enumerate(zip(policies.members, sizes, strict=True)):
            about, radius = stack[member.dataset // len(seeds)], max(member.radius)
            rows.append(about | ({"variant": sweep_name(radius, sweep)} if sweep else {}) | {
                "act": act, "seed": member.seed, **_means(by_size[size][k], i),
                "shown": float(datasets[member.dataset].mean_return or 0.0),
                "lag": float(np.mean(lags[member.dataset])),
                "steps": member.steps or config.settings["steps"],
                "radius": radius, "ensemble": size, "seconds": config.seconds,
                "stacked": len(stack), "kernel": kernels_of(policies),
            })  # fmt: skip
    return rows


def lags_of(
    about: Record, datasets: Sequence[Demonstrations], seeds: range, options: FairOptions
) -> list[tuple[float, ...]]:
    """Return the lag of each dataset as `train` would choose it; 0 where nothing is chosen.

    The lag does not depend on the method, so it is searched once for all variants.
    """
    users = [*LAG_PARTS, *TUNED_VARIANTS]
    if about["taken"] != WHOLE or about["variant"] not in users:
        return [NONE] * len(datasets)
    name = "-".join(str(about[k]) for k in ("world", "pairs", "teacher", "sigma"))
    folder = options.lags or options.out / STUDY / "lags"
    paths = [folder / f"{name}-{seed}.json" for seed in seeds]
    training = Training(
        name="bc", method=METHODS["bc"], settings=Settings(), device=torch.device("cpu"),
        progress=Quiet(),
    )  # fmt: skip
    pairs, place = [*zip(paths, datasets, strict=True)], users.index(about["variant"])
    first = place * len(pairs) // len(LAG_PARTS) % len(pairs)  # those that run at once begin apart
    pairs = pairs[first:] + pairs[:first]
    if about["variant"] in LAG_PARTS:
        pairs = pairs[: -(-len(pairs) // len(LAG_PARTS))]
    for path, demos in pairs:
        if not path.exists():
            write(list(choose_lags([demos], training)[0].lag), path)
    return [tuple(read(path)) for path in paths if path.exists()]


def settings_of(variant: str, options: FairOptions) -> dict[str, Any]:
    """Return how a variant is trained."""
    if steps := SWEEPS.get(variant):
        settings = {"method": "counter-bc", "radii": PAPER_SIZES.radii} | AS_IN_PAPER
        settings |= {"steps": steps}
    else:
        settings = {"lag": 0.0} | VARIANTS[variant]  # tuned lags are undone in the data
    return settings | ({"steps": options.steps} if options.steps and "steps" in settings else {})


def _networks(policies: Policies, size: int) -> Policies:
    return policies if size == policies.shards else first_networks(policies, size)


def _means(evaluation: Evaluation, member: int) -> Record:
    """Return the means of a run over its starts."""
    arrays = {"return": evaluation.returns, "length": evaluation.lengths}
    arrays |= {name: v for name, v in evaluation.measures.items() if name in MEASURES}
    return {name: float(values[member].mean()) for name, values in arrays.items()}
