"""evaluate(): what each member of a population earns in an environment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from rich.progress import BarColumn, Task, TimeRemainingColumn

from counterbc.acting.act import Act
from counterbc.acting.device import find_device
from counterbc.acting.fit import Spaces, reason_not_tested, simulator_options
from counterbc.acting.intervals import (
    Difference,
    Interval,
    measure_interval,
    paired_difference,
    runs_interval,
)
from counterbc.acting.own_environments import (
    EnvSource,
    MakeEnv,
    environment_maker,
    environment_name,
    runs_alone,
)
from counterbc.acting.policies import Policies
from counterbc.acting.rollout import OneByOne, Rollout
from counterbc.data.arrays import Array
from counterbc.data.demonstrations import Demonstrations
from counterbc.envs import reason_not_made, recorded_env
from counterbc.errors import OptionError
from counterbc.printing import WorkBars, printable, text_column, time_left

SLOTS = 8192  # of a native vector environment
SLOTS_ONE_BY_ONE = 64  # of environments stepped one after the other


class EpisodeBar(WorkBars):
    """A bar of episodes that also shows the step of those that run."""

    def __init__(self, title: str, total: int, is_shown: bool) -> None:
        columns = (
            text_column("{task.description}"),
            BarColumn(),
            text_column("{task.fields[episodes]} of {task.total} episodes, step"),
            text_column("{task.fields[step]}"),
            TimeRemainingColumn(),
        )
        super().__init__(*columns, line=self._line, is_shown=is_shown, is_transient=True)
        self.task = self.add_task(printable(title), total=total, episodes=0, step=0)
        self.before = 0
        """Episodes of blocks that are finished."""

    def show(self, finished: int, share: float, step: int) -> None:
        """Show how far a block is: its episodes that are over, with parts of others, and a step."""
        episodes = self.before + finished
        self.update(self.task, completed=self.before + share, episodes=episodes, step=step)

    @staticmethod
    def _line(task: Task) -> str:
        episodes = f"{task.fields['episodes']:,} of {task.total:,.0f} episodes"
        return f"{task.description}: {episodes}, step {task.fields['step']:,}{time_left(task)}"


@dataclass(frozen=True, eq=False)
class Evaluation:
    """The return of each member in each episode."""

    returns: Array
    """(members, episodes) float64; NaN for members that diverged."""
    lengths: Array
    """(members, episodes) steps."""
    env: str
    act: Act
    seed: int
    method: str
    seeds: tuple[int, ...] = ()
    """The members' seeds, on which their starts depend."""
    measures: Mapping[str, Array] = field(default_factory=dict)
    """Further numbers that the environment reports at the last step of each episode: (members,
    episodes) each, NaN where the member diverged or nothing was reported."""

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return np.asarray(self.returns, dtype=dtype)

    @property
    def interval(self) -> Interval:
        """Mean return with its 95 % interval: over members, or over episodes of a single one."""
        return runs_interval(self.returns)

    @property
    def measure_intervals(self) -> dict[str, Interval]:
        """The same for each measure; for yes-or-no measures Wilson's interval over all episodes."""
        return {name: measure_interval(values) for name, values in self.measures.items()}

    def __repr__(self) -> str:
        members, episodes = self.returns.shape
        intervals = {"return": self.interval} | self.measure_intervals
        text = "".join(f"{name} {interval}, " for name, interval in intervals.items())
        return (
            f"Evaluation({self.method} in {self.env}, act={self.act}: {text}"
            f"{members} members × {episodes} episodes)"
        )


