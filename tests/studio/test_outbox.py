"""Messages arrive in order; of drawings only the newest is sent."""

from __future__ import annotations

import asyncio
import json

import numpy as np

from counterbc.studio.frames import Frame
from counterbc.studio.outbox import QUEUE_LIMIT, Outbox


class Collected:
    """A socket that keeps what it is sent."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.content: list[bytes] = []

    async def send_text(self, data: str) -> None:
        self.texts.append(data)

    async def send_bytes(self, data: bytes) -> None:
        self.content.append(data)


def test_all_messages_are_sent_but_only_the_newest_drawing_of_a_panel() -> None:
    async def run() -> Collected:
        outbox, socket = Outbox(asyncio.get_running_loop()), Collected()
        for i in range(100):
            outbox.post({"type": "status", "i": i})
            outbox.draw(Frame(i, np.zeros(1)))
            outbox.draw(Frame(i, np.zeros((2, 2, 3), np.uint8), slot=1))
        outbox.close()
        await outbox.run(socket)
        return socket

    socket = asyncio.run(run())
    messages = [json.loads(text) for text in socket.texts]
    assert [m["i"] for m in messages[:-1]] == list(range(100))
    assert messages[-1]["step"] == 99
    assert len(socket.content) == 1


def test_what_waits_for_a_page_that_does_not_read_is_bounded() -> None:
    async def run() -> Collected:
        outbox, socket = Outbox(asyncio.get_running_loop()), Collected()
        for i in range(QUEUE_LIMIT + 500):
            outbox.post({"i": i})
        outbox.close()
        await outbox.run(socket)
        return socket

    assert len(asyncio.run(run()).texts) == QUEUE_LIMIT
