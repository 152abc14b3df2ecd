"""Requests that take long neither hold up other messages nor cost the page its connection."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosed

from counterbc.studio import limits
from counterbc.studio.collecting import Collecting
from counterbc.studio.look_room import LookRoom
from counterbc.studio.messages import Message
from counterbc.studio.outbox import Outbox
from counterbc.studio.person import Person
from tests.studio.clients import LiveServer, Page, wait_for


class SlowList:
    """A handler of `look.list` that answers when it is let go; `count` says how often it began."""

    def __init__(self) -> None:
        self.count, self.let_go = 0, threading.Event()

    def __call__(self, room: LookRoom, message: Message) -> dict[str, Any]:
        self.count += 1
        assert self.let_go.wait(30)
        return {"datasets": [], "datasets_unlisted": 0}


@pytest.fixture
def slow_list(monkeypatch: pytest.MonkeyPatch) -> Iterator[SlowList]:
    handler = SlowList()
    monkeypatch.setattr(LookRoom, "list_datasets", lambda room, message: handler(room, message))
    yield handler
    handler.let_go.set()


@pytest.fixture
def short_pings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "PING_INTERVAL", 0.2)
    monkeypatch.setattr(limits, "PING_TIMEOUT", 0.5)


def test_a_request_may_take_longer_than_the_pings_allow_silence(
    short_pings: None, slow_list: SlowList, server: LiveServer
) -> None:
    page = server.page()
    page.send(type="look.list", id=1)
    end = time.monotonic() + 4 * (limits.PING_INTERVAL + limits.PING_TIMEOUT)
    while time.monotonic() < end:
        page.send(type="ping", sent=end)  # as a page does; unread ones would stop the reading
        assert page.receive()["type"] == "pong"
        time.sleep(0.05)
    slow_list.let_go.set()
    assert page.wait("reply", id=1)["datasets"] == []
    page.close()


def test_inputs_steer_while_a_request_is_answered(
    slow_list: SlowList, step_server: LiveServer
) -> None:
    page = step_server.page()
    page.begin("cartpole")
    page.do("record")
    page.do("start")
    page.send(type="look.list", id=500)
    wait_for(lambda: slow_list.count)
    page.give(0.5)
    assert page.wait("frame", step=1)["action"] == [0.5]
    slow_list.let_go.set()
    page.close()


@pytest.fixture
def page_left(monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """An event that is set when a page is gone and what it steered was paused."""
    event, detach = threading.Event(), Person.detach

    def note(person: Person, outbox: Outbox) -> None:
        detach(person, outbox)
        event.set()

    monkeypatch.setattr(Person, "detach", note)
    return event


def test_requests_are_answered_in_order_and_those_of_a_page_that_is_gone_are_dropped(
    slow_list: SlowList, server: LiveServer, page_left: threading.Event
) -> None:
    first = server.page()
    for i in range(5):
        first.send(type="look.list", id=i)
    wait_for(lambda: slow_list.count == 1)
    first.close()
    assert page_left.wait(60)
    slow_list.let_go.set()
    second = server.page()
    for i in range(5):
        second.send(type="look.list", id=i)
    assert [second.wait("reply")["id"] for _ in range(5)] == [0, 1, 2, 3, 4]
    assert slow_list.count == 6
    second.close()


def test_a_world_that_starts_after_its_page_is_gone_is_paused(
    step_server: LiveServer, page_left: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    start, begins, let_go = Collecting.start, threading.Event(), threading.Event()

    def start_late(session: Collecting) -> None:
        begins.set()
        assert let_go.wait(60)
        start(session)

    monkeypatch.setattr(Collecting, "start", start_late)
    page = step_server.page()
    page.begin("cartpole")
    page.send(type="collect.do", id=500, do="start")
    assert begins.wait(60)
    page.close()
    assert page_left.wait(60)  # and the world does not run yet
    let_go.set()
    page_again = step_server.page(page.person)
    wait_for(lambda: phase(page_again) != "ready")
    wait_for(lambda: phase(page_again) == "paused")
    page_again.close()


def phase(page: Page) -> str:
    """Return the phase of the session as the server has it now."""
    page.ask("collect.state")
    return str([m for m in page.messages if m["type"] == "status"][-1]["phase"])


def test_too_many_waiting_requests_end_the_connection(
    slow_list: SlowList, server: LiveServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("counterbc.studio.connection.REQUESTS", 3)
    page = server.page()
    page.send(type="look.list", id=0)
    wait_for(lambda: slow_list.count == 1)
    for i in range(1, 4):
        page.send(type="look.list", id=i)
    page.send(type="ping", sent=1.5)
    assert page.wait("pong")["sent"] == 1.5  # three may wait
    page.send(type="look.list", id=4)
    with pytest.raises(ConnectionClosed) as closing:
        page.receive()
    assert closing.value.rcvd is not None
    assert (closing.value.rcvd.code, closing.value.rcvd.reason) == (
        1008, "too many requests wait; reload the page",
    )  # fmt: skip
    slow_list.let_go.set()
