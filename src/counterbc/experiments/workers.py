"""Independent jobs side by side on the cores of one machine, with a progress bar for each."""

from __future__ import annotations

import math
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
from multiprocessing import resource_tracker
from multiprocessing.queues import Queue
from typing import Any, TypeAlias, TypeVar

import torch
from torch import Tensor

from counterbc.data.cores import cores
from counterbc.errors import CounterBCError, InfeasibleActions
from counterbc.printing import printable
from counterbc.training.progress import bars, loss_text
from counterbc.training.session import Session, use_session

Result = TypeVar("Result")
Message = tuple[str, str, int, int, str]  # job, its title, step, all steps, loss
Messages: TypeAlias = "Queue[Message | str | None]"  # a text is a line to print; None is the end

_messages: Any = None  # in a worker: the queue to the parent


class WorkerProgress:
    """The progress of a training, sent to the parent process."""

    def __init__(self, name: str) -> None:
        self.name, self.title, self.total = name, name, 0

    def start(self, step: int, total: int, kernel: str) -> None:
        """Send that the training starts at `step`."""
        self.title, self.total = f"{self.name} ({kernel})", total
        _messages.put((self.name, self.title, step, total, "…"))

    def update(self, step: float, loss: Tensor) -> None:
        """Send the current step and loss."""
        _messages.put((self.name, self.title, step, self.total, loss_text(loss)))

    def announce(self, text: str) -> None:
        """Send a line, which the parent prints once, whichever workers send it."""
        _messages.put(text)

    def stop(self) -> None:
        """Do nothing: the parent removes the bar."""


def _initialize(messages: Messages | None, threads: int) -> None:
    """Prepare a worker process."""
    global _messages
    _messages = messages
    torch.set_num_threads(threads)
    threading.Thread(target=_exit_with_parent, daemon=True).start()
    warnings.simplefilter("ignore", InfeasibleActions)  # the parent warns once


def _run_job(job: Callable[[], Result]) -> Result:
    """Run a job without estimates of the time left, which would be of this job alone."""
    with use_session(Session(announced_end=math.inf)):
        return job()


def _exit_with_parent() -> None:
    """End a worker whose parent was killed, which would otherwise wait for jobs forever."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def run_all(
    jobs: Mapping[str, Callable[[], Result]],
    on_result: Callable[[str, Result], None],
    max_workers: int | None = None,
    bars: bool = True,
) -> None:
    """Run every job in a worker process and call `on_result(name, result)` here as each finishes.

    By default there is one worker per core; `max_workers` limits them. A job that reports with
    `WorkerProgress(name)` has a bar, and its announcements are printed here.
    """
    workers = min(len(jobs), max_workers or cores())
    context = multiprocessing.get_context("spawn")
    _start_silent_tracker()
    messages: Messages | None = context.Queue() if bars else None
    arguments = (messages, max(1, cores() // workers))
    with (
        _progress_bars(messages, list(jobs)),
        ProcessPoolExecutor(workers, context, _initialize, arguments) as pool,
    ):
        try:
            with _delay_interrupt():  # submitting starts the workers
                names = {pool.submit(_run_job, job): name for name, job in jobs.items()}
            for future in as_completed(names):
                on_result(names[future], future.result())
        except BrokenProcessPool:
            raise CounterBCError(
                "a worker process died, perhaps for lack of memory (use fewer workers) or because "
                'the script lacks the line if __name__ == "__main__": before its calls; finished '
                "work is kept, so run the same command again"
            ) from None
        except BaseException:
            _end_workers(pool)
            raise


def _start_silent_tracker() -> None:
    """Start the process that removes semaphores which stopped workers leave, without its warnings.

    It would warn about them after the last word of a command that is stopped.
    """
    if sys.platform == "win32":  # where there is none
        return
    silence = "ignore:resource_tracker:UserWarning"
    sys.warnoptions.append(silence)  # which the new process is given; this one has read them
    try:
        resource_tracker.ensure_running()
    finally:
        sys.warnoptions.remove(silence)


def _end_workers(pool: ProcessPoolExecutor) -> None:
    """End the workers of a pool at once, and wait until it has removed its semaphores.

    The wait is short: a worker that was ended while it held a lock may keep the pool's thread for
    ever.
    """
    manager: Any = pool._executor_manager_thread  # a thread, whatever typeshed says
    for process in list(pool._processes.values()):
        process.terminate()
    pool.shutdown(wait=False, cancel_futures=True)
    if manager is not None:
        manager.join(timeout=1)


@contextmanager
def _delay_interrupt() -> Iterator[None]:
    """Handle Ctrl-C after the block: a worker that is half started would print a traceback.

    Workers started in the block never see Ctrl-C, which a terminal sends to them as well.
    """
    main = threading.current_thread() is threading.main_thread()
    if sys.platform == "win32" or not main or signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        yield  # background jobs of a shell ignore Ctrl-C, and so do their workers
        return
    interrupts: list[int] = []
    handler = signal.signal(signal.SIGINT, lambda number, _: interrupts.append(number))
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # inherited
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        signal.signal(signal.SIGINT, handler)
    if interrupts:
        raise KeyboardInterrupt


@contextmanager
def _progress_bars(messages: Messages | None, names: list[str]) -> Iterator[None]:
    """Show a bar for each job while the block runs; none without messages."""
    if messages is None:
        yield
        return
    listener = threading.Thread(target=_listen, args=(messages, names), daemon=True)
    listener.start()
    try:
        yield
    finally:
        messages.cancel_join_thread()  # a worker stopped while it wrote may hold the queue's lock
        messages.put(None)
        listener.join(timeout=5)
        messages.close()


def _listen(messages: Messages, names: list[str]) -> None:
    texts = set[str]()
    with bars() as display:
        tasks = {name: display.add_task(printable(name), total=None, loss="…") for name in names}
        while (message := messages.get()) is not None:
            if isinstance(message, str):
                if message not in texts:
                    display.say(message)
                texts.add(message)
                continue
            name, title, step, total, loss = message
            display.update(tasks[name], description=title, completed=step, total=total, loss=loss)
