"""Ctrl-C while training: the first asks for a stop between steps, the second stops at once."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class Interrupt:
    """Lets the first Ctrl-C stop a training between steps; a second one stops it at once."""

    stop = False

    def __enter__(self) -> Interrupt:
        self.main = threading.current_thread() is threading.main_thread()
        if self.main:
            self.before = signal.signal(signal.SIGINT, self._request)
        return self

    def _request(self, number: int, frame: FrameType | None) -> None:
        self.stop = True
        signal.signal(signal.SIGINT, self.before)

    @contextmanager
    def at_once(self) -> Iterator[None]:
        """Let Ctrl-C stop at once for a while, such as at a question."""
        if self.main:
            signal.signal(signal.SIGINT, self.before)
        yield
        if self.main and not self.stop:
            signal.signal(signal.SIGINT, self._request)

    def __exit__(self, *_: object) -> None:
        if self.main:
            signal.signal(signal.SIGINT, self.before)
