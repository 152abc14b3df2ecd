"""What is sent to a page: every message in order, but of drawings only the newest of each panel.

A page that is slow gets fewer drawings; it never slows the control loop down. The page says which
drawings it has seen, because a socket takes far more of them than a slow page can show in time.
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections import Counter, deque
from typing import Any, Protocol

from counterbc.printing import without_nan
from counterbc.studio.frames import Frame

QUEUE_LIMIT = 2000
"""Messages that may wait for a page; further ones are dropped, and its socket is closed."""
FRAMES_AHEAD = 2
"""Drawings of a panel that are on their way to a page before it has seen the first of them."""
BYTE_LIMIT = 32 * 2**20
"""Bytes of messages that may wait for a page; a single message may be larger."""


class Socket(Protocol):
    """The part of a websocket that is written to."""

    async def send_text(self, data: str) -> None: ...

    async def send_bytes(self, data: bytes) -> None: ...


class Outbox:
    """Messages that wait for a socket; `post` and `draw` may be called from any thread."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._messages: deque[str] = deque()
        self._waiting_bytes = 0
        self._lock = threading.Lock()
        self._frames: dict[int, Frame] = {}
        self._unseen: Counter[int] = Counter()
        self._news = asyncio.Event()
        self.is_closed = False
        self.overflow = asyncio.Event()
        """Set when a message was dropped: the page does not read, or not fast enough."""

    def post(self, message: dict[str, Any]) -> None:
        """Send a message after those before it."""
        text = json.dumps(without_nan(message), allow_nan=False)  # ASCII: a byte per character
        with self._lock:
            is_small = self._waiting_bytes + len(text) <= BYTE_LIMIT
            is_taken = len(self._messages) < QUEUE_LIMIT and (is_small or not self._messages)
            if is_taken:
                self._messages.append(text)
                self._waiting_bytes += len(text)
        self._wake(self._news if is_taken else self.overflow)

    def draw(self, frame: Frame) -> None:
        """Send a drawing, in place of one of the same panel that was not sent yet."""
        self._frames[frame.slot] = frame
        self._wake(self._news)

    def saw(self, slot: int) -> None:
        """Note that the page has seen a drawing of this panel; the next one may be sent."""
        if self._unseen[slot] > 0:
            self._unseen[slot] -= 1
            self._wake(self._news)

    def close(self) -> None:
        """Send what waits, then let `run` return."""
        self.is_closed = True
        self._wake(self._news)

    def _wake(self, event: asyncio.Event) -> None:
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(event.set)

    def _take(self) -> str:
        with self._lock:
            text = self._messages.popleft()
            self._waiting_bytes -= len(text)
        return text

    async def run(self, socket: Socket) -> None:
        """Send until closed."""
        while True:
            await self._news.wait()
            self._news.clear()
            while self._messages:
                await socket.send_text(self._take())
            for slot in [s for s in list(self._frames) if self._unseen[s] < FRAMES_AHEAD]:
                self._unseen[slot] += 1
                content = self._frames.pop(slot).encode()
                if isinstance(content, str):
                    await socket.send_text(content)
                else:
                    await socket.send_bytes(content)
            if self.is_closed:
                return
