"""The policies of the page without a server: BC beside Counter-BC, one policy for each Δ.

400 pairs of the simulated teacher `typical` teach a population, ten policies for each Δ, for the
paper's 10,000 steps. Its reaction time is given to all of them. The policy of the first seed is
exported, whatever it does; its mean return over the test starts, and the means of all ten, are
written beside it. The page rolls the exported policies out from the same test starts
(`python -m reproduction draw playground`).
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gymnasium.utils import seeding

import counterbc as cb
from counterbc.acting.rollout import start_seeds
from counterbc.demonstrators import find_teacher
from counterbc.errors import InfeasibleActions
from reproduction.markdown import markdown_table
from reproduction.options import StudyOptions, option
from reproduction.records import Record, computed_with, kernels_of, read, update

PLAYGROUND_WORLDS = ("intersection", "cartpole")
RADII = tuple(k / 10 for k in range(9))
"""Δ of the exported policies; 0 is BC."""
PAIRS, EPISODES = 400, 100
FIXED_SETTINGS: dict[str, Any] = {"offsets": "none", "ensemble": 1}


@dataclass(frozen=True, kw_only=True)
class PlaygroundOptions(StudyOptions):
    """Train, test and export the policies of the page without a server."""

    first: int = option(2515, "first seed, of demonstrations, starts and the exported policies")
    seeds: int = option(10, "policies for each Δ")
    steps: int = 10_000
    teacher: str = option("typical", "the teacher of the demonstrations")
    lag: str = option("0.24s", "how late the teacher reacts, or auto")
    worlds: tuple[str, ...] = PLAYGROUND_WORLDS
    radii: tuple[float, ...] = option(RADII, "Δ of the policies; 0 is BC")


def run(options: PlaygroundOptions) -> None:
    """Train the population of each world, and write its policies and numbers."""
    for name in options.worlds:
        print(describe(name, measure(name, options)))


def measure(name: str, options: PlaygroundOptions) -> Record:
    """Train, test and export the policies of a world; return the numbers that are written."""
    teacher = find_teacher(options.teacher, world=name)
    demos = cb.demonstrate(name, teacher, PAIRS, options.first)
    seeds = list(range(options.first, options.first + options.seeds))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InfeasibleActions)  # teachers are recorded uncut
        policies = cb.train(
            demos, seeds=seeds, radii=options.radii, steps=options.steps, lag=options.lag,
            **FIXED_SETTINGS,
        )  # fmt: skip
    evaluation = cb.evaluate(policies, name, episodes=EPISODES, seed=options.first)
    rows = []
    for radius in options.radii:
        members = [i for i, m in enumerate(policies.members) if m.radius[0] == radius]
        first = next(i for i in members if policies.seeds[i] == options.first)
        path = policy_path(options.out, name, radius)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        cb.export(policies, path, first)
        means = evaluation.returns[members].mean(axis=1)
        rows.append(
            {"radius": radius, "mean": evaluation.returns[first].mean(), "means": means.mean(),
             "lowest": means.min(), "highest": means.max()}
        )  # fmt: skip
    numbers = {
        "teacher": options.teacher, "pairs": demos.pairs, "episodes": len(demos.episodes),
        "demonstrated": demos.mean_return, "steps": options.steps, "seeds": seeds,
        "lag": [lag / cb.WORLDS[name].rate for lag in policies.members[0].lag],
        "policies": rows,
        "keys": start_keys(start_seeds(policies[0], list(range(EPISODES)), options.first)),
        **computed_with(kernel=kernels_of(policies)),
    }  # fmt: skip
    update(options.numbers("playground"), **{name: numbers})
    return numbers


def start_keys(seeds: list[int]) -> list[str]:
    """Return the keys from which the episodes of these seeds follow.

    They are texts, because 64-bit integers do not fit into the numbers of JavaScript.
    """
    return [str(seeding.np_random(seed)[0].integers(2**63 - 1)) for seed in seeds]


def sections(results: Path) -> dict[str, dict[str, str]]:
    """Return the table of docs/playground.md."""
    return {"playground": {"returns": returns_table(results)}}


def returns_table(results: Path) -> str:
    """Return the mean returns of every Δ, of the exported policy and of all that were trained."""
    numbers: Record = read(results / "playground" / "numbers.json")
    head, columns = ["Δ"], []
    for name, world in numbers.items():
        head += [f"{cb.WORLDS[name].label}, shown", "all, lowest to highest"]
        columns.append(
            [(f"{r['mean']:.2f}", f"{r['means']:.2f} ({r['lowest']:.2f} to {r['highest']:.2f})")
             for r in world["policies"]]
        )  # fmt: skip
    radii = [r["radius"] for r in next(iter(numbers.values()))["policies"]]
    rows = [
        [f"{radius:g}" if radius else "0 (BC)", *(cell for column in columns for cell in column[i])]
        for i, radius in enumerate(radii)
    ]
    return markdown_table(head, rows)


def policy_path(out: Path, world: str, radius: float) -> Path:
    """Return the file of an exported policy."""
    return out / "playground" / f"{world}-{radius:g}.onnx"


def describe(name: str, numbers: Record) -> str:
    """Return the mean returns of a world as text."""
    lags = ", ".join(f"{lag:.2g}" for lag in numbers["lag"])
    head = (
        f"{name}: {numbers['pairs']} pairs of {numbers['teacher']}, which return "
        f"{numbers['demonstrated']:.2f}; lag {lags} s"
    )
    rows = [
        f"  Δ {row['radius']:g}: {row['mean']:.2f} over {EPISODES} starts; "
        f"all policies {row['means']:.2f} ({row['lowest']:.2f} to {row['highest']:.2f})"
        for row in numbers["policies"]
    ]
    return "\n".join([head, *rows])
