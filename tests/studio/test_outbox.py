"""Messages arrive in order; of drawings only the newest is sent."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable
from typing import Any

import numpy as np

from counterbc.studio.frames import Frame
from counterbc.studio.outbox import BYTE_LIMIT, FRAMES_AHEAD, QUEUE_LIMIT, Outbox


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


def test_a_page_that_sees_no_drawings_gets_no_more_of_them_and_then_the_newest() -> None:
    async def run() -> list[int]:
        outbox, socket = Outbox(asyncio.get_running_loop()), Collected()
        task = asyncio.create_task(outbox.run(socket))
        for i in range(20):
            outbox.draw(Frame(i, np.zeros(1)))
            await asyncio.sleep(0)
            await asyncio.sleep(0)
        assert len(socket.texts) == FRAMES_AHEAD
        outbox.saw(7)  # another panel
        outbox.saw(0)
        outbox.close()
        await task
        return [json.loads(text)["step"] for text in socket.texts]

    assert asyncio.run(run()) == [0, 1, 19]


def sent(messages: Iterable[dict[str, Any]]) -> tuple[list[str], bool]:
    """Return what is sent of messages that wait together, and whether that was too much."""

    async def run() -> tuple[list[str], bool]:
        outbox, socket = Outbox(asyncio.get_running_loop()), Collected()
        for message in messages:
            outbox.post(message)
        outbox.close()
        await outbox.run(socket)
        return socket.texts, outbox.overflow.is_set()

    return asyncio.run(run())


def test_what_waits_for_a_page_that_does_not_read_is_bounded() -> None:
    assert sent({"i": i} for i in range(QUEUE_LIMIT))[1] is False
    texts, is_too_much = sent({"i": i} for i in range(QUEUE_LIMIT + 500))
    assert (len(texts), is_too_much) == (QUEUE_LIMIT, True)


def test_the_bytes_that_wait_are_bounded_too() -> None:
    quarter = {"text": "x" * (BYTE_LIMIT // 4)}
    texts, is_too_much = sent([quarter] * 6)
    assert (len(texts), is_too_much) == (3, True)
    assert sent([quarter] * 3)[1] is False


def test_a_single_message_may_be_larger_than_what_may_wait() -> None:
    texts, is_too_much = sent([{"text": "x" * (BYTE_LIMIT + 1)}])
    assert (len(texts), is_too_much) == (1, False)
