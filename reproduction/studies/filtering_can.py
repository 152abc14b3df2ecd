"""Datasets of Can for the study `filtering`: one operator, and corrupted episodes of known kinds.

good         `synthetic_okay_1`
noisy        twice the tremor
shifted      good episodes whose actions were recorded 0.3 s late
wrong goal   the can is dropped in the neighbouring bin

Only finished episodes are kept, as people keep them: the can lies in the bin that the operator
wanted, and the hand has left it. Lengths are not cut, since the end of an episode is the task.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray

import counterbc as cb
from counterbc.demonstrators import CAN_OPERATORS, CanOperator, Control, EpisodeBatch, record
from counterbc.envs.can.expert import CAN, HAND, Scene
from reproduction.studies.filtering_data import GOOD, KINDS, SECONDS, record_late

Array = NDArray[Any]
ASIDE = 0.16
"""Metres between the two places at which the can is dropped, along x; the bins are 0.195 wide."""
BIN_FROM, BIN_BELOW, LEFT = 0.28, 0.9, 0.043
"""The can lies in a bin beyond this y and below this height, and is left by a hand this far away,
as in robosuite's test of success."""
LONGEST = 350
"""Steps of an attempt; of those who want another bin, the world would record all 500."""
BATCHES = 1_000_000
"""Between the seeds of further attempts at the same dataset."""


class OtherBin(CanOperator):
    """An operator who drops the can in the neighbouring bin."""

    def control(self, batch: EpisodeBatch) -> Control:
        act = super().control(batch)
        return lambda obs, best, t: act(seen_aside(obs), best, t)


def seen_aside(obs: Array) -> Array:
    """Return observations in which a can that is carried, and the hand, are `ASIDE` further on.

    (N, 23). The operator, who aims for one bin, then drops it in the bin before.
    """
    scene, result = Scene.of(obs), obs.copy()
    share = np.maximum(scene.grasp, scene.over_bin)
    for columns in (CAN, HAND):
        result[:, columns.start] += ASIDE * share
    return result


def people() -> Mapping[str, CanOperator]:
    """Return who shows the episodes of each sort."""
    good = CAN_OPERATORS["synthetic_okay_1"]
    habits = {f.name: getattr(good, f.name) for f in fields(good)}
    return {
        GOOD: good,
        "noisy": replace(good, wobble=2 * good.wobble),
        "shifted": good,
        "wrong goal": OtherBin(**habits),
    }


def corrupt_can(kind: str, seed: int) -> tuple[cb.Demonstrations, Array]:
    """Return the demonstrations, and which episodes are corrupted, (E,)."""
    operators, sorts = people(), list(people())
    episodes: list[tuple[cb.Episode, bool]] = []
    for sort, number in KINDS[kind].items():
        first = len(sorts) * seed + sorts.index(sort)
        for episode in finished_episodes(operators[sort], number, first):
            action = episode.action
            if sort == "shifted":
                action = record_late(action, round(SECONDS * cb.WORLDS["can"].rate))
            episodes.append((cb.Episode(episode.obs, action), sort != GOOD))
    order = np.random.default_rng(seed).permutation(len(episodes))
    in_order = [replace(episodes[place][0], name=f"demo_{i}") for i, place in enumerate(order)]
    demos = replace(cb.demonstrate("can", operators[GOOD], 1, seed), episodes=tuple(in_order))
    return demos, np.array([episodes[place][1] for place in order])


def finished_episodes(person: CanOperator, number: int, seed: int) -> list[cb.Episode]:
    """Return the first finished episodes of an operator, each up to its end."""
    episodes: list[cb.Episode] = []
    for attempt in count():
        rest, seed_of_attempt = number - len(episodes), seed + BATCHES * attempt
        for take in record("can", person, rest, seed_of_attempt, max_episode_steps=LONGEST):
            if (end := last_step(take.episode, isinstance(person, OtherBin))) is not None:
                e = take.episode
                episodes.append(replace(e, obs=e.obs[:end], action=e.action[:end], reward=None))
        if len(episodes) == number:
            return episodes
    raise AssertionError("attempts are endless")


def last_step(episode: cb.Episode, is_aside: bool) -> int | None:
    """Return the number of steps until the can lies where it was wanted; None if it never does."""
    if not is_aside:
        is_success = episode.reward is not None and episode.reward[-1] > 0
        return len(episode) if is_success else None
    can, hand = episode.obs[:, CAN], episode.obs[:, HAND]
    lies = (can[:, 1] > BIN_FROM) & (can[:, 2] < BIN_BELOW)
    ends = np.flatnonzero(lies & (np.linalg.norm(can - hand, axis=1) > LEFT))
    return int(ends[0]) if len(ends) else None
