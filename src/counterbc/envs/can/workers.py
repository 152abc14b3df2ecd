"""Simulators in processes of their own, each used for many episodes.

States travel with the work, so any process may take any episode's next step, and the episodes that
are still going are dealt out evenly at every step.
"""

from __future__ import annotations

import atexit
import multiprocessing
import os
import signal
import sys
from collections.abc import Callable
from functools import lru_cache
from itertools import pairwise
from multiprocessing.connection import Connection
from typing import Any

import numpy as np
from numpy.typing import NDArray

from counterbc.envs.can.simulator import Simulator, library
from counterbc.errors import CounterBCError

Array = NDArray[Any]
Results = tuple[Array, Array, Array]
"""States (N, D), observations (N, 23) and successes (N,)."""


def begin(simulator: Simulator, seeds: list[int]) -> Results:
    """Start episodes."""
    return _seen(simulator, [simulator.start(seed) for seed in seeds])


def go_on(simulator: Simulator, states: Array, actions: Array) -> Results:
    """Take a step of episodes."""
    pairs = zip(states, actions, strict=True)
    return _seen(simulator, [simulator.advance(s, a) for s, a in pairs])


def _seen(simulator: Simulator, states: list[Array]) -> Results:
    obs, success = zip(*map(simulator.observe, states), strict=True)
    return np.stack(states), np.stack(obs), np.array(success)


class Alone:
    """A simulator in this process."""

    def __init__(self, render: bool = False) -> None:
        self.simulator = Simulator(render)

    def begin(self, seeds: list[int]) -> Results:
        return begin(self.simulator, seeds)

    def go_on(self, states: Array, actions: Array) -> Results:
        return go_on(self.simulator, states, actions)


class Pool:
    """Simulators in `count` processes, which end with this one, however it ends."""

    def __init__(self, count: int) -> None:
        library()  # its absence is said here, not by every process
        context = multiprocessing.get_context("spawn")
        self._pipes: list[Connection] = []
        self._processes = []
        for _ in range(count):
            here, there = context.Pipe()
            process = context.Process(target=_work, args=(there,), daemon=True)
            process.start()
            there.close()  # so that the loss of the process is noticed
            self._pipes.append(here)
            self._processes.append(process)

    def begin(self, seeds: list[int]) -> Results:
        return self._all("begin", [(part,) for part in _dealt(seeds, len(self._pipes))])

    def go_on(self, states: Array, actions: Array) -> Results:
        dealt = (np.array_split(x, min(len(x), len(self._pipes))) for x in (states, actions))
        return self._all("go_on", list(zip(*dealt, strict=True)))

    def _all(self, what: str, parts: list[tuple[Any, ...]]) -> Results:
        try:
            used = self._pipes[: len(parts)]
            for pipe, part in zip(used, parts, strict=True):
                pipe.send((what, part))
            answers = [pipe.recv() for pipe in used]
        except (EOFError, OSError):
            self.close()
            raise CounterBCError(
                "a process of the world can was lost, perhaps for want of memory; evaluate again, "
                "and in a script of your own do so under: if __name__ == '__main__'"
            ) from None
        except BaseException:  # Ctrl-C: some answers are on their way and would be mistaken
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


def _dealt(seeds: list[int], count: int) -> list[list[int]]:
    ends = np.linspace(0, len(seeds), min(len(seeds), count) + 1).astype(int)
    return [seeds[a:b] for a, b in pairwise(ends)]


def _work(pipe: Connection) -> None:
    """A process: take work until the pipe is closed at its other end."""
    # A terminal sends Ctrl-C to all of them; the parent ends the others.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    simulator = Simulator()
    works: dict[str, Callable[..., Results]] = {"begin": begin, "go_on": go_on}
    try:
        while True:
            what, part = pipe.recv()
            try:
                pipe.send(works[what](simulator, *part))
            except Exception as error:  # told to the parent, which raises it
                pipe.send(f"{type(error).__name__}: {error}")
    except (EOFError, OSError):
        return


def cores() -> int:
    """How many this process may use."""
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1


@lru_cache(maxsize=1)
def pool() -> Pool:
    """The processes of all environments here, as many as cores."""
    made = Pool(cores())
    atexit.register(made.close)
    return made


@lru_cache(maxsize=2)
def alone(render: bool = False) -> Alone:
    """The simulator of all single environments here."""
    return Alone(render)
