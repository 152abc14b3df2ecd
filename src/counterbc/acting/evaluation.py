"""Roll a whole population out in any gymnasium VectorEnv."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import gymnasium
import numpy as np
import torch
from gymnasium.vector import AsyncVectorEnv, AutoresetMode, SyncVectorEnv, VectorEnv
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import Progress

from counterbc.acting.device import find_device
from counterbc.acting.intervals import (
    Difference,
    Interval,
    measure_interval,
    paired_difference,
    runs_interval,
)
from counterbc.acting.policies import Act, Acting, Policies
from counterbc.data import draws
from counterbc.envs import find_id, make_vec
from counterbc.errors import CounterBCError, OptionError

Array = NDArray[Any]
MakeEnv = Callable[[int], VectorEnv[Any, Any, Any]]
SLOTS = 8192  # of a native vector environment
SLOTS_ONE_BY_ONE = 64  # of environments stepped one after the other
OneByOne = SyncVectorEnv | AsyncVectorEnv


@dataclass(frozen=True, eq=False)
class Evaluation:
    """What each member earned in each episode."""

    returns: Array
    """(members, episodes) float64; NaN for members that diverged."""
    lengths: Array
    """(members, episodes) steps."""
    env: str
    act: Act
    seed: int
    method: str
    seeds: tuple[int, ...] = ()
    """Of the members, on which their starts depend."""
    measures: Mapping[str, Array] = field(default_factory=dict)
    """What the environment measures besides rewards, at the last step of each episode: (members,
    episodes) each, NaN like the returns and where none was reported."""

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return np.asarray(self.returns, dtype=dtype)

    @property
    def interval(self) -> Interval:
        """Mean return with its 95 % interval: over members, or over episodes of a single one."""
        return runs_interval(self.returns)

    @property
    def measure_intervals(self) -> dict[str, Interval]:
        """The same for each measure; of those that are yes or no, Wilson's over all episodes."""
        return {name: measure_interval(values) for name, values in self.measures.items()}

    def __repr__(self) -> str:
        members, episodes = self.returns.shape
        intervals = {"return": self.interval} | self.measure_intervals
        said = "".join(f"{name} {interval}, " for name, interval in intervals.items())
        return (
            f"Evaluation({self.method} in {self.env}, act={self.act}: {said}"
            f"{members} members × {episodes} episodes)"
        )


def evaluate(
    policies: Policies,
    env: str | MakeEnv | None = None,
    *,
    episodes: int = 100,
    act: Act = "mean",
    seed: int = 0,
    slots: int | None = None,
    max_steps: int = 100_000,
    progress: bool = True,
    device: str | torch.device | None = None,
    **env_kwargs: Any,
) -> Evaluation:
    """Every member in `episodes` episodes of a world, of any gymnasium id, or of any VectorEnv:
    then `env` is a function that makes one of a given number of environments.

    Episode e of a member starts from a seed made of (seed, the member's seed, e), so members of
    other methods with the same seeds see the same starts. `env` defaults to the environment of the
    demonstrations. At most `slots` environments run at once. Policies act on `device`: by default
    on the CPU, but those that read images on a GPU where there is one.
    """
    env = env or policies.config.get("env")
    if env is None:
        raise OptionError("the demonstrations name no environment; say which one: env='…'")
    name = env if isinstance(env, str) else getattr(env, "__name__", "an environment of one's own")
    if isinstance(env, str):
        env_kwargs = same_simulator(policies, env, env_kwargs)
    make: MakeEnv = (lambda n: make_vec(env, n, **env_kwargs)) if isinstance(env, str) else env
    if episodes < 1:
        raise OptionError(f"cannot evaluate {episodes} episodes; ask for 1 or more")
    shape, where = (len(policies), episodes), _device(policies, device)
    returns, lengths = np.full(shape, np.nan), np.zeros(shape, dtype=np.int64)
    measures: dict[str, Array] = {}
    bar = Progress(console=Console(stderr=True), disable=not progress, transient=True)
    with bar:
        task = bar.add_task(f"evaluating {policies.method}", total=shape[0] * shape[1])
        most = _slots(make) if slots is None else slots
        for members, numbers in _chunks(shape, most):
            part = policies[members].to(where)
            rollout = Rollout(part, make(len(part) * len(numbers)), name, numbers)
            got = rollout.run(act, seed, max_steps)
            here = members, slice(numbers[0], numbers[-1] + 1)
            returns[here], lengths[here] = got[:2]
            for measure, values in got[2].items():
                measures.setdefault(measure, np.full(shape, np.nan))[here] = values
            bar.advance(task, len(part) * len(numbers))
    for values in (returns, *measures.values()):
        values[policies.diverged] = np.nan
    seeds = tuple(m.seed for m in policies.members)
    return Evaluation(returns, lengths, name, act, seed, policies.method, seeds, measures)


