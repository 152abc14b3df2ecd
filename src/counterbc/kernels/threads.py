"""The threads that training steps are computed with."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from functools import cache

import torch

from counterbc.data.cores import cores
from counterbc.data.waiting import let_threads_sleep
from counterbc.errors import SpinningThreads

_SLICES = 8  # of each thread; a thread that is done early takes what is left


_WORK = 4_000_000  # multiplications of a forward pass for which a thread of torch pays
_BUSY = 1.5  # processes that want a core, for each core


@contextmanager
def at_most_threads(count: int) -> Iterator[None]:
    """Let torch use no more than this number of threads."""
    threads = torch.get_num_threads()
    torch.set_num_threads(min(threads, count))
    try:
        yield
    finally:
        torch.set_num_threads(threads)


def one_thread() -> AbstractContextManager[None]:
    """Let torch use one thread.

    Several wait for each other at every small matrix, and add numbers up in another order.
    """
    return at_most_threads(1)


def threads_for(multiplications: float) -> int:
    """Return the number of torch's threads that pay for a forward pass of this size."""
    return max(1, min(torch.get_num_threads(), int(multiplications / _WORK)))


def warn_spinning(threads: int, load: float | None = None) -> None:
    """Warn if threads of torch will spin on a machine that is busy; `load` is that of a minute."""
    if threads < 2 or not let_threads_sleep():
        return
    load = os.getloadavg()[0] if load is None and hasattr(os, "getloadavg") else load or 0.0
    if load > _BUSY * cores():
        warnings.warn(
            "torch was imported before counterbc, so its threads spin as they wait, and this "
            "machine is busy: training may take many times as long as it should; import counterbc "
            "first, or set OMP_WAIT_POLICY=PASSIVE in the environment",
            SpinningThreads,
            stacklevel=2,
        )


def share(compute: Callable[[int, int], None], count: int, smallest: int = 1) -> None:
    """Call `compute(begin, end)` on slices of `count` things, on as many threads as torch has.

    `compute` should release the interpreter's lock. Threads take slice after slice and wait for
    nothing in between, so that where a core is busy the others do its share.
    """
    threads = min(torch.get_num_threads(), count // smallest)
    if threads <= 1:
        compute(0, count)
        return
    size = max(smallest, count // (_SLICES * threads))
    slices = iter([(begin, min(begin + size, count)) for begin in range(0, count, size)])

    def work() -> None:
        for begin, end in slices:  # one after the other: the lock of the interpreter
            compute(begin, end)

    others = [_pool(os.getpid()).submit(work) for _ in range(threads - 1)]
    try:
        work()
    finally:
        for other in others:
            other.result()


@cache
def _pool(process: int) -> ThreadPoolExecutor:
    """Return the threads of this process; a process that was forked has none of its parent's."""
    return ThreadPoolExecutor(max(1, (os.cpu_count() or 1) - 1), "counterbc-step")
