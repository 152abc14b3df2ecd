"""Work that takes long, in a process of its own, so that no control loop waits for it."""

from __future__ import annotations

import multiprocessing
import os
import sys
import threading
import warnings
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any

from counterbc.data.cores import cores
from counterbc.errors import CounterBCError
from counterbc.files import reason

Report = Callable[[Any], None]
_NICE = 10  # control loops come first


class Job:
    """A call of `function(report=…, **arguments)`; exactly one of `done` and `failed` follows.

    The function is at the top level of a module, as its process imports it. Whatever it passes to
    `report` reaches `progress`. After `stop` nothing is called any more.
    """

    def __init__(
        self, function: Callable[..., Any], arguments: dict[str, Any], *,
        done: Report, failed: Callable[[str], None], progress: Report = lambda value: None,
    ) -> None:  # fmt: skip
        self._done, self._failed, self._progress = done, failed, progress
        # A control loop may need a core; how threads wait is decided as counterbc is imported.
        os.environ.setdefault("OMP_NUM_THREADS", str(max(1, cores() - 1)))
        context = multiprocessing.get_context("spawn")
        self._receiver, sender = context.Pipe(duplex=False)
        self._process = context.Process(
            target=_call, args=(sender, function, arguments), daemon=True
        )
        self._process.start()
        sender.close()
        self._is_stopped = self._is_complete = False
        self._thread = threading.Thread(target=self._listen, name="job", daemon=True)
        self._thread.start()

    @property
    def is_running(self) -> bool:
        """Whether the result is not there yet."""
        return not (self._is_complete or self._is_stopped)

    def stop(self) -> None:
        """End the work; its result is dropped."""
        self._is_stopped = True
        self._process.kill()
        self._thread.join(timeout=10)

    def wait(self, timeout: float) -> None:
        """Wait until the result was passed on."""
        self._thread.join(timeout)

    def _listen(self) -> None:
        with self._receiver:
            self._pass_on()
        self._process.join()

    def _pass_on(self) -> None:
        """Pass on what the process sends, up to its result or its end."""
        targets = {"progress": self._progress, "done": self._done, "failed": self._failed}
        while True:
            try:
                kind, value = self._receiver.recv()
            except (EOFError, OSError):
                kind, value = "failed", "the work was stopped by the system, perhaps for memory"
            if self._is_stopped:
                return
            self._is_complete = kind != "progress"
            targets[kind](value)
            if kind != "progress":
                return


def _call(sender: Connection, function: Callable[..., Any], arguments: dict[str, Any]) -> None:
    """Call a function in its process, and send what it returns or why it failed."""
    warnings.simplefilter("ignore")
    if sys.platform != "win32":
        os.nice(_NICE)
    try:
        result = function(report=lambda value: sender.send(("progress", value)), **arguments)
        sender.send(("done", result))
    except CounterBCError as error:
        sender.send(("failed", str(error)))
    except Exception as error:
        sender.send(("failed", f"{type(error).__name__}: {reason(error)}"))