def compare(a: Evaluation, b: Evaluation) -> Difference:
    """How much a is above b where both saw the same starts: over members, else over episodes."""
    if a.returns.shape != b.returns.shape or (a.seed, a.env, a.seeds) != (b.seed, b.env, b.seeds):
        raise OptionError(
            f"{a.method} (seeds {list(a.seeds)}) and {b.method} (seeds {list(b.seeds)}) did not "
            "see the same starts; train both with the same seeds and evaluate them alike"
        )
    if len(a.returns) > 1:
        return paired_difference(a.returns.mean(1), b.returns.mean(1))
    return paired_difference(a.returns[0], b.returns[0])


def start_seeds(policies: Policies, episodes: list[int], seed: int) -> list[int]:
    """The seed of every slot, member after member: within 31 bits, which every world takes."""
    members = torch.tensor([m.seed for m in policies.members]).unsqueeze(1)
    index = torch.tensor(episodes) + (members << 32)  # (P, E)
    bits = draws.bits(torch.tensor(seed), "start", index, 1).flatten() & (2**31 - 1)
    return [int(b) for b in bits]


def same_simulator(policies: Policies, env: str, given: dict[str, Any]) -> dict[str, Any]:
    """Options of the environment, with the simulator that the demonstrations were recorded in."""
    recorded = policies.config.get("backend")
    named = find_id(env)
    if recorded is None or named != policies.config.get("env"):
        return given
    if given.get("backend", recorded) != recorded:
        raise OptionError(
            f"the demonstrations were recorded in {env} by {recorded}; by {given['backend']} it "
            "looks different, so leave the backend out, or record there as well"
        )
    return {**given, "backend": recorded}


def _device(policies: Policies, asked: str | torch.device | None) -> torch.device:
    """For vectors moving observations and actions would take longer than acting."""
    images = len(policies.obs_shape) > 1
    return find_device(asked if asked is not None or images else "cpu")


def _slots(make: MakeEnv) -> int:
    """How many environments to run at once: many where they are stepped as arrays."""
    probe = make(1)
    most: int = getattr(probe.unwrapped, "slots", SLOTS)
    if isinstance(probe.unwrapped, OneByOne):
        most = SLOTS_ONE_BY_ONE
    probe.close()
    return most


def _measures(env: VectorEnv[Any, Any, Any]) -> tuple[str, ...]:
    """What an environment names in `measures`, or the environments that it holds do."""
    inner = env.unwrapped
    if isinstance(inner, OneByOne) and all(inner.call("has_wrapper_attr", "measures")):
        names: tuple[str, ...] = inner.get_attr("measures")[0]
        return names
    return tuple(getattr(inner, "measures", ()))


