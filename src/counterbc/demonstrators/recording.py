"""Recording of demonstrations: a demonstrator acts in a world, with its expert at hand."""

from __future__ import annotations

from dataclasses import replace
from math import ceil, prod
from typing import Any, NamedTuple

import numpy as np
import torch
from gymnasium.spaces import Dict
from gymnasium.vector import VectorEnv

from counterbc.data import draws
from counterbc.data.affine import scale_exactly, unscale_exactly
from counterbc.data.arrays import Array
from counterbc.data.censoring import ActionsAre, check_actions_are
from counterbc.data.demonstrations import Demonstrations, Episode
from counterbc.data.episode import is_image
from counterbc.data.feasible import Feasible, feasible_set
from counterbc.demonstrators.demonstrator import Control, Demonstrator, EpisodeBatch
from counterbc.demonstrators.teacher import NO_ERROR
from counterbc.envs import World, find_world, make_vec
from counterbc.errors import OptionError

SLOTS = 1024
"""Episodes at a time, so that memory does not grow with the number of pairs."""


class Take(NamedTuple):
    """An episode with the actions that were intended in it."""

    episode: Episode
    intended: Array  # (T, A): the expert's action at each of the episode's states


def demonstrate(
    world: str,
    teacher: Demonstrator,
    pairs: int,
    seed: int,
    *,
    actions_are: ActionsAre = "asked",
    **env_kwargs: Any,
) -> Demonstrations:
    """Record `pairs` pairs of a teacher, or another demonstrator, in a world.

    The recorded action is the one asked for, which the world may cut at its bounds; or the one
    taken, which is projected to the feasible actions before the world steps. The last
    episode is truncated where it has more pairs than needed.
    Episode k is a function of the world, the teacher, the seed and k alone.
    """
    if pairs < 1:
        raise OptionError(f"cannot demonstrate {pairs} pairs; ask for 1 or more")
    check_actions_are(actions_are)
    place = _find_world(world, teacher)
    episodes, total = list[Episode](), 0
    while total < pairs:
        # Only later batches can be sized by the lengths of earlier episodes.
        length = total / len(episodes) if episodes else place.steps
        count = min(ceil((pairs - total) / length), SLOTS)
        env = make_vec(world, count, **place.teacher_kwargs, **env_kwargs)
        number = np.arange(len(episodes), len(episodes) + count)
        takes = _record(env, place, teacher, seed, number, actions_are=actions_are)
        episodes += [take.episode for take in takes]
        total = sum(map(len, episodes))
    unwrapped: Any = env.unwrapped
    return Demonstrations(
        _first_pairs(episodes, pairs),
        action_low=unwrapped.single_action_space.low,
        action_high=unwrapped.single_action_space.high,
        action_set=unwrapped.action_set,
        actions_are=actions_are,
        action_names=unwrapped.action_names,
        obs_names=unwrapped.obs_names,
        obs_keys=_obs_keys(unwrapped.single_observation_space),
        rate=place.rate,
        env_args={
            "env_name": place.id,
            "type": 2,
            "env_kwargs": getattr(unwrapped, "env_kwargs", {}),
        },
        source=f"{world}, {teacher}, seed {seed}",
    )


def record(
    world: str, teacher: Demonstrator, episodes: int, seed: int, **env_kwargs: Any
) -> list[Take]:
    """Record the first episodes of `demonstrate`, whole, with the intended actions."""
    if episodes < 1:
        raise OptionError(f"cannot record {episodes} episodes; ask for 1 or more")
    place = _find_world(world, teacher)
    env = make_vec(world, episodes, **place.teacher_kwargs, **env_kwargs)
    return _record(env, place, teacher, seed, np.arange(episodes))


def returns(
    world: str,
    teacher: Demonstrator,
    episodes: int,
    seed: int,
    *,
    actions_are: ActionsAre = "asked",
) -> Array:
    """Return the returns of the first episodes of `demonstrate`, whole: (episodes,).

    The last episode of a dataset may be truncated; here it is not.
    """
    place, takes = _find_world(world, teacher), list[Take]()
    for first in range(0, episodes, SLOTS):
        number = np.arange(first, min(first + SLOTS, episodes))
        env = make_vec(world, len(number), **place.teacher_kwargs)
        takes += _record(env, place, teacher, seed, number, actions_are=actions_are)
    return np.array(_returns(takes), np.float64)


def expert_returns(world: str, episodes: int, seed: int) -> Array:
    """Return the expert's returns from the starts of `returns`, for any teacher: (episodes,)."""
    return returns(world, NO_ERROR, episodes, seed)


def expert_return(world: str, episodes: int, seed: int) -> float:
    """Return the mean return of the world's expert, from starts seed, seed + 1, …"""
    if episodes < 1:
        raise OptionError(f"cannot average over {episodes} episodes; ask for 1 or more")
    place, keys = _find_world(world, NO_ERROR), np.arange(seed, seed + episodes)
    takes = _roll(make_vec(world, episodes), place, lambda obs, action, t: action, keys)
    return float(np.mean(_returns(takes)))


