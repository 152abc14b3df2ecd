"""Datasets are written in a process of their own, which never delays a control loop.

Writing holds Python's lock for tens of milliseconds at a time, and a long session takes seconds.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
from multiprocessing.connection import Connection
from pathlib import Path
from typing import NamedTuple

from counterbc.errors import CounterBCError, FormatError
from counterbc.files import reason
from counterbc.studio.datasets import write_dataset
from counterbc.studio.study_folder import StudyFolder

_NICE = 10  # control loops come first


class _Answer(NamedTuple):
    """The path of a dataset (None: there are no episodes), or why it could not be written."""

    path: Path | None
    problem: str | None


class DatasetWriter:
    """Writes the datasets of all sessions, one after the other; its process starts when needed."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._pipe: Connection | None = None
        self.process_id: int | None = None

    def write(self, study: StudyFolder, session: str) -> Path | None:
        """Write the demonstrations of a session; return their path, or None if there are none."""
        with self._lock:
            try:
                pipe = self._pipe or self._start()
                pipe.send((study, session))
                answer: _Answer = pipe.recv()
            except (EOFError, OSError):  # the process was stopped, perhaps for memory
                self._pipe = None
                answer = _write(study, session)
        if answer.problem is not None:
            raise FormatError(answer.problem)
        return answer.path

    def _start(self) -> Connection:
        context = multiprocessing.get_context("spawn")
        here, there = context.Pipe()
        process = context.Process(target=_serve, args=(there,), name="datasets", daemon=True)
        process.start()
        there.close()
        self._pipe, self.process_id = here, process.pid
        return here


def _serve(pipe: Connection) -> None:
    """Write what the server asks for until it is gone; Ctrl-C is for the server."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if sys.platform != "win32":
        os.nice(_NICE)
    while True:
        try:
            pipe.send(_write(*pipe.recv()))
        except (EOFError, OSError):
            return


def _write(study: StudyFolder, session: str) -> _Answer:
    try:
        return _Answer(write_dataset(study, session), None)
    except CounterBCError as error:
        return _Answer(None, str(error))
    except Exception as error:  # the disk may refuse anything
        return _Answer(None, f"{type(error).__name__}: {reason(error)}")


WRITER = DatasetWriter()
"""The writer of this server."""
