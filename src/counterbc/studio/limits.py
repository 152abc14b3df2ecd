"""Limits on what a page may send: sizes, rates and numbers."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

LARGEST_MESSAGE = 64 * 1024
"""Bytes of a message from a page; longer ones close its connection."""
LARGEST_BODY = 1024
"""Bytes of an HTTP request body."""
CONNECTIONS = 24
"""Pages that are connected at once; more are refused with an explanation."""
PEOPLE = 12
"""People who have a world running at once."""
MESSAGES_PER_SECOND = 800
"""Messages of one page, averaged. Four panels at 50 Hz acknowledge 200 drawings, and a mouse on a
fast screen sends 360 inputs, and 50 more as the world moves."""
BURST = 2400
"""Messages that a page may send at once, such as after its connection was slow."""
REQUESTS = 200
"""Requests of one page that wait for their answer; more close its connection."""
PING_INTERVAL = 5.0
"""Seconds between two pings of a connection."""
PING_TIMEOUT = 10.0
"""Seconds without the answer to a ping after which a connection is closed."""
FAULTS = 20
"""Messages without sense after which a connection is closed."""
LONGEST_NAME = 80
"""Characters of an operator's name."""


@dataclass
class Bucket:
    """A token bucket: `rate` per second on average, `burst` at once."""

    rate: float
    burst: float
    clock: Callable[[], float] = time.monotonic
    _level: float = field(init=False)
    _at: float = field(init=False)

    def __post_init__(self) -> None:
        self._level, self._at = self.burst, self.clock()

    def take(self) -> bool:
        """Take one token; return False if there is none."""
        now = self.clock()
        self._level = min(self.burst, self._level + (now - self._at) * self.rate)
        self._at = now
        if self._level < 1:
            return False
        self._level -= 1
        return True
