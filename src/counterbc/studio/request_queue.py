"""The requests of one page: answered one after the other, beside the messages that cannot wait.

A request may take minutes, such as reading a large dataset. Until it is answered the connection
must still be read: a server that reads nothing misses the answers to its pings, and closes.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from counterbc.errors import CounterBCError, OptionError
from counterbc.files import reason
from counterbc.studio.messages import Message

Handler = Callable[[Message], dict[str, Any] | None]


class RequestQueue:
    """Requests that wait for their handlers, which run in threads, one at a time."""

    def __init__(
        self, limit: int, reply: Callable[[Message, dict[str, Any]], None],
        refuse: Callable[[Message, CounterBCError], None],
    ) -> None:  # fmt: skip
        self._limit, self._reply, self._refuse = limit, reply, refuse
        self._requests: asyncio.Queue[tuple[Message, Handler] | None] = asyncio.Queue()

    def put(self, request: Message, handler: Handler) -> bool:
        """Let a request wait for its turn; return False if too many wait already."""
        if self._requests.qsize() >= self._limit:
            return False
        self._requests.put_nowait((request, handler))
        return True

    async def run(self) -> None:
        """Answer requests until the queue is closed."""
        while (item := await self._requests.get()) is not None:
            request, handler = item
            try:
                reply = await asyncio.to_thread(handler, request)
                self._reply(request, reply or {})
            except CounterBCError as error:
                self._refuse(request, error)
            except Exception as error:  # a page must not be able to bring the server down
                self._refuse(request, failure(error))

    def close(self) -> None:
        """Drop what waits, and let `run` return after the request that it is answering."""
        while not self._requests.empty():
            self._requests.get_nowait()
        self._requests.put_nowait(None)


def failure(error: Exception) -> OptionError:
    """Return the refusal of a message whose handler failed."""
    return OptionError(f"that failed ({type(error).__name__}: {reason(error)})")
