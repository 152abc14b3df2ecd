"""Rollouts: P members × E episodes as slots of one VectorEnv."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from gymnasium.vector import AsyncVectorEnv, AutoresetMode, SyncVectorEnv, VectorEnv

from counterbc.acting.act import Act
from counterbc.acting.actor import Acting
from counterbc.acting.fit import Spaces
from counterbc.acting.policies import Policies
from counterbc.data import draws
from counterbc.data.arrays import Array
from counterbc.errors import CounterBCError

OneByOne = SyncVectorEnv | AsyncVectorEnv
"""Environments that are stepped one after the other, not as arrays."""
OnStep = Callable[[int, float, int], None]
"""Gets the episodes that are over, the same with the parts of those that run, and the step."""


def start_seeds(policies: Policies, episodes: list[int], seed: int) -> list[int]:
    """Return the seed of every slot, member after member, in 31 bits, which every world accepts."""
    members = torch.tensor(policies.seeds).unsqueeze(1)
    index = torch.tensor(episodes) + (members << 32)  # (P, E)
    bits = draws.bits(torch.tensor(seed), "start", index, 1).flatten() & (2**31 - 1)
    return [int(b) for b in bits]


def _longest(env: VectorEnv[Any, Any, Any]) -> float:
    """Return the most steps of an episode; infinity where the environment does not say."""
    inner: Any = env.unwrapped
    steps = getattr(inner, "max_episode_steps", None)
    if steps is None and isinstance(inner, SyncVectorEnv):
        inner = inner.envs[0]
    spec = getattr(inner, "spec", None)
    return steps or getattr(spec, "max_episode_steps", None) or np.inf


def _measures(env: VectorEnv[Any, Any, Any]) -> tuple[str, ...]:
    """Return the measures that an environment, or the environments inside it, declare."""
    inner = env.unwrapped
    if isinstance(inner, OneByOne) and all(inner.call("has_wrapper_attr", "measures")):
        names: tuple[str, ...] = inner.get_attr("measures")[0]
        return names
    return tuple(getattr(inner, "measures", ()))


def _numbers(info: dict[str, Any], slots: int) -> list[str]:
    """Return the entries of `info` that are a number for each slot, such as success."""
    return [
        name
        for name, values in info.items()
        if not name.startswith("_")
        and isinstance(values, np.ndarray)
        and values.shape == (slots,)
        and values.dtype.kind in "biuf"
    ]


class Rollout:
    """P members × E episodes as slots of one VectorEnv; the first episode of each slot counts."""

    def __init__(
        self,
        policies: Policies,
        env: VectorEnv[Any, Any, Any],
        name: str,
        episodes: list[int],
    ) -> None:
        self.policies, self.episodes, self.env = policies, episodes, env
        self.shape = (len(policies), len(episodes))
        Spaces.of_policies(policies).check(env, name)
        action: Any = env.single_action_space  # a Box, as was checked
        self.low, self.high = action.low, action.high
        self.mode = self.env.metadata.get("autoreset_mode", AutoresetMode.NEXT_STEP)

    def run(
        self, act: Act, seed: int, max_steps: int, on_step: OnStep = lambda *_: None
    ) -> tuple[Array, Array, dict[str, Array]]:
        """Return the returns, lengths and measures: (P, E) each."""
        acting = Acting(self.policies, self.episodes, act, seed)
        obs = self._reset(start_seeds(self.policies, self.episodes, seed))
        slots = self.env.num_envs
        returns, lengths = np.zeros(slots), np.zeros(slots, dtype=np.int64)
        measures = {name: np.full(slots, np.nan) for name in _measures(self.env)}
        self.declared = bool(measures)
        running = np.ones(slots, dtype=bool)
        limit = _longest(self.env)
        for step in range(1, max_steps + 1):
            obs, reward, is_over, info = self._step(acting, obs)
            returns += np.where(running, reward, 0.0)
            lengths += running
            self._keep(measures, info, running & is_over)
            running &= ~is_over
            left = int(running.sum())
            on_step(slots - left, slots - left + left * min(step / limit, 1.0), step)
            if not running.any():
                break
            rests = getattr(self.env.unwrapped, "rests", False)  # finished slots cost nothing
            if self.mode == AutoresetMode.DISABLED and is_over.any() and not rests:
                obs, _ = self.env.reset(options={"reset_mask": is_over})
        self.env.close()
        if running.any():
            raise CounterBCError(
                f"{int(running.sum())} episodes were not over after {max_steps} steps; "
                "raise max_steps, or give the environment a time limit"
            )
        by_member = {name: values.reshape(self.shape) for name, values in measures.items()}
        return returns.reshape(self.shape), lengths.reshape(self.shape), by_member

    def _keep(self, measures: dict[str, Array], info: dict[str, Any], slots: Array) -> None:
        """Store the measures of the slots that ended, from gymnasium's arrays and their masks."""
        if self.mode == AutoresetMode.SAME_STEP:  # then `info` itself describes the next episode
            info = info.get("final_info", {})
        for name in () if self.declared else _numbers(info, len(slots)):
            measures.setdefault(name, np.full(len(slots), np.nan))
        for name, values in measures.items():
            valid = slots & info.get(f"_{name}", name in info)
            if valid.any():
                values[valid] = np.asarray(info[name])[valid]

    def _reset(self, seeds: list[int]) -> Array:
        env: VectorEnv[Any, Any, Any] = self.env
        try:
            obs, _ = env.reset(seed=seeds)  # type: ignore[arg-type]  # lists are accepted, but untyped
        except TypeError:  # a native environment that seeds all its slots from one number
            obs, _ = env.reset(seed=seeds[0])
        return np.asarray(obs)

    def _step(self, acting: Acting, obs: Array) -> tuple[Array, Array, Array, dict[str, Any]]:
        obs_stack = self.policies.tensor(obs).unflatten(0, self.shape)
        action = acting.actions(obs_stack).flatten(0, 1).cpu().numpy()  # (slots, A)
        action = np.clip(np.nan_to_num(action), self.low, self.high).astype(self.low.dtype)
        obs, reward, terminated, truncated, info = self.env.step(action)
        return obs, np.asarray(reward), np.asarray(terminated | truncated), info
