"""Datasets of the study `filtering`: good episodes, and corrupted ones of known kinds.

noisy        uniform noise of 1.5 times the usual σ
shifted      good episodes whose actions were recorded 0.3 s late: right, at the wrong moment
wrong goal   a quarter turn to the left; in Cartpole a point 0.3 units aside
majority     three of five episodes are bad, as many of each kind above
clean        nothing is corrupted

No operator is named, and episodes are in random order. In Cartpole and air hockey they are cut at
random lengths, so that length says nothing about an episode. In Push-T people's recordings are
corrupted: noise is added to actions, and those with a wrong goal are recordings of another goal.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

import counterbc as cb
from counterbc.demonstrators import Chain, Crowd, Teacher, UniformNoise, record
from counterbc.envs.cartpole import GAIN
from reproduction.studies.label_errors import HALF_TABLE, uniform
from reproduction.studies.scores import Shift, Turn

Array = NDArray[Any]
GOOD = "good"
BAD_KINDS = ("noisy", "shifted", "wrong goal")
EPISODES = 40
KINDS: Mapping[str, Mapping[str, int]] = {
    "noisy": {GOOD: 30, "noisy": 10},
    "shifted": {GOOD: 30, "shifted": 10},
    "wrong goal": {GOOD: 30, "wrong goal": 10},
    "majority": {GOOD: 16, "noisy": 8, "shifted": 8, "wrong goal": 8},
    "clean": {GOOD: 40},
}
"""Episodes of each sort in each kind of dataset."""
SIGMA, SECONDS, ASIDE = 0.35, 0.3, -0.3 * GAIN[0]
LENGTHS = {"cartpole": (10, 30), "air-hockey": (40, 120)}
"""Least and greatest length of episodes that are cut."""
LABEL_NOISE = 0.2
"""Noise that is added to people's actions, in units of half of Push-T's table."""


def corrupt_dataset(world: str, kind: str, seed: int) -> tuple[cb.Demonstrations, Array]:
    """Return the demonstrations, and which episodes are corrupted, (E,)."""
    shares, good = KINDS[kind], UniformNoise(SIGMA)
    wrong = Shift(ASIDE) if world == "cartpole" else Turn()
    teachers: dict[str, Teacher] = {
        GOOD: good,
        "noisy": UniformNoise(1.5 * SIGMA),
        "shifted": good,
        "wrong goal": Chain((wrong, good)),
    }
    crowd = Crowd(tuple((n, teachers[n]) for n in shares), shares=tuple(shares.values()))
    takes = record(world, crowd, EPISODES, seed)
    rng, about = np.random.default_rng(seed), cb.WORLDS[world]
    episodes, is_bad = [], []
    for i, place in enumerate(rng.permutation(EPISODES)):
        episode = takes[place].episode
        low, high = LENGTHS.get(world, (about.steps, about.steps))
        end = min(len(episode), int(rng.integers(low, high + 1)))
        action = episode.action[:end]
        if episode.operator == "shifted":
            action = record_late(action, round(SECONDS * about.rate))
        episodes.append(
            cb.Episode(episode.obs[:end], action, name=f"demo_{i}", success=episode.success)
        )
        is_bad.append(episode.operator != GOOD)
    demos = replace(cb.demonstrate(world, good, 1, seed), episodes=tuple(episodes))
    return demos, np.array(is_bad)


def corrupt_people(
    people: cb.Demonstrations, other_goal: cb.Demonstrations, kind: str, seed: int
) -> tuple[cb.Demonstrations, Array]:
    """Return random episodes of Push-T, and which are corrupted, (E,).

    `other_goal` are recordings of another goal. Noise is uniform within ± 0.2 of half the table.
    """
    rng, sorts = np.random.default_rng(seed), [s for s, n in KINDS[kind].items() for _ in range(n)]
    draws = {id(d): iter(rng.permutation(len(d))) for d in (people, other_goal)}
    episodes = []
    for sort in sorts:
        source = other_goal if sort == "wrong goal" else people
        episode = source.episodes[next(draws[id(source)])]
        action = episode.action
        if sort == "noisy":
            action = action + HALF_TABLE * uniform(LABEL_NOISE, action.shape, rng)
        if sort == "shifted":
            action = record_late(action, round(SECONDS * cb.WORLDS["push-t"].rate))
        episodes.append(cb.Episode(episode.obs, action))
    order = rng.permutation(len(sorts))
    named = (replace(episodes[place], name=f"demo_{i}") for i, place in enumerate(order))
    return (
        replace(people, episodes=tuple(named), selected=None, masks={}),
        np.array([sorts[place] != GOOD for place in order]),
    )


def record_late(action: Array, steps: int) -> Array:
    """Return actions (T, A) delayed by this many steps; the first one is repeated."""
    before = np.repeat(action[:1], min(steps, len(action)), axis=0)
    return np.concatenate([before, action])[: len(action)]
