"""What is sent to a page: every message in order, but of drawings only the newest of each panel.

A page that is slow gets fewer drawings; it never slows the control loop down.
"""

from __future__ import annotations

import asyncio
import json
from collections import deque
from typing import Any, Protocol

from counterbc.printing import without_nan
from counterbc.studio.frames import Frame

QUEUE_LIMIT = 2000
"""Messages that may wait for a page; further ones are dropped, as it will be disconnected soon."""


class Socket(Protocol):
    """The part of a websocket that is written to."""

    async def send_text(self, data: str) -> None: ...

    async def send_bytes(self, data: bytes) -> None: ...


class Outbox:
    """Messages that wait for a socket; `post` and `draw` may be called from any thread."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._messages: deque[dict[str, Any]] = deque()
        self._frames: dict[int, Frame] = {}
        self._news = asyncio.Event()
        self.is_closed = False

    def post(self, message: dict[str, Any]) -> None:
        """Send a message after those before it."""
        if len(self._messages) < QUEUE_LIMIT:
            self._messages.append(message)
        self._wake()

    def draw(self, frame: Frame) -> None:
        """Send a drawing, in place of one of the same panel that was not sent yet."""
        self._frames[frame.slot] = frame
        self._wake()

    def close(self) -> None:
        """Send what waits, then let `run` return."""
        self.is_closed = True
        self._wake()

    def _wake(self) -> None:
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._news.set)

    async def run(self, socket: Socket) -> None:
        """Send until closed."""
        while True:
            await self._news.wait()
            self._news.clear()
            while self._messages:
                message = self._messages.popleft()
                await socket.send_text(json.dumps(without_nan(message), allow_nan=False))
            for slot in list(self._frames):
                content = self._frames.pop(slot).encode()
                if isinstance(content, str):
                    await socket.send_text(content)
                else:
                    await socket.send_bytes(content)
            if self.is_closed:
                return
