"""Run the cases of a part in processes that may die, and write each row when it is there."""

from __future__ import annotations

import importlib
import os
import pkgutil
import select
import signal
import sys
import time
import traceback
import warnings
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path

import counterbc
from attack.part import Part
from attack.rows import Row, RowFile
from attack.worker import Worker

_POLL = 0.2  # seconds
_PROGRESS = 30.0  # seconds between two lines


def warm() -> None:
    """Import the whole library once, so that a fork of this process starts at once.

    Nothing may be computed here: a fork does not survive the threads of OpenMP.
    """
    warnings.simplefilter("ignore")
    for module in pkgutil.walk_packages(counterbc.__path__, "counterbc."):
        if not module.name.endswith("__main__"):
            try:
                importlib.import_module(module.name)
            except ImportError:  # an extra that is not installed
                continue


def run_part(part: Part, keys: Sequence[str], folder: Path, workers: int) -> None:
    """Run the cases that have no row in the folder yet."""
    rows = RowFile(folder, part.name)
    finished_keys = {row.key for row in rows.rows()}
    keys = [key for key in keys if key not in finished_keys]
    queue = deque(keys[i : i + part.batch] for i in range(0, len(keys), part.batch))
    active: list[Worker] = []
    progress = _Progress(part.name, len(keys))
    try:
        while queue or active:
            while queue and len(active) < workers:
                active.append(Worker(part, queue.popleft(), folder))
            select.select([worker.pipe for worker in active], [], [], _POLL)
            for worker in list(active):
                alive = worker.is_alive()  # first, so that nothing it wrote is missed
                for row in worker.poll():
                    rows.add(row)
                    progress.add(row)
                if not alive:
                    active.remove(worker)
                    if (row_of_death := worker.finish()) is not None:
                        rows.add(row_of_death)
                        progress.add(row_of_death)
                    if worker.keys_left:
                        queue.appendleft(worker.keys_left)
    finally:
        for worker in active:
            worker.kill()


class _Progress:
    """A line from time to time, and one for each finding."""

    def __init__(self, name: str, total: int) -> None:
        self._name, self._total, self._count, self._findings = name, total, 0, 0
        self._began = self._printed = time.monotonic()

    def add(self, row: Row) -> None:
        self._count += 1
        if row.is_finding:
            self._findings += 1
            print(f"{self._name}: {row.outcome}: {row.key}: {row.cause}", flush=True)
        now = time.monotonic()
        if now - self._printed > _PROGRESS or self._count == self._total:
            self._printed = now
            print(
                f"{self._name}: {self._count} of {self._total} cases, "
                f"{self._findings} findings, {now - self._began:.0f} s",
                flush=True,
            )


def interruptible() -> None:
    """Let Ctrl-C reach this process even if a shell started it in the background."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def in_child(function: Callable[[], object]) -> None:
    """Run a function in a fork, so that its threads do not stay in this process."""
    sys.stdout.flush()
    if pid := os.fork():
        if os.waitpid(pid, 0)[1]:
            raise RuntimeError("the files to damage could not be made; the reason is above")
        return
    status = 1
    try:
        function()
        status = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(status)