def _roll(env: VectorEnv[Any, Any, Any], world: World, control: Control, key: Array) -> list[Take]:
    """Record the first episode of each slot, which starts from its key, and close `env`."""
    space: Any = env.single_action_space
    low, high = space.low.astype(np.float64), space.high.astype(np.float64)  # (A,) each
    expert, t = world.load_expert(), 0
    obs, _ = env.reset(seed=key.tolist())
    running = np.ones(env.num_envs, bool)
    steps: list[tuple[Array, ...]] = []
    cameras = [name for name in obs if is_image(obs[name])] if isinstance(obs, dict) else []
    while running.any():
        # Where there are images, the expert and the demonstrator look at the first camera.
        seen = obs[cameras[0]] if cameras else obs
        best = np.asarray(expert(seen, key, t), np.float64)  # (N, A)
        chosen_action = control(seen, scale_exactly(best, low, high), t)
        action = unscale_exactly(chosen_action, low, high).astype(np.float32)
        after, reward, terminated, truncated, _ = env.step(action)
        steps.append((action, reward, best, running, *_parts(obs, cameras)))
        obs, t, running = after, t + 1, running & ~(terminated | truncated)
    env.close()
    action, reward, best, running, vector, *images = (
        np.stack(column, axis=1) for column in zip(*steps, strict=True)
    )
    return [
        Take(
            Episode(
                vector[i, :n], action[i, :n], reward[i, :n],
                images={name: x[i, :n] for name, x in zip(cameras, images, strict=True)},
            ),
            best[i, :n],
        )
        for i, n in enumerate(running.sum(axis=1))
    ]  # fmt: skip


def _parts(obs: Any, cameras: list[str]) -> list[Array]:
    """Return the vector of an observation, or its only part, and the images of its cameras."""
    if not cameras:
        return [obs]
    vectors = [x.reshape(len(x), -1) for name, x in obs.items() if name not in cameras]
    return [np.concatenate(vectors, axis=1), *(obs[name] for name in cameras)]


def _find_world(name: str, demonstrator: Demonstrator) -> World:
    world = find_world(name)
    demonstrator.check_world(name)
    world.load_expert()  # refuses before a simulator is made, which may not be installed
    return world


def _record(
    env: VectorEnv[Any, Any, Any],
    world: World,
    demonstrator: Demonstrator,
    seed: int,
    number: Array,
    *,
    actions_are: ActionsAre = "asked",
) -> list[Take]:
    """Record the demonstrator's episodes of these numbers."""
    space: Any = env.single_action_space
    batch = EpisodeBatch(_keys(seed, number), number, len(space.low), world.steps, world.rate)
    control = demonstrator.control(batch)
    if actions_are == "taken":
        unwrapped: Any = env.unwrapped
        control = _projected(control, feasible_set(unwrapped.action_set))
    takes = _roll(env, world, control, batch.key)
    operators = [demonstrator.operator(int(k)) for k in number]
    return [
        take._replace(episode=replace(take.episode, operator=operator))
        for take, operator in zip(takes, operators, strict=True)
    ]


def _projected(control: Control, feasible: Feasible) -> Control:
    """Return a control whose actions, in the range [−1, 1], are projected to the feasible ones."""

    def act(obs: Array, intended: Array, t: int) -> Array:
        return feasible.project(torch.as_tensor(control(obs, intended, t))).numpy()

    return act


def _obs_keys(space: Any) -> tuple[tuple[str, int], ...]:
    """Return the parts of dict observations that are no images, with their widths."""
    if not isinstance(space, Dict):
        return ()
    vectors = {name: part for name, part in space.items() if part.dtype != np.uint8}
    return tuple((name, prod(part.shape or ())) for name, part in vectors.items())


def _keys(seed: int, number: Array) -> Array:
    """Return keys of 2⁶² and above, which do not collide with seeds that a user chooses."""
    if not 0 <= seed < 2**63:
        raise OptionError(f"seed is {seed}; it must be at least 0 and below 2⁶³")
    index = torch.from_numpy(number)
    bits = draws.bits(torch.tensor(seed), "demonstration", index, 1)[:, 0]
    return ((bits & (2**62 - 1)) | 2**62).numpy()  # (N,)


def _returns(takes: list[Take]) -> list[Any]:
    return [take.episode.reward.sum() for take in takes if take.episode.reward is not None]


def _first_pairs(episodes: list[Episode], pairs: int) -> tuple[Episode, ...]:
    """Return the first pairs of these episodes."""
    result: list[Episode] = []
    for e in episodes:
        n = min(len(e), pairs)
        if n > 0:
            result.append(e.rows(slice(n)))
        pairs -= n
    return tuple(result)
