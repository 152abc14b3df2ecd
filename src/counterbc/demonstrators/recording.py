"""An expert acts, a teacher errs, and what is shown is recorded."""

from __future__ import annotations

from dataclasses import replace
from math import ceil
from typing import Any, NamedTuple

import numpy as np
import torch
from gymnasium.vector import VectorEnv

from counterbc.data import draws
from counterbc.data.affine import from_unit_exactly, to_unit_exactly
from counterbc.data.demonstrations import Demonstrations, Episode
from counterbc.demonstrators.teacher import NO_ERROR, Array, Takes, Teacher
from counterbc.envs import World, find_world, make_vec
from counterbc.errors import OptionError

SLOTS = 1024
"""Episodes at a time, so that memory does not grow with the pairs asked for."""


class Take(NamedTuple):
    """An episode, and what was meant in it."""

    episode: Episode
    intended: Array  # (T, A): the expert's action at each of the episode's states


def demonstrate(
    world: str, teacher: Teacher, pairs: int, seed: int, **env_kwargs: Any
) -> Demonstrations:
    """The world's expert acts with the teacher's error until `pairs` pairs are shown.

    The recorded action is the one asked for, which the world may cut at its bounds. The last
    episode is cut short where it has pairs to spare.
    Episode k is a function of the world, the teacher, the seed and k alone.
    """
    if pairs < 1:
        raise OptionError(f"cannot demonstrate {pairs} pairs; ask for 1 or more")
    where, episodes, shown = _world(world), list[Episode](), 0
    while shown < pairs:
        # The first batch knows only how long an episode can be, later ones how long they were.
        length = shown / len(episodes) if episodes else where.steps
        count = min(ceil((pairs - shown) / length), SLOTS)
        env = make_vec(world, count, **where.teacher_kwargs, **env_kwargs)
        number = np.arange(len(episodes), len(episodes) + count)
        recorded = _roll(env, where, teacher, _keys(seed, number), number)
        episodes += [r.episode for r in recorded]
        shown = sum(map(len, episodes))
    unwrapped: Any = env.unwrapped
    return Demonstrations(
        _first_pairs(episodes, pairs),
        action_low=unwrapped.single_action_space.low,
        action_high=unwrapped.single_action_space.high,
        action_set=unwrapped.action_set,
        action_names=unwrapped.action_names,
        obs_names=unwrapped.obs_names,
        env_args={
            "env_name": where.id,
            "type": 2,
            "env_kwargs": getattr(unwrapped, "env_kwargs", {}),
        },
        source=f"{world}, {teacher}, seed {seed}",
    )


def record(world: str, teacher: Teacher, episodes: int, seed: int) -> list[Take]:
    """The first episodes of these demonstrations, whole, with what was meant in them."""
    if episodes < 1:
        raise OptionError(f"cannot record {episodes} episodes; ask for 1 or more")
    where, number = _world(world), np.arange(episodes)
    env = make_vec(world, episodes, **where.teacher_kwargs)
    return _roll(env, where, teacher, _keys(seed, number), number)


def returns(world: str, teacher: Teacher, episodes: int, seed: int) -> Array:
    """Of the first episodes of these demonstrations, played to their end: (episodes,).

    A dataset's own last episode may be cut short where it has pairs to spare.
    """
    where, found = _world(world), []
    for first in range(0, episodes, SLOTS):
        number = np.arange(first, min(first + SLOTS, episodes))
        env = make_vec(world, len(number), **where.teacher_kwargs)
        shown = _roll(env, where, teacher, _keys(seed, number), number)
        found += [e.reward.sum() for e, _ in shown if e.reward is not None]
    return np.array(found, np.float64)


def expert_returns(world: str, episodes: int, seed: int) -> Array:
    """Return the expert's returns from the starts of `returns`, for any teacher: (episodes,)."""
    return returns(world, NO_ERROR, episodes, seed)


def expert_return(world: str, episodes: int, seed: int) -> float:
    """The mean return of the world's expert, without error, from starts seed, seed + 1, …"""
    if episodes < 1:
        raise OptionError(f"cannot average over {episodes} episodes; ask for 1 or more")
    where, keys = _world(world), np.arange(seed, seed + episodes)
    shown = _roll(make_vec(world, episodes), where, NO_ERROR, keys, np.arange(episodes))
    return float(np.mean([e.reward.sum() for e, _ in shown if e.reward is not None]))


def _world(name: str) -> World:
    world = find_world(name)
    world.load_expert()  # refuses before a simulator is made, which may not be installed
    return world


def _keys(seed: int, number: Array) -> Array:
    """Keys of 2⁶² and above, so that no start a user asks for by number is among them."""
    if not 0 <= seed < 2**63:
        raise OptionError(f"seed is {seed}; it must be at least 0 and below 2⁶³")
    index = torch.from_numpy(number)
    bits = draws.bits(torch.tensor(seed), "demonstration", index, 1)[:, 0]
    return ((bits & (2**62 - 1)) | 2**62).numpy()  # (N,)


def _roll(
    env: VectorEnv[Any, Any, Any], world: World, teacher: Teacher, key: Array, number: Array
) -> list[Take]:
    """The first episode of each slot."""
    space: Any = env.single_action_space
    low, high = space.low.astype(np.float64), space.high.astype(np.float64)  # (A,) each
    show = teacher.begin(Takes(key, number, len(low), world.steps))
    expert, t = world.load_expert(), 0
    obs, _ = env.reset(seed=key.tolist())
    going = np.ones(env.num_envs, bool)
    steps: list[tuple[Array, Array, Array, Array, Array]] = []
    while going.any():
        intended = np.asarray(expert(obs, key, t), np.float64)  # (N, A)
        shown = show(to_unit_exactly(intended, low, high), t)
        action = from_unit_exactly(shown, low, high).astype(np.float32)
        after, reward, terminated, truncated, _ = env.step(action)
        steps.append((obs, action, reward, intended, going))
        obs, t, going = after, t + 1, going & ~(terminated | truncated)
    env.close()
    obs, action, reward, intended, going = (
        np.stack(column, axis=1) for column in zip(*steps, strict=True)
    )
    who = [teacher.operator(int(k)) for k in number]
    return [
        Take(Episode(obs[i, :n], action[i, :n], reward[i, :n], who[i]), intended[i, :n])
        for i, n in enumerate(going.sum(axis=1))
    ]


def _first_pairs(episodes: list[Episode], pairs: int) -> tuple[Episode, ...]:
    kept: list[Episode] = []
    for e in episodes:
        n = min(len(e), pairs)
        if n > 0:
            reward = None if e.reward is None else e.reward[:n]
            kept.append(replace(e, obs=e.obs[:n], action=e.action[:n], reward=reward))
        pairs -= n
    return tuple(kept)
