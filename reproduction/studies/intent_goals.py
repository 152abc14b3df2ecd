"""Are goals found in 26 dimensions, and are operators with one goal left together?

Six joints move to a goal, noisily. 26 numbers are observed: the joints, 16 numbers that depend on
joints and velocities, and four that differ between episodes and mean nothing. `three goals` has 17
episodes of each goal; `one goal, ten operators` has as many episodes of people who differ in speed,
noise and a constant offset. A dataset counts as found if the number of groups is right and every
episode is in the group of its goal.
"""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import counterbc as cb
from counterbc.acting.intervals import wilson
from counterbc.data.arrays import Array
from reproduction.markdown import markdown_table
from reproduction.options import StudyOptions, option
from reproduction.records import Record, Records, read

JOINTS, OBSERVED, UNRELATED, STEPS = 6, 26, 4, 30
EPISODES, OPERATORS = 51, 10
CASES = {"three goals": (3, 0), "one goal": (1, 0), "one goal, ten operators": (1, OPERATORS)}
"""The number of goals and of operators who differ; 0: all episodes are of one person."""
FIRST_SEED = 2720


@dataclass(frozen=True, kw_only=True)
class IntentGoalsOptions(StudyOptions):
    """Find goals in many dimensions with few episodes."""

    seeds: int = 50
    first_seed: int = option(FIRST_SEED, "seed of the first dataset")


def run(options: IntentGoalsOptions) -> None:
    """Compute the missing rows and print the table."""
    records = Records(options.numbers("intent-goals"), indent=None, device="cpu")
    for seed in range(options.first_seed, options.first_seed + options.seeds):
        for case in CASES:
            if not records.has(case=case, seed=seed):
                records.add(measure(case, seed))
        print(f"seed {seed}, {len(records.rows)} datasets", file=sys.stderr, flush=True)
    print(markdown(records.rows))


def reach(goals: int, operators: int, seed: int) -> tuple[cb.Demonstrations, Array]:
    """Return episodes that go to one of some goals, and which: (E,)."""
    rng = np.random.default_rng(seed)
    goal = rng.uniform(-1, 1, (goals, JOINTS))
    mixing = 0.5 * rng.normal(size=(2 * JOINTS, OBSERVED - JOINTS - UNRELATED))
    people = [_person(rng) for _ in range(operators)] or [(1.0, 0.15, np.zeros(JOINTS))]
    pursued = np.arange(EPISODES) % goals
    episodes = []
    for i, k in enumerate(pursued):
        name = f"operator_{i % operators + 1:02d}" if operators else None
        episodes.append(_episode(goal[k], people[i % len(people)], mixing, rng, name))
    return cb.Demonstrations(tuple(episodes)), pursued


def _person(rng: np.random.Generator) -> tuple[float, float, Array]:
    """Return the speed, noise and offset of an operator."""
    return rng.uniform(0.6, 1.4), rng.uniform(0.05, 0.3), rng.uniform(-0.1, 0.1, JOINTS)


def _episode(
    goal: Array,
    person: tuple[float, float, Array],
    mixing: Array,
    rng: np.random.Generator,
    name: str | None,
) -> cb.Episode:
    speed, noise, offset = person
    joint, velocity = rng.uniform(-1, 1, JOINTS), np.zeros(JOINTS)
    unrelated = rng.normal(size=UNRELATED)
    obs, actions = [], []
    for _ in range(STEPS):
        action = np.clip(speed * (goal - joint), -1, 1) + noise * rng.normal(size=JOINTS) + offset
        mixed = np.tanh(np.concatenate([joint, velocity]) @ mixing)
        mixed = mixed + 0.02 * rng.normal(size=len(mixed))
        obs.append(np.concatenate([joint, mixed, unrelated + 0.05 * rng.normal(size=UNRELATED)]))
        actions.append(action)
        velocity = 0.15 * action
        joint = joint + velocity
    return cb.Episode(np.array(obs), np.array(actions), operator=name)


def measure(case: str, seed: int) -> Record:
    """Return how many groups were found, and whether they are the goals."""
    goals, operators = CASES[case]
    demos, pursued = reach(goals, operators, seed)
    start = time.perf_counter()
    intents = cb.find_intents(demos)
    table = np.zeros((intents.groups, goals), int)
    np.add.at(table, (intents.group, pursued), 1)
    pure = bool((table > 0).sum() == goals == intents.groups)
    return {
        "case": case, "seed": seed, "groups": intents.groups, "right": pure,
        "verdict": intents.verdict, "seconds": round(time.perf_counter() - start, 1),
    }  # fmt: skip


def sections(results: Path) -> dict[str, dict[str, str]]:
    """Return the table of goals in docs/intents.md."""
    return {"intents": {"goals": markdown(read(results / "intent-goals" / "numbers.json"))}}


def markdown(rows: list[Record]) -> str:
    """Return how often each case was found, with Wilson's 95 % interval."""
    lines = []
    for case in dict.fromkeys(r["case"] for r in rows):
        part = [r for r in rows if r["case"] == case]
        right, split = (sum(bool(x) for x in v) for v in (
            [r["right"] for r in part], [r["groups"] > 1 for r in part],
        ))  # fmt: skip
        low, high = wilson(right, len(part))
        verdicts = [r["verdict"] for r in part]
        counts = ", ".join(f"{v} {verdicts.count(v)}" for v in dict.fromkeys(verdicts))
        interval = f"[{100 * low:.0f}, {100 * high:.0f}] %"
        lines.append([case, f"{right} of {len(part)} {interval}", str(split), counts])
    head = ("dataset", "goals found, every episode right", "split", "verdicts")
    return markdown_table(head, lines)
