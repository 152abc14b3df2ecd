"""A robot arm picks a can out of one bin and drops it in another: robomimic's Can.

robosuite 1.4.1's PickPlaceCan with a Panda arm under OSC_POSE at 20 Hz. The episode ends when the
can lies in its bin and the hand has left it, with a reward of 1, or after 500 steps.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium.spaces import Box
from gymnasium.utils import seeding
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from counterbc.data.arrays import Array
from counterbc.data.cores import cores
from counterbc.envs.can.layout import ACTION_NAMES, OBS_NAMES, RATE, STEPS
from counterbc.envs.can.workers import LocalSimulator, Pool, local_simulator, pool
from counterbc.envs.checks import check_actions, check_render_mode, slot_seeds

OBS_SPACE = Box(-np.inf, np.inf, (len(OBS_NAMES),), np.float32)
ACTION_SPACE = Box(-1.0, 1.0, (len(ACTION_NAMES),), np.float32)
PICTURE = 256  # pixels across


class _Can:
    """The description that both environments share."""

    action_set = "box"
    obs_names, action_names = OBS_NAMES, ACTION_NAMES
    measures = ("success",)


class Can(_Can, gymnasium.Env[Array, Array]):
    """One robot."""

    metadata: dict[str, Any] = {"render_modes": ["rgb_array"], "render_fps": RATE}  # noqa: RUF012  # gymnasium's type

    def __init__(
        self, render_mode: str | None = None, max_episode_steps: int | None = None
    ) -> None:
        check_render_mode(render_mode)
        self.observation_space, self.action_space = OBS_SPACE, ACTION_SPACE
        self.render_mode = render_mode
        self.max_episode_steps = max_episode_steps or STEPS
        self._simulators = local_simulator(render_mode is not None)
        self._state: Array | None = None

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Array, dict[str, Any]]:
        super().reset(seed=seed)
        self._state, obs, success = self._simulators.begin([_start(self.np_random)])
        self._t = 0
        return obs[0], {"success": float(success[0])}

    def step(self, action: Array) -> tuple[Array, float, bool, bool, dict[str, Any]]:
        if self._state is None:
            raise gymnasium.error.ResetNeeded("call reset() before step()")
        self._state, obs, success = self._simulators.advance(self._state, _actions([action], 1))
        self._t += 1
        terminated = bool(success[0])
        # Made by gymnasium, an environment has a spec, and a wrapper that keeps the user's limit.
        truncated = self.spec is None and self._t >= self.max_episode_steps
        reward = float(terminated)
        return obs[0], reward, terminated, truncated, {"success": reward}

    def render(self) -> Any:
        if self.render_mode is None or self._state is None:
            return None
        return self._simulators.simulator.picture(self._state[0], PICTURE)


class CanVector(_Can, VectorEnv[Array, Array, Array]):
    """N robots, simulated by as many processes as there are cores.

    An episode that is over rests, costing nothing, until `reset` with a `reset_mask`. `starts`
    gives the simulator's seed of every start of each slot, in place of the slots' seeds.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012  # gymnasium's type
        "render_modes": [],
        "render_fps": RATE,
        "autoreset_mode": AutoresetMode.DISABLED,
    }
    rests = True

    def __init__(
        self,
        num_envs: int = 1,
        max_episode_steps: int | None = None,
        starts: Sequence[int] | None = None,
    ) -> None:
        self.num_envs, self._starts = num_envs, starts
        self.max_episode_steps = max_episode_steps or STEPS
        self.single_observation_space, self.single_action_space = OBS_SPACE, ACTION_SPACE
        self.observation_space = batch_space(OBS_SPACE, num_envs)
        self.action_space = batch_space(ACTION_SPACE, num_envs)
        self._generators: list[np.random.Generator] = []
        self._state: list[Array] = []  # (D,) of each slot
        self._obs = np.zeros((num_envs, len(OBS_NAMES)), np.float32)
        self._t = np.zeros(num_envs, np.int64)
        self._success, self._truncated = np.zeros(num_envs, bool), np.zeros(num_envs, bool)

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[Array, dict[str, Any]]:
        self._seed(seed)
        mask = (options or {}).get("reset_mask", np.ones(self.num_envs, bool))
        slots = np.arange(self.num_envs) if not self._state else np.flatnonzero(mask)
        if len(slots):
            starts = [
                self._starts[i] if self._starts else _start(self._generators[i])
                for i in slots.tolist()
            ]
            self._keep(slots, self._simulators.begin(starts))
            self._t[slots], self._truncated[slots] = 0, False
        return self._obs.copy(), self._info()

    def step(self, actions: Array) -> tuple[Array, Array, Array, Array, dict[str, Any]]:
        if not self._state:
            raise gymnasium.error.ResetNeeded("call reset() before step()")
        action = _actions(actions, self.num_envs)
        running = np.flatnonzero(~(self._success | self._truncated))
        reward = np.zeros(self.num_envs)
        if len(running):
            states = np.stack([self._state[i] for i in running])
            self._keep(running, self._simulators.advance(states, action[running]))
            self._t[running] += 1
            reward[running] = self._success[running]
            self._truncated = self._t >= self.max_episode_steps
        return self._obs.copy(), reward, self._success.copy(), self._truncated.copy(), self._info()

    @property
    def _simulators(self) -> LocalSimulator | Pool:
        return local_simulator() if min(self.num_envs, cores()) == 1 else pool()

    def _seed(self, seed: int | Sequence[int | None] | None) -> None:
        seeds = slot_seeds(seed, self.num_envs)
        new = [None if s is None and self._generators else seeding.np_random(s)[0] for s in seeds]
        self._generators = [g or self._generators[i] for i, g in enumerate(new)]

    def _keep(self, slots: Array, results: tuple[Array, Array, Array]) -> None:
        states, self._obs[slots], self._success[slots] = results
        self._state = self._state or [states[0]] * self.num_envs
        for i, state in zip(slots, states, strict=True):
            self._state[i] = state

    def _info(self) -> dict[str, Array]:
        return {"success": self._success.astype(float), "_success": np.ones(self.num_envs, bool)}


def _start(generator: np.random.Generator) -> int:
    """Draw the simulator's seed of the next episode."""
    return int(generator.integers(2**63 - 1))


def _actions(actions: Any, count: int) -> Array:
    """Return the actions within their bounds; NaN stands still."""
    array = check_actions(actions, (count, *ACTION_SPACE.shape))
    return np.asarray(np.clip(np.nan_to_num(array), -1.0, 1.0))
