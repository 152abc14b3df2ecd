"""How many gradient steps suit a flow, by the number of episodes that it learns from, on Push-T.

Each seed holds out 20 episodes of people and learns from some of the others. One training per
number of episodes is tested at several steps on its way, by the score in the environment and by
the flow-matching error of the held-out episodes. The rule, named before it was run: the fewest
steps within one standard error (over seeds) of the best ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch

from counterbc.acting.device import find_device
from counterbc.acting.evaluation import evaluate
from counterbc.acting.policies import Policies
from counterbc.data.arrays import Array
from counterbc.data.demonstrations import Demonstrations
from counterbc.envs import WORLDS
from counterbc.errors import OptionError
from counterbc.experiments.cell import reproducible
from counterbc.experiments.workers import run_all
from counterbc.formats import load
from counterbc.methods import METHODS
from counterbc.settings import settings_for
from counterbc.training.plan import plan_training, seed_members
from counterbc.training.progress import Quiet
from counterbc.training.snapshots import run_snapshots
from reproduction import flow_speed
from reproduction.markdown import markdown_table
from reproduction.options import StudyOptions, option
from reproduction.records import Record, Records, read_rows, write_rows
from reproduction.studies.flow import ANGLE, HORIZON, RELATIVE, SUCCESS, WORLD

STEPS = (1_000, 2_500, 5_000, 10_000, 15_000)
SIZES = (10, 25, 50, 100, 186)
"""Numbers of episodes to learn from; the last is all but those held out."""
HELD_OUT = 20
FIRST_SEED = 1080
"""The seed of the first member and of the starts; for choices."""


@dataclass(frozen=True, kw_only=True)
class FlowStepsOptions(StudyOptions):
    """Test flows on their way through training, with few and many episodes."""

    data: Path | None = option(None, "file of demonstrations, pusht_human_206.hdf5")
    seeds: int = 5
    episodes: int = 20
    device: str | None = None
    workers: int | None = None
    sizes: tuple[int, ...] = option(SIZES, "numbers of episodes to learn from")
    steps: tuple[int, ...] = option(STEPS, "gradient steps after which the flow is tested")


def run(options: FlowStepsOptions) -> None:
    """Compute the missing rows and print the table."""
    records = Records(options.out / "flow-steps" / "rows.json", indent=None, device=options.device)
    jobs = {
        f"{size} episodes": partial(measure, size, options)
        for size in sorted(options.sizes, reverse=True)
        if not records.has(size=size)
    }
    run_all(jobs, lambda _, rows: records.add(*rows), options.workers, bars=False)
    write_rows(records.rows, options.out / "flow-steps")
    print(markdown(records.rows))


def measure(size: int, options: FlowStepsOptions) -> list[Record]:
    """Return a row per number of steps and seed."""
    torch.set_num_threads(1)
    seeds = [FIRST_SEED + k for k in range(options.seeds)]
    people = load_people(options.data)
    demos, held_out = zip(*(split(people, size, seed) for seed in seeds), strict=True)
    with reproducible():
        snapshots = train_along(demos, seeds, options.steps, options.device, held_out, **HORIZON)
        return [
            {"size": size, "pairs": demos[i].pairs, "hidden": list(policies.policy.hidden)} | row
            for steps, policies in zip(options.steps, snapshots, strict=True)
            for i, row in enumerate(_test(policies, steps, options))
        ]


def train_along(
    demos: Sequence[Demonstrations], seeds: Sequence[int], steps: Sequence[int],
    device: str | None, held_out: Sequence[Demonstrations] = (), **changes: Any,
) -> list[Policies]:  # fmt: skip
    """Return flows of these datasets and seeds after each number of steps of one training."""
    settings = settings_for(
        "default", policy="flow", relative=RELATIVE, angles=ANGLE, radius=0.0, lag=0.0,
        offsets="none", ensemble=1, steps=max(steps), **changes,
    )  # fmt: skip
    method = settings.apply(METHODS["bc"], demos[0].obs_shape, min(d.pairs for d in demos))
    members = seed_members(demos, seeds, [[0.0] * len(demos)])
    plan = plan_training(demos, method, settings, members, name="bc", held_out=tuple(held_out))
    return run_snapshots(plan, steps, device=find_device(device), progress=Quiet())


def _test(policies: Policies, steps: int, options: FlowStepsOptions) -> Iterator[Record]:
    e = evaluate(policies, WORLD, episodes=options.episodes, seed=FIRST_SEED, progress=False)
    score = np.minimum(e.measures["best_coverage"] / SUCCESS, 1)
    assert policies.curve is not None
    assert policies.curve.held_out is not None
    near = int((policies.curve.steps - steps).abs().argmin())  # a curve has 100 points
    for i, member in enumerate(policies.members):
        yield {
            "steps": steps, "seed": member.seed, "score": float(score[i].mean()),
            "success": float(e.measures["success"][i].mean()),
            "error": float(policies.curve.held_out[near, i]),
        }  # fmt: skip


def load_people(file: Path | None) -> Demonstrations:
    """Return what people recorded in Push-T."""
    if file is None:
        raise OptionError("the study needs a file of people; name it with --data")
    return load(file, WORLDS[WORLD].recorded_obs_keys)


def split(demos: Demonstrations, size: int, seed: int) -> tuple[Demonstrations, Demonstrations]:
    """Return `size` episodes to learn from and the held-out ones, which are the same for all."""
    order = np.random.default_rng(seed).permutation(len(demos.episodes)).tolist()
    if not 1 <= size <= len(order) - HELD_OUT:
        raise OptionError(
            f"{size} episodes to learn from and {HELD_OUT} held out do not fit in {len(order)}"
        )
    return demos.subset(sorted(order[HELD_OUT:][:size])), demos.subset(sorted(order[:HELD_OUT]))


def grid(rows: list[Record], size: int, measure: str) -> tuple[list[int], Array]:
    """Return the numbers of steps and what was measured after them: (K,) and (K, seeds)."""
    rows = sorted((r for r in rows if r["size"] == size), key=lambda r: (r["steps"], r["seed"]))
    steps = sorted({int(r["steps"]) for r in rows})
    return steps, np.array([[r[measure] for r in rows if r["steps"] == s] for s in steps])


def fewest(cost: Array) -> int:
    """Return the first row of costs (K, seeds) within one standard error of the best row."""
    best = cost.mean(1).argmin()
    for k, above in enumerate(cost - cost[best]):
        if above.mean() <= above.std(ddof=1) / np.sqrt(len(above)):
            return k
    raise AssertionError("the best row is within its own standard error")


def markdown(rows: list[Record]) -> str:
    """Return a row per number of episodes: scores, and the steps chosen by score and by error."""
    steps: list[int] = []
    lines = []
    for size in sorted({int(r["size"]) for r in rows}):
        steps, score = grid(rows, size, "score")
        _, error = grid(rows, size, "error")
        by_score, by_error = fewest(-score), fewest(error)
        lost = score[by_score].mean() - score[by_error].mean()
        pairs = np.mean([r["pairs"] for r in rows if r["size"] == size])
        lines.append([
            str(size), f"{pairs:,.0f}", *(f"{x:.3f}" for x in score.mean(1)),
            f"{steps[by_score]:,}", f"{steps[by_error]:,}", f"{lost:+.3f}",
        ])  # fmt: skip
    titles = [f"score at {s:,}" for s in steps]
    columns = ("episodes", "pairs", *titles, "fewest by score", "by held-out error", "score lost")
    return markdown_table(columns, lines)


def sections(results: Path) -> dict[str, dict[str, str]]:
    """Return the table of the docs, and the sentences about the time of a flow."""
    pages = flow_speed.sections()
    pages["policies/flow"]["flow-steps"] = markdown(read_rows(results / "flow-steps"))
    return pages
