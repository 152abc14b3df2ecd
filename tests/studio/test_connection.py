"""Sockets: lost connections, second tabs, many clients and garbage leave the server up."""

from __future__ import annotations

import json
import os
from contextlib import suppress

from websockets.exceptions import ConnectionClosed

from counterbc.studio.limits import CONNECTIONS, FAULTS, LARGEST_MESSAGE, PEOPLE
from tests.studio.clients import LiveServer, Page, open_socket, wait_for


def assert_alive(server: LiveServer) -> None:
    page = server.page()
    page.send(type="ping", sent=1.5)
    assert page.wait("pong")["sent"] == 1.5
    page.close()


def close_code(server: LiveServer, *contents: str | bytes) -> int | None:
    """Return the code with which a socket that sends this is closed."""
    socket = open_socket(server.access)
    try:
        for content in contents:
            socket.send(content)
        while True:
            socket.recv(timeout=60)
    except ConnectionClosed as error:
        return None if error.rcvd is None else error.rcvd.code


def test_a_page_must_say_hello_first(server: LiveServer) -> None:
    assert close_code(server, json.dumps({"type": "ping"})) == 1013
    assert close_code(server, "nonsense") == 1013
    assert close_code(server, b"\x00\x01") == 1013
    assert close_code(server, json.dumps({"type": "hello", "person": 5})) == 1013
    assert_alive(server)


def test_messages_without_sense_are_answered_and_then_end_the_connection(
    server: LiveServer,
) -> None:
    hello = json.dumps({"type": "hello", "person": ""})
    for nonsense in ("{", '{"type": "x"}', '{"type": "collect.nothing"}', "[]"):
        page = server.page()
        page.socket.send(nonsense)
        assert page.wait("problem")["text"]
        page.close()
        assert close_code(server, hello, *[nonsense] * (FAULTS + 1)) == 1008
    assert_alive(server)


def test_requests_that_are_refused_get_their_reason_and_nothing_else_happens(
    server: LiveServer,
) -> None:
    page = server.page()
    for i in range(3 * FAULTS):
        page.send(type="collect.do", id=i, do="fly")
        assert page.wait("refused", id=i)["text"]
    page.close()


def test_a_message_that_is_too_long_ends_the_connection(server: LiveServer) -> None:
    hello = json.dumps({"type": "hello", "person": ""})
    assert close_code(server, hello, "x" * (LARGEST_MESSAGE + 1)) == 1009
    assert_alive(server)


def test_garbage_ends_the_connection(server: LiveServer) -> None:
    hello = json.dumps({"type": "hello", "person": ""})
    garbage = os.urandom(LARGEST_MESSAGE // 2).hex()[: LARGEST_MESSAGE - 1]
    assert close_code(server, hello, *[garbage] * 500) == 1008
    assert_alive(server)


def test_a_flood_of_messages_ends_the_connection(server: LiveServer) -> None:
    hello = json.dumps({"type": "hello", "person": ""})
    ping = json.dumps({"type": "ping"})
    assert close_code(server, hello, *[ping] * 60_000) == 1008
    assert_alive(server)


def test_a_hundred_clients_leave_the_first_ones_undisturbed(step_server: LiveServer) -> None:
    person = step_server.page()
    person.begin("intersection")
    person.do("record")
    person.do("start")
    sockets = [open_socket(step_server.access) for _ in range(100)]
    codes: list[int] = []
    for socket in sockets:
        with suppress(ConnectionClosed):
            socket.send(json.dumps({"type": "hello", "person": ""}))
    for socket in sockets:
        try:
            socket.recv(timeout=60)
        except ConnectionClosed as error:
            codes.append(error.rcvd.code if error.rcvd else 0)
    assert len(codes) >= 100 - CONNECTIONS
    assert set(codes) == {1013}
    for i in range(20):
        person.give(0.5, 0.5)
        person.wait("frame", step=i + 1)
    person.wait("saved")
    assert len(step_server.study.list_datasets()) == 1
    for socket in sockets:
        socket.close()
    assert PEOPLE < CONNECTIONS


def test_a_lost_connection_pauses_the_world_and_the_person_continues(
    step_server: LiveServer,
) -> None:
    page = step_server.page()
    page.begin("intersection")
    page.do("record")
    page.do("start")
    page.give(1.0, 0.0)
    page.wait("frame", step=1)
    page.socket.socket.close()  # as a network that breaks: no goodbye
    page_again = step_server.page(page.person)
    assert page_again.person == page.person
    page_again.ask("collect.state")
    status = [m for m in page_again.messages if m["type"] == "status"][-1]
    assert status["phase"] in ("paused", "running")
    page_again.do("pause")
    page_again.do("start")
    for i in range(1, 20):
        page_again.give(1.0, 0.0)
        page_again.wait("frame", step=i + 1)
    page_again.wait("saved")
    status = [m for m in page_again.messages if m["type"] == "status"][-1]
    assert (status["episodes"], status["pairs"]) == (1, 20)
    page_again.close()


def test_a_closed_tab_keeps_what_was_recorded(step_server: LiveServer) -> None:
    page = step_server.page()
    page.begin("cartpole")
    page.do("record")
    page.do("start")
    page.give(0.0)
    page.wait("frame", step=1)
    page.close()
    journal = step_server.study.journal("cartpole-001") / "0000.jsonl"
    wait_for(lambda: journal.exists() and journal.read_bytes().count(b'"action"') == 1)


def test_a_second_tab_with_the_same_session_takes_over(step_server: LiveServer) -> None:
    first = step_server.page()
    first.begin("cartpole")
    second = step_server.page(first.person)
    assert first.wait("replaced")["text"] == "This session continues in another tab."
    assert second.ask("collect.state")["running"] is True
    with suppress(ConnectionClosed):
        while True:
            first.receive()
    second.close()


def test_two_tabs_of_two_people_do_not_disturb_each_other(step_server: LiveServer) -> None:
    pages: list[Page] = [step_server.page(), step_server.page()]
    for page, world in zip(pages, ("cartpole", "intersection"), strict=True):
        page.begin(world)
        page.do("record")
        page.do("start")
    pages[0].give(0.5)
    pages[0].wait("frame", step=1)
    pages[1].give(0.5, 0.5)
    assert len(pages[1].wait("frame", step=1)["obs"]) == 4
    assert {p.name for p in (step_server.study.path / "journal").iterdir()} == {
        "cartpole-001", "intersection-002",
    }  # fmt: skip
    for page in pages:
        page.close()
