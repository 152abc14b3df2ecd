"""Are policies better without the episodes that a score calls worst?

BC and Counter-BC learn from datasets with known corruptions (`filtering_data`) without the k worst
episodes by each score (`filtering_scores`), and are judged by their return. k comes from
`counterbc score`, and is the same for every score; where the tool excludes nothing, k is 0. Beside
them: all episodes; random ones excluded; random ones as long as those that ours excludes; and
without all corrupted episodes (oracle). Δ and the number of steps of both methods are chosen once
on all of the data by the search of `tune`, with a lag of 0 and one network, and kept for every
subset.

How k is found is chosen first, on other seeds, among the rules of `filtering_rules`: the rule with
the best mean return in percent of using all the data, among those that are not clearly below all
in any world.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

import counterbc as cb
from counterbc.acting.device import find_device
from counterbc.acting.member import Member
from counterbc.data.radii import radius_of
from counterbc.envs import WORLDS
from counterbc.errors import OptionError
from counterbc.experiments.cell import reproducible
from counterbc.experiments.workers import run_all
from counterbc.methods import find_method
from counterbc.selection.held_out import Training
from counterbc.selection.tuner import tune_datasets
from counterbc.selection.tuning import TuneSearch, Tuning
from counterbc.settings import Settings
from counterbc.training.plan import plan_training
from counterbc.training.progress import Quiet
from counterbc.training.run import run as run_plan
from reproduction.datasets import DatasetOptions
from reproduction.options import RESULTS, StudyOptions, option
from reproduction.records import Record, Records, read_rows, write_rows
from reproduction.studies.filtering_can import LONGEST, corrupt_can
from reproduction.studies.filtering_data import KINDS, corrupt_dataset, corrupt_people
from reproduction.studies.filtering_ranks import Ranks, compute_ranks, table
from reproduction.studies.filtering_rules import Case, exclusions
from reproduction.studies.filtering_tables import choose_rule, markdown
from reproduction.studies.flow import RELATIVE

Array = NDArray[Any]
FILTER_WORLDS = ("intersection", "cartpole", "air-hockey")
FILTER_METHODS = ("bc", "counter-bc")
PEOPLE, ROBOT = "push-t", "can"
KEY = ("phase", "world", "kind", "seed", "method", "subset")
STARTS = {"air-hockey": 10, ROBOT: 2}
"""Test starts of each policy; elsewhere 20. In Can policies differ more than starts."""
STEP_COUNTS = {ROBOT: (3200,)}
"""Training steps that are tried. In Can the number that predicts best, 400, lets none succeed."""
LIMITS: dict[str, dict[str, Any]] = {ROBOT: {"max_episode_steps": LONGEST}}
"""Options of the environment."""
ALONE = (PEOPLE, ROBOT)
"""Worlds whose datasets are measured one by one, because testing takes longest; elsewhere the
kinds of two seeds are trained as one population."""


@dataclass(frozen=True, kw_only=True)
class FilteringOptions(StudyOptions):
    """Train without the episodes that each score calls worst."""

    seeds: int = option(20, "datasets of each kind and world")
    first: int = option(2820, "seed of the first dataset")
    choice_seeds: int = option(6, "datasets of each kind and world that k is chosen on")
    first_choice: int = option(1010, "seed of the first of these")
    worlds: tuple[str, ...] = FILTER_WORLDS
    kinds: tuple[str, ...] = option(tuple(KINDS), "kinds of datasets")
    members: int = option(3, "policies of each method and subset")
    data: Path | None = option(None, "people's demonstrations of Push-T, pusht_human_206.hdf5")
    other: Path | None = option(None, "those of another goal, pusht_other_goal_151.hdf5")
    alone: bool = option(False, "measure each dataset alone, not two seeds as one population")
    ranks: bool = option(False, "only find out which datasets are ranked by the present rules")
    quick: bool = option(False, "train briefly, to try the study")
    device: str | None = None
    workers: int | None = None


def run(options: FilteringOptions) -> None:
    """Choose how k is found, compute the missing rows and print the tables."""
    if options.ranks:
        print(compute_ranks(options.worlds, options.kinds, ranks_of(options), _datasets(options)))
        return
    records = Records(options.out / "filtering" / "rows.json", indent=None, device=options.device)
    for phase, first, count in (
        ("choice", options.first_choice, options.choice_seeds),
        ("report", options.first, options.seeds),
    ):
        jobs = {}
        rule = known_rule(records.rows) if phase == "report" and count else None
        for world in options.worlds:
            alone = world in ALONE or options.alone
            for seeds, kinds in blocks(range(first, first + count), options.kinds, alone):
                if not records.has(phase=phase, world=world, seed=seeds[-1], kind=kinds[-1]):
                    name = f"{phase}, {world}, seeds {seeds[0]}–{seeds[-1]}, {', '.join(kinds)}"
                    part = replace(options, kinds=kinds)
                    jobs[name] = partial(measure, world, seeds, rule, part)
        if jobs:
            run_all(jobs, lambda _, rows: records.add(*rows), options.workers, bars=False)
    write_rows(records.rows, options.out / "filtering")
    for text in markdown(records.rows).values():
        print(f"{text}\n")


def ranks_of(options: FilteringOptions) -> Ranks:
    """Return what finds out which datasets are ranked."""
    return Ranks(partial(make_case, options=options))


def _datasets(options: FilteringOptions) -> DatasetOptions:
    return DatasetOptions(
        out=options.out, seeds=options.seeds, first=options.first,
        device=options.device, workers=options.workers,
    )  # fmt: skip


def known_rule(rows: list[Record]) -> str:
    """Return the rule for k that these rows choose, or those on file if they hold no choice."""
    has_choice = any(r["phase"] == "choice" for r in rows)
    return choose_rule(rows if has_choice else read_rows(RESULTS / "filtering"))


def blocks(
    seeds: range, kinds: tuple[str, ...], alone: bool
) -> Iterator[tuple[range, tuple[str, ...]]]:
    """Yield the seeds and kinds of data that are measured together."""
    if alone:
        yield from ((range(s, s + 1), (kind,)) for s in seeds for kind in kinds)
    else:
        yield from ((seeds[i : i + 2], kinds) for i in range(0, len(seeds), 2))


def sections(results: Path) -> dict[str, dict[str, str]]:
    """Return the tables of docs/filtering.md."""
    rows = read_rows(results / "filtering")
    return {"filtering": {"ranks": table(results)} | markdown(rows)} if rows else {}


def measure(world: str, seeds: range, rule: str | None, options: FilteringOptions) -> list[Record]:
    """Return the returns after excluding; without a rule, one subset for each of `RULES`."""
    torch.set_num_threads(1)
    with reproducible():
        cases = [make_case(world, kind, seed, options) for seed in seeds for kind in options.kinds]
        tunings = {m: tune_cases(cases, m) for m in FILTER_METHODS}
        masks, facts = [], []
        for case, tuning in zip(cases, tunings["bc"], strict=True):
            subsets, about = exclusions(case, tuning.steps, rule, options.members)
            masks.append(subsets)
            facts.append(about)
        rows = []
        for method in FILTER_METHODS:
            if method == "bc" or not all(map(is_bc, tunings[method], tunings["bc"])):
                returns = returns_without(cases, masks, tunings[method], method)
            for i, (case, tuning) in enumerate(zip(cases, tunings[method], strict=True)):
                shared: Record = {"phase": "report" if rule else "choice", "world": world}
                shared |= {"kind": case.kind, "seed": case.seed, "method": method}
                shared |= {"radius": float(np.max(tuning.radius)), "steps": tuning.steps}
                rows += [shared | facts[i][name] | row for name, row in returns[i].items()]
    return rows


def is_bc(counter_bc: Tuning, bc: Tuning) -> bool:
    """Return whether tuned Counter-BC is tuned BC: with Δ 0 they are equal to the bit."""
    return float(np.max(counter_bc.radius)) == 0 and counter_bc.steps == bc.steps


def make_case(world: str, kind: str, seed: int, options: FilteringOptions) -> Case:
    """Return a dataset with known corruptions."""
    reads: dict[str, Any] = {}
    if world == ROBOT:
        demos, is_bad = corrupt_can(kind, seed)
    elif world != PEOPLE:
        demos, is_bad = corrupt_dataset(world, kind, seed)
    else:
        if options.data is None or options.other is None:
            raise OptionError("push-t needs people's demonstrations; give --data and --other")
        people, other_goal = (
            cb.load(path, obs=["state"]) for path in (options.data, options.other)
        )
        demos, is_bad = corrupt_people(people, other_goal, kind, seed)
        reads = {"relative": RELATIVE}
    return Case(
        world=world, kind=kind, seed=seed, demos=demos, is_bad=is_bad,
        device=options.device, quick=options.quick, reads=reads,
    )  # fmt: skip


def tune_cases(cases: Sequence[Case], method: str) -> list[Tuning]:
    """Return Δ and the number of steps of each dataset, chosen on all of its episodes."""
    search = TuneSearch(step_counts=STEP_COUNTS.get(cases[0].world, TuneSearch().step_counts))
    if cases[0].quick:
        search = TuneSearch(radii=(0.0, 0.2), step_counts=(50, 100))
    choices = tune_datasets([c.demos for c in cases], _training(cases[0], method), search)
    return [choice for (choice,) in choices]


def _training(case: Case, method: str, **changes: Any) -> Training:
    settings = Settings(lag=0.0, offsets="none", ensemble=1, **case.reads, **changes)
    name, definition = find_method(method)
    return Training(
        name=name, method=settings.apply(definition), settings=settings,
        device=find_device(case.device), progress=Quiet(),
    )  # fmt: skip


def returns_without(
    cases: Sequence[Case],
    masks: Sequence[Mapping[str, Array]],
    tunings: Sequence[Tuning],
    method: str,
) -> list[dict[str, Record]]:
    """Return the mean return of each case and subset; equal subsets are trained once.

    `masks` are the episodes that each member does not learn from, (members, E), by subset.
    """
    members: list[Member] = []
    lists: list[Array] = []
    place: dict[tuple[int, int, bytes], int] = {}
    for d, (case, tuning) in enumerate(zip(cases, tunings, strict=True)):
        of_pair = np.repeat(np.arange(len(case.demos)), [len(e) for e in case.demos.episodes])
        radius, label = radius_of(tuning.radius, [case.demos]), case.demos.fingerprint()
        for rows in masks[d].values():
            for i, mask in enumerate(rows):
                if place.setdefault((d, i, mask.tobytes()), len(members)) == len(members):
                    seed = case.seed * len(rows) + i
                    members.append(Member(seed, radius, d, label, steps=tuning.steps))
                    lists.append(np.flatnonzero(~mask[of_pair]))
    training = _training(cases[0], method, radius=0.0, steps=max(t.steps for t in tunings))
    datasets, world = [c.demos for c in cases], cases[0].world
    plan = plan_training(
        datasets, training.method, training.settings, members, name=method, lists=lists
    )
    policies = run_plan(plan, device=training.device)
    starts, limits = STARTS.get(world, 20), LIMITS.get(world, {})
    evaluation = cb.evaluate(policies, world, episodes=starts, progress=False, **limits)
    entry = WORLDS[world].measure
    means = (evaluation.returns if entry is None else evaluation.measures[entry]).mean(1)
    return [
        {
            name: {"kernel": policies.run_config.kernel}
            | {"return": float(np.mean([means[place[d, i, x.tobytes()]] for i, x in enumerate(r)]))}
            for name, r in subsets.items()
        }
        for d, subsets in enumerate(masks)
    ]
