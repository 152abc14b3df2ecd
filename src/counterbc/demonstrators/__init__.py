"""Experts, the ways in which humans err, and the demonstrations that come of both."""

from __future__ import annotations

from dataclasses import replace
from math import ceil
from typing import Any

import numpy as np
import torch
from gymnasium.vector import VectorEnv
from numpy.typing import NDArray

from counterbc import draws
from counterbc.demonstrations import Demonstrations, Episode
from counterbc.demonstrators.noise import NOISES, EpsilonGreedy, Gaussian, Teacher, Uniform
from counterbc.envs import WORLDS, World, make_vec
from counterbc.errors import OptionError, unknown

__all__ = [
    "NOISES",
    "EpsilonGreedy",
    "Gaussian",
    "Teacher",
    "Uniform",
    "demonstrate",
    "expert_return",
]

Array = NDArray[Any]


def demonstrate(world: str, teacher: Teacher, pairs: int, seed: int) -> Demonstrations:
    """The world's expert acts with the teacher's error until `pairs` pairs are shown.

    The recorded action is the one taken; the last episode is cut short where it has pairs to spare.
    """
    if pairs < 1:
        raise OptionError(f"cannot demonstrate {pairs} pairs; ask for 1 or more")
    if not 0 <= seed < 2**63:
        raise OptionError(f"seed is {seed}; it must be at least 0 and below 2⁶³")
    where = _world(world)
    rng = np.random.default_rng(_seeds(seed, "demonstration error", 0, 1))
    episodes: list[Episode] = []
    while (missing := pairs - sum(map(len, episodes))) > 0:
        env = make_vec(world, ceil(missing / where.steps), **where.teacher_kwargs)
        seeds = _seeds(seed, "demonstration", len(episodes), env.num_envs)
        episodes += _roll(env, where, seeds, teacher, rng)
    unwrapped: Any = env.unwrapped
    return Demonstrations(
        _first_pairs(episodes, pairs),
        action_low=unwrapped.single_action_space.low,
        action_high=unwrapped.single_action_space.high,
        action_set=unwrapped.action_set,
        action_names=unwrapped.action_names,
        obs_names=unwrapped.obs_names,
        env_args={"env_name": where.id, "type": 2, "env_kwargs": {}},
        source=f"{world}, {teacher}, seed {seed}",
    )


def expert_return(world: str, episodes: int, seed: int) -> float:
    """The mean return of the world's expert, without error, from starts seed, seed + 1, …"""
    if episodes < 1:
        raise OptionError(f"cannot average over {episodes} episodes; ask for 1 or more")
    where, seeds = _world(world), np.arange(seed, seed + episodes)
    shown = _roll(make_vec(world, episodes), where, seeds, Uniform(0.0), np.random.default_rng(0))
    return float(np.mean([e.reward.sum() for e in shown if e.reward is not None]))


def _world(name: str) -> World:
    if name not in WORLDS:
        raise unknown("world", name, WORLDS)
    return WORLDS[name]


def _seeds(seed: int, purpose: str, first: int, count: int) -> Array:
    """Seeds of 2⁶² and above, so that no start a user asks for by number is among them."""
    index = torch.arange(first, first + count)
    bits = draws.bits(torch.tensor(seed), purpose, index, 1)[:, 0]
    return ((bits & (2**62 - 1)) | 2**62).numpy()  # (count,)


def _roll(
    env: VectorEnv[Any, Any, Any],
    world: World,
    seeds: Array,
    teacher: Teacher,
    rng: np.random.Generator,
) -> list[Episode]:
    """The first episode of each slot."""
    expert, t = world.load_expert(), 0
    obs, _ = env.reset(seed=seeds.tolist())
    going = np.ones(env.num_envs, bool)
    steps: list[tuple[Array, Array, Array, Array]] = []
    while going.any():
        action = teacher.err(expert(obs, seeds, t), rng).astype(np.float32)  # (N, A)
        after, reward, terminated, truncated, _ = env.step(action)
        steps.append((obs, action, reward, going))
        obs, t, going = after, t + 1, going & ~(terminated | truncated)
    env.close()
    obs, action, reward, going = (np.stack(column, axis=1) for column in zip(*steps, strict=True))
    return [
        Episode(obs[i, :n], action[i, :n], reward[i, :n]) for i, n in enumerate(going.sum(axis=1))
    ]


def _first_pairs(episodes: list[Episode], pairs: int) -> tuple[Episode, ...]:
    kept: list[Episode] = []
    for e in episodes:
        n = min(len(e), pairs - sum(map(len, kept)))
        if n > 0:
            reward = None if e.reward is None else e.reward[:n]
            kept.append(replace(e, obs=e.obs[:n], action=e.action[:n], reward=reward))
    return tuple(kept)