def evaluate(
    policies: Policies,
    env: EnvSource | None = None,
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
    """Run every member for `episodes` episodes.

    `env` is a world, a gymnasium id, a class, an instance, a function that makes an instance, or
    one that makes a VectorEnv of a given number of environments; by default it is the environment
    of the demonstrations. Dict observations are read by the keys of the training. Episode e of a
    member starts from a seed made of (seed, the member's seed, e), so methods with the same seeds
    see the same starts. At most `slots` environments run at once. Policies act on `device`: by
    default on the CPU, and on a GPU if there is one and they read images.
    """
    env = env or recorded_env(policies.run_config.env, "the run")
    if env is None:
        raise OptionError("the demonstrations name no environment; name one: env='…'")
    name = environment_name(env)
    if isinstance(env, str):
        env_kwargs = simulator_options(Spaces.of_policies(policies), env, env_kwargs)
    make = environment_maker(env, policies.observed, **env_kwargs)
    check_episodes(episodes)
    shape, acting_device = (len(policies), episodes), _device(policies, device)
    returns, lengths = np.full(shape, np.nan), np.zeros(shape, dtype=np.int64)
    measures: dict[str, Array] = {}
    with EpisodeBar(f"evaluating {policies.method}", shape[0] * shape[1], progress) as bar:
        slot_count = 1 if runs_alone(env) else _slots(make) if slots is None else slots
        for members, numbers in _chunks(shape, slot_count):
            part = policies[members].to(acting_device)
            rollout = Rollout(part, make(len(part) * len(numbers)), name, numbers)
            block = members, slice(numbers[0], numbers[-1] + 1)
            results = rollout.run(act, seed, max_steps, bar.show)
            returns[block], lengths[block], block_measures = results
            bar.before += len(part) * len(numbers)
            for measure, values in block_measures.items():
                measures.setdefault(measure, np.full(shape, np.nan))[block] = values
    for values in (returns, *measures.values()):
        values[policies.diverged] = np.nan
    return Evaluation(
        returns=returns,
        lengths=lengths,
        env=name,
        act=act,
        seed=seed,
        method=policies.method,
        seeds=policies.seeds,
        measures=measures,
    )


def check_environment(env: str, demos: Demonstrations | None = None) -> None:
    """Refuse an environment that cannot be made, or that has other observations or actions than
    demonstrations, before policies are trained for it."""
    if demos is None:
        problem = reason_not_made(env, is_typed=True)
    else:
        problem = reason_not_tested(env, Spaces.of_data(demos), is_typed=True)
    if problem:
        raise OptionError(problem)


def check_episodes(episodes: int) -> None:
    """Refuse a number of episodes that cannot be evaluated."""
    if episodes < 1:
        raise OptionError(f"cannot evaluate {episodes} episodes; ask for 1 or more")


def compare(a: Evaluation, b: Evaluation) -> Difference:
    """Return how much a exceeds b on the same starts: over members, or over episodes of one."""
    if a.returns.shape != b.returns.shape or (a.seed, a.env, a.seeds) != (b.seed, b.env, b.seeds):
        raise OptionError(
            f"{a.method} (seeds {list(a.seeds)}) and {b.method} (seeds {list(b.seeds)}) did not "
            "see the same starts; train both with the same seeds and evaluate them alike"
        )
    if len(a.returns) > 1:
        return paired_difference(a.returns.mean(1), b.returns.mean(1))
    return paired_difference(a.returns[0], b.returns[0])


def _device(policies: Policies, name: str | torch.device | None) -> torch.device:
    """Return the device to act on; for vectors, moving them would take longer than acting."""
    images = len(policies.obs_shape) > 1 or policies.policy.images
    return find_device(name if name is not None or images else "cpu")


def _slots(make: MakeEnv) -> int:
    """Return how many environments to run at once: many if they are stepped as arrays."""
    probe = make(1)
    slot_count: int = getattr(probe.unwrapped, "slots", SLOTS)
    if isinstance(probe.unwrapped, OneByOne):
        slot_count = SLOTS_ONE_BY_ONE
    probe.close()
    return slot_count


def _chunks(shape: tuple[int, int], slots: int) -> list[tuple[slice, list[int]]]:
    """Return the members and episodes that run together."""
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
