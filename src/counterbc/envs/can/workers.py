"""Simulators in worker processes, each used for many episodes.

States travel with the work, so any process can take any episode's next step, and running episodes
are distributed evenly at every step.
"""

from __future__ import annotations

import atexit
import multiprocessing
import signal
from collections.abc import Callable
from functools import lru_cache
from itertools import pairwise
from multiprocessing.connection import Connection
from typing import Any

import numpy as np

from counterbc.data.arrays import Array
from counterbc.data.cores import cores
from counterbc.envs.can.simulator import Simulator, library
from counterbc.errors import CounterBCError

Results = tuple[Array, Array, Array]
"""States (N, D), observations (N, 23) and successes (N,)."""


def begin(simulator: Simulator, seeds: list[int]) -> Results:
    """Start episodes."""
    return _observe(simulator, [simulator.start(seed) for seed in seeds])


def advance(simulator: Simulator, states: Array, actions: Array) -> Results:
    """Take one step of each episode."""
    pairs = zip(states, actions, strict=True)
    return _observe(simulator, [simulator.advance(s, a) for s, a in pairs])


def _observe(simulator: Simulator, states: list[Array]) -> Results:
    obs, success = zip(*map(simulator.observe, states), strict=True)
    return np.stack(states), np.stack(obs), np.array(success)


class LocalSimulator:
    """A simulator in this process."""

    def __init__(self, render: bool = False) -> None:
        self.simulator = Simulator(render)

    def begin(self, seeds: list[int]) -> Results:
        return begin(self.simulator, seeds)

    def advance(self, states: Array, actions: Array) -> Results:
        return advance(self.simulator, states, actions)


class Pool:
    """Simulators in `count` processes, which end with this one, however it ends."""

    def __init__(self, count: int) -> None:
        library()  # raises here, not in every process, where it is missing
        context = multiprocessing.get_context("spawn")
        self._pipes: list[Connection] = []
        self._processes = []
        for _ in range(count):
            parent_end, child_end = context.Pipe()
            process = context.Process(target=_work, args=(child_end,), daemon=True)
            process.start()
            child_end.close()  # so that the loss of the process is noticed
            self._pipes.append(parent_end)
            self._processes.append(process)

    def begin(self, seeds: list[int]) -> Results:
        return self._distribute("begin", [(share,) for share in _split(seeds, len(self._pipes))])

    def advance(self, states: Array, actions: Array) -> Results:
        count = min(len(states), len(self._pipes))
        shares = zip(*(np.array_split(x, count) for x in (states, actions)), strict=True)
        return self._distribute("advance", list(shares))

    def _distribute(self, task: str, shares: list[tuple[Any, ...]]) -> Results:
        """Let the processes do their shares of a task, and join the results."""
        try:
            pipes = self._pipes[: len(shares)]
            for pipe, share in zip(pipes, shares, strict=True):
                pipe.send((task, share))
            answers = [pipe.recv() for pipe in pipes]
        except (EOFError, OSError):
            self.close()
            raise CounterBCError(
                "a process of the world can was lost, perhaps because memory ran out; evaluate "
                "again, and in a script do so under: if __name__ == '__main__'"
            ) from None
        except BaseException:  # Ctrl-C: pending answers would be taken for the next task's
            self.close()
            raise
        for answer in answers:
            if isinstance(answer, str):
                raise CounterBCError(f"the world can failed: {answer}")
        states, obs, success = (np.concatenate(x) for x in zip(*answers, strict=True))
        return states, obs, success

    def close(self) -> None:
        """End the processes; the next use makes new ones."""
        pool.cache_clear()
        for pipe, process in zip(self._pipes, self._processes, strict=True):
            pipe.close()
            process.terminate()


def _split(seeds: list[int], count: int) -> list[list[int]]:
    """Split seeds evenly among at most `count` processes."""
    ends = np.linspace(0, len(seeds), min(len(seeds), count) + 1).astype(int)
    return [seeds[a:b] for a, b in pairwise(ends)]


def _work(pipe: Connection) -> None:
    """Do tasks in a process until the other end of the pipe is closed."""
    # A terminal sends Ctrl-C to all processes; the parent ends the others.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    simulator = Simulator()
    tasks: dict[str, Callable[..., Results]] = {"begin": begin, "advance": advance}
    try:
        while True:
            task, share = pipe.recv()
            try:
                pipe.send(tasks[task](simulator, *share))
            except Exception as error:  # sent to the parent, which raises it
                pipe.send(f"{type(error).__name__}: {error}")
    except (EOFError, OSError):
        return


@lru_cache(maxsize=1)
def pool() -> Pool:
    """Return the worker processes that all environments share, one per core."""
    workers = Pool(cores())
    atexit.register(workers.close)
    return workers


@lru_cache(maxsize=2)
def local_simulator(render: bool = False) -> LocalSimulator:
    """Return the simulator that all single environments share."""
    return LocalSimulator(render)