def _chunks(shape: tuple[int, int], slots: int) -> list[tuple[slice, list[int]]]:
    """Members and episodes that run together."""
    members, episodes = shape
    if slots < 1:
        raise OptionError(f"slots is {slots}; at least one environment must run")
    group = min(members, slots)
    width = max(1, slots // group)
    return [
        (slice(m, min(m + group, members)), list(range(e, min(e + width, episodes))))
        for m in range(0, members, group)
        for e in range(0, episodes, width)
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
        self._check(name)
        self.mode = self.env.metadata.get("autoreset_mode", AutoresetMode.NEXT_STEP)

    def _check(self, env: str) -> None:
        obs, action = self.env.single_observation_space, self.env.single_action_space
        p = self.policies
        for what, space, shape in (
            ("observations", obs, p.obs_shape),
            ("actions", action, (p.action_size,)),
        ):
            if not isinstance(space, gymnasium.spaces.Box) or space.shape != shape:
                trained = f"vectors of {shape[0]} numbers" if len(shape) == 1 else "images of "
                trained += "" if len(shape) == 1 else "×".join(map(str, shape))
                raise CounterBCError(
                    f"the {what} of {env} are {space}; these policies were trained on {trained}"
                )
        self.low, self.high = action.low, action.high  # type: ignore[attr-defined]  # a Box, checked above

    def run(self, act: Act, seed: int, max_steps: int) -> tuple[Array, Array, dict[str, Array]]:
        """Returns, lengths and measures: (P, E) each."""
        acting = Acting(self.policies, self.episodes, act, seed)
        obs = self._reset(start_seeds(self.policies, self.episodes, seed))
        slots = self.env.num_envs
        returns, lengths = np.zeros(slots), np.zeros(slots, dtype=np.int64)
        measures = {name: np.full(slots, np.nan) for name in _measures(self.env)}
        going = np.ones(slots, dtype=bool)
        for _ in range(max_steps):
            obs, reward, done, info = self._step(acting, obs)
            returns += np.where(going, reward, 0.0)
            lengths += going
            self._keep(measures, info, going & done)
            going &= ~done
            if not going.any():
                break
            rests = getattr(self.env.unwrapped, "rests", False)  # costs nothing once it is over
            if self.mode == AutoresetMode.DISABLED and done.any() and not rests:
                obs, _ = self.env.reset(options={"reset_mask": done})
        self.env.close()
        if going.any():
            raise CounterBCError(
                f"{int(going.sum())} episodes were not over after {max_steps} steps; "
                "raise max_steps, or give the environment a time limit"
            )
        shaped = {name: values.reshape(self.shape) for name, values in measures.items()}
        return returns.reshape(self.shape), lengths.reshape(self.shape), shaped

    def _keep(self, measures: dict[str, Array], info: dict[str, Any], ended: Array) -> None:
        """The measures of the slots that ended, from gymnasium's arrays with their masks."""
        if self.mode == AutoresetMode.SAME_STEP:  # `info` itself is of the next episode then
            info = info.get("final_info", {})
        for name, values in measures.items():
            known = ended & info.get(f"_{name}", name in info)
            if known.any():
                values[known] = np.asarray(info[name])[known]

    def _reset(self, seeds: list[int]) -> Array:
        env: VectorEnv[Any, Any, Any] = self.env
        try:
            obs, _ = env.reset(seed=seeds)  # type: ignore[arg-type]  # lists are taken, but untyped
        except TypeError:  # a native environment that seeds all its slots from one number
            obs, _ = env.reset(seed=seeds[0])
        return np.asarray(obs)

    def _step(self, acting: Acting, obs: Array) -> tuple[Array, Array, Array, dict[str, Any]]:
        seen = self.policies.tensor(obs).unflatten(0, self.shape)
        action = acting.actions(seen).flatten(0, 1).cpu().numpy()  # (slots, A)
        action = np.clip(np.nan_to_num(action), self.low, self.high).astype(self.low.dtype)
        obs, reward, terminated, truncated, info = self.env.step(action)
        return obs, np.asarray(reward), np.asarray(terminated | truncated), info
