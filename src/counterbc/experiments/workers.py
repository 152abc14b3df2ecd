"""Independent trainings side by side on the cores of one machine, with one bar each."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing.queues import Queue
from typing import Any, TypeVar

import torch
from torch import Tensor

from counterbc.errors import CounterBCError, InfeasibleActions
from counterbc.training.progress import bars, loss_text

Result = TypeVar("Result")
Message = tuple[str, int, int, str]  # name, done, total, loss

_messages: Any = None  # the queue to the parent, in a worker


class Reported:
    """Tells the parent process how far a training is."""

    def __init__(self, name: str) -> None:
        self.name, self.total = name, 0

    def start(self, done: int, total: int, kernel: str) -> None:
        self.total = total
        _messages.put((self.name, done, total, "…"))

    def update(self, done: int, loss: Tensor) -> None:
        _messages.put((self.name, done, self.total, loss_text(loss)))

    def stop(self) -> None: ...


def _begin(messages: Queue[Message | None] | None, threads: int) -> None:
    global _messages
    _messages = messages
    torch.set_num_threads(threads)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    warnings.simplefilter("ignore", InfeasibleActions)  # said once, by the parent


def _end_with_parent() -> None:
    """A worker whose parent was killed would wait for its next job for ever."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def cores() -> int:
    """How many this process may use."""
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1


def run_all(
    jobs: Mapping[str, Callable[[], Result]],
    done: Callable[[str, Result], None],
    most: int | None = None,
    bars: bool = True,
) -> None:
    """Run every job in a worker process, two or more at a time where there are cores.

    A small population leaves a second core idle, so two of them at once take little more time than
    one. `done(name, result)` is called here as each finishes. Jobs report by `Reported(name)`, with
    a bar for each; `most` limits the workers.
    """
    workers = min(len(jobs), most or cores())
    context = multiprocessing.get_context("spawn")
    messages: Queue[Message | None] | None = context.Queue() if bars else None
    settings = (messages, max(1, cores() // workers))
    with (
        _shown(messages, list(jobs)),
        ProcessPoolExecutor(workers, context, initializer=_begin, initargs=settings) as pool,
    ):
        try:
            with _ctrl_c_waits():  # submitting starts the workers
                names = {pool.submit(job): name for name, job in jobs.items()}
            for future in as_completed(names):
                done(names[future], future.result())
        except BrokenProcessPool:
            raise CounterBCError(
                "a worker process was lost, perhaps for want of memory; what was finished is "
                "kept, so give the same command again, with fewer workers if it recurs"
            ) from None
        except BaseException:
            for process in list(pool._processes.values()):
                process.terminate()
            pool.shutdown(wait=False, cancel_futures=True)
            raise


@contextmanager
def _ctrl_c_waits() -> Iterator[None]:
    """Stop after the block, not in it: a worker that is only half started would die loudly.

    Workers that start in the block never see Ctrl-C, which a terminal sends to them as well.
    """
    here = threading.current_thread() is threading.main_thread()
    if sys.platform == "win32" or not here or signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        yield  # a shell's background jobs ignore it, and so do their workers
        return
    came: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _: came.append(number))
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # inherited
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        signal.signal(signal.SIGINT, before)
    if came:
        raise KeyboardInterrupt


@contextmanager
def _shown(messages: Queue[Message | None] | None, names: list[str]) -> Iterator[None]:
    """A bar for each job while the block runs; none without messages."""
    if messages is None:
        yield
        return
    listener = threading.Thread(target=_show, args=(messages, names), daemon=True)
    listener.start()
    try:
        yield
    finally:
        messages.cancel_join_thread()  # a worker stopped while it wrote may hold the queue's lock
        messages.put(None)
        listener.join(timeout=5)
        messages.close()


def _show(messages: Queue[Message | None], names: list[str]) -> None:
    with bars() as shown:
        tasks = {name: shown.add_task(name, total=None, loss="…") for name in names}
        while (message := messages.get()) is not None:
            name, done, total, loss = message
            shown.update(tasks[name], completed=done, total=total, loss=loss)
