"""One websocket of a page: messages in, replies out, and an end to nonsense."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any

from starlette.websockets import WebSocket, WebSocketDisconnect

from counterbc.errors import CounterBCError, OptionError
from counterbc.files import reason
from counterbc.studio.limits import (
    BURST,
    CONNECTIONS,
    FAULTS,
    MESSAGES_PER_SECOND,
    REQUESTS,
    Bucket,
)
from counterbc.studio.messages import Message, decode, read_text, read_whole
from counterbc.studio.outbox import Outbox
from counterbc.studio.person import People, Person
from counterbc.studio.request_queue import RequestQueue, failure

_HELLO = 10.0  # seconds in which a page must introduce itself
POLICY, TRY_LATER = 1008, 1013  # codes with which a socket is closed
_LONGEST_REASON = 123  # bytes that a closing frame can hold


class Connections:
    """The sockets of all pages."""

    def __init__(self, people: People, read_facts: Callable[[], dict[str, Any]]) -> None:
        self.people, self.read_facts, self.count = people, read_facts, 0

    async def serve(self, socket: WebSocket) -> None:
        """Serve one page until it is gone."""
        await socket.accept()
        if self.count >= CONNECTIONS:
            text = f"{CONNECTIONS} pages are open already; close one that is not needed"
            await socket.close(TRY_LATER, text)
            return
        self.count += 1
        try:
            await _Connection(socket, self).run()
        finally:
            self.count -= 1


class _Connection:
    def __init__(self, socket: WebSocket, connections: Connections) -> None:
        self.socket, self.connections = socket, connections
        self.outbox = Outbox(asyncio.get_running_loop())
        self.requests = RequestQueue(REQUESTS, self._reply, self._refuse)
        self.bucket = Bucket(MESSAGES_PER_SECOND, BURST)
        self.faults = 0

    async def run(self) -> None:
        """Receive and send until either end is over."""
        try:
            person = await asyncio.wait_for(self._meet(), _HELLO)
        except (TimeoutError, WebSocketDisconnect):
            return
        except CounterBCError as error:
            await _close(self.socket, TRY_LATER, reason(error))
            return
        await asyncio.to_thread(person.attach, self.outbox)
        answering = asyncio.create_task(self.requests.run())
        tasks = [
            asyncio.create_task(self.outbox.run(self.socket)),
            asyncio.create_task(self._receive(person)),
            asyncio.create_task(self._overflow()),
        ]
        try:
            await asyncio.wait([answering, *tasks], return_when=asyncio.FIRST_COMPLETED)
        finally:
            self.requests.close()
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await asyncio.to_thread(person.detach, self.outbox)
            await _close(self.socket, 1000, "")
            await asyncio.gather(answering, return_exceptions=True)
            await asyncio.to_thread(person.rest)  # what the last request began

    async def _overflow(self) -> None:
        """Close the socket of a page for which too much waits."""
        await self.outbox.overflow.wait()
        await _close(self.socket, TRY_LATER, "the page reads too slowly; reload it")

    async def _meet(self) -> Person:
        """Wait for the page's hello, and answer with the facts that it needs."""
        message = decode(await self._text())
        if message["type"] != "hello":
            raise OptionError("a page must say hello first; reload it")
        facts = await asyncio.to_thread(self.connections.read_facts)
        person = await asyncio.to_thread(
            self.connections.people.welcome, read_text(message, "person", 64)
        )
        person.consent_sha256 = facts["consent_sha256"]
        self.outbox.post({"type": "welcome", "person": person.id, **facts})
        return person

    async def _text(self) -> str:
        message = await self.socket.receive()
        if message["type"] == "websocket.disconnect":
            raise WebSocketDisconnect(message.get("code", 1006))
        text = message.get("text")
        if text is None:
            raise OptionError("pages send text, not bytes; reload the page")
        return str(text)

    async def _receive(self, person: Person) -> None:
        """Handle messages as they come; nothing here may take long."""
        while self.faults <= FAULTS:
            request: Message = {}
            try:
                if not self.bucket.take():
                    await _close(self.socket, POLICY, "too many messages; reload the page")
                    return
                request = decode(await self._text())
                if not self._handle(person, request):
                    await _close(self.socket, POLICY, "too many requests wait; reload the page")
                    return
            except WebSocketDisconnect:
                return
            except CounterBCError as error:
                self._refuse(request, error)
        await _close(self.socket, POLICY, "too many messages without sense")

    def _handle(self, person: Person, message: Message) -> bool:
        """Handle a message, or let it wait as a request; return False if too many wait."""
        kind = message["type"]
        room = person.rooms.get(kind.partition(".")[0])
        if kind == "ping":
            now = time.perf_counter() * 1000
            self.outbox.post({"type": "pong", "sent": message.get("sent"), "now": now})
        elif kind == "frame.seen":
            self.outbox.saw(read_whole(message, "slot", 0, 10_000))
        elif kind.endswith(".input") and hasattr(room, "give"):
            self._give(room, message)
        elif room is not None and kind in room.handlers:
            return self.requests.put(message, room.handlers[kind])
        else:
            raise OptionError(f"{kind!r:.60} is not a message of this studio; reload the page")
        return True

    def _give(self, room: Any, message: Message) -> None:
        """Pass an input to its world here and now: the next tick acts on it."""
        try:
            room.give(message)
        except CounterBCError:
            raise
        except Exception as error:  # a page must not be able to bring the server down
            raise failure(error) from error

    def _reply(self, request: Message, reply: dict[str, Any]) -> None:
        self.outbox.post({"type": "reply", "id": request.get("id"), **reply})

    def _refuse(self, request: Message, error: CounterBCError) -> None:
        """Say why a message was refused; one that is no request counts as a fault."""
        text = str(error)
        if "id" in request:
            self.outbox.post({"type": "refused", "id": request["id"], "text": text})
            return
        self.faults += 1
        self.outbox.post({"type": "problem", "text": text})


async def _close(socket: WebSocket, code: int, text: str) -> None:
    """Close a socket that may be closed already, with the start of a reason."""
    try:
        await socket.close(code, text.encode()[:_LONGEST_REASON].decode(errors="ignore"))
    except (RuntimeError, WebSocketDisconnect):
        return
