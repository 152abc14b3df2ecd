"""A policy in a process of its own, so that the loop sees when it stalls."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import time
from contextlib import suppress
from itertools import count
from pathlib import Path

import numpy as np

from counterbc.acting.clock import Clock, WallClock
from counterbc.data.arrays import Array
from counterbc.errors import DataError, FormatError, MissingExtra
from counterbc.robots.decider import Decision
from counterbc.robots.policy_worker import ANSWER, NUMBER, QUESTION

START = 60.0  # seconds within which the process has to load the policy


class PolicyProcess:
    """Asks a policy in another process, and waits for an answer only until a given time.

    At most one question is under way: while a policy stalls it gets no more of them, and an answer
    that comes too late is dropped. Questions have serial numbers, because every run counts its
    ticks from 0.
    """

    def __init__(self, path: Path, clock: Clock | None = None) -> None:
        self.path, self.clock = path, clock or WallClock()
        # -P: modules that lie in the current folder, such as a numpy.py, are not imported.
        command = [sys.executable, "-P", "-m", "counterbc.robots.policy_worker", str(path)]
        # A session of its own: Ctrl-C in the terminal must not end it before the arm stands.
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._questions, self._answers = self._process.stdin, self._process.stdout.fileno()
        self._unread = b""
        self._serials = count()
        self._under_way: int | None = None
        """The serial number of the question without an answer."""
        self._last: tuple[int, int] | None = None
        """Tick and serial number of the last call of `ask`; None if it sent nothing."""
        try:
            self.obs_size, self.action_size, self.about = self._greeting()
        except BaseException:
            self.close()
            raise
        self._size = ANSWER.size + NUMBER * self.action_size

    @property
    def process_id(self) -> int:
        return self._process.pid

    @property
    def is_running(self) -> bool:
        return self._process.poll() is None

    def ask(self, tick: int, obs: Array, is_first: bool) -> None:
        """Send a question, unless the last one is still without an answer."""
        if np.shape(obs) != (self.obs_size,):  # the worker would wait for the rest of it
            raise DataError(
                f"an observation has the shape {np.shape(obs)}; the policy reads ({self.obs_size},)"
            )
        self._last = None
        self._receive(0.0)
        if self._under_way is not None:
            return
        serial = next(self._serials)
        try:
            content = QUESTION.pack(serial, is_first) + np.asarray(obs, "<f8").tobytes()
            self._questions.write(content)
            self._questions.flush()
            self._under_way, self._last = serial, (tick, serial)
        except OSError:
            return  # it has ended; `answer` finds nothing, and `is_running` tells why

    def answer(self, tick: int, until: float) -> Decision | None:
        """Return the answer to this tick's question, or None if there is none in time."""
        if self._last is None or self._last[0] != tick:
            return None
        serial = self._last[1]
        while self._under_way == serial:
            rest = until - self.clock.now()
            if (result := self._receive(max(rest, 0.0))) and result[0] == serial:
                return result[1] if self.clock.now() <= until else None
            if rest <= 0 or not self.is_running:
                return None
        return None

    def close(self) -> None:
        """End the process; one that does not react is killed."""
        with suppress(OSError):  # it may have ended before reading everything
            self._questions.close()
        try:
            self._process.wait(timeout=0.5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()

    def _receive(self, seconds: float) -> tuple[int, Decision] | None:
        """Return an answer that arrives within some seconds, with its serial number."""
        if not select.select([self._answers], [], [], seconds)[0]:
            return None
        self._unread += os.read(self._answers, 65536)
        if len(self._unread) < self._size:
            return None
        content, self._unread = self._unread[: self._size], self._unread[self._size :]
        serial, duration = ANSWER.unpack_from(content)
        self._under_way = None if serial == self._under_way else self._under_way
        return serial, Decision(np.frombuffer(content, "<f8", offset=ANSWER.size), duration)

    def _greeting(self) -> tuple[int, int, dict[str, str]]:
        """Return the sizes and facts of the policy, once it is loaded."""
        line, end = b"", time.monotonic() + START
        while not line.endswith(b"\n"):
            rest = end - time.monotonic()
            ready = rest > 0 and select.select([self._answers], [], [], rest)[0]
            content = os.read(self._answers, 65536) if ready else b""
            if not content:
                raise self._unusable("its process does not answer")
            line += content
        facts = json.loads(line)
        if "missing" in facts:
            raise MissingExtra(facts["missing"], "robots", "running a policy beside an arm")
        if "error" in facts:
            raise self._unusable(facts["error"])
        return int(facts["obs"]), int(facts["action"]), dict(facts["about"])

    def _unusable(self, text: str) -> FormatError:
        return FormatError(
            f"{self.path} is not a policy that can drive an arm ({text}); give a run folder or a "
            "file that counterbc export wrote"
        )
