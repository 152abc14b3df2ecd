"""Sockets: lost connections, second tabs, many clients and garbage leave the server up."""

from __future__ import annotations

import hashlib
import json
import os
from contextlib import suppress
from datetime import datetime

import h5py
import pytest
from websockets.exceptions import ConnectionClosed

from counterbc.formats import load
from counterbc.studio.limits import (
    BURST,
    CONNECTIONS,
    FAULTS,
    LARGEST_MESSAGE,
    MESSAGES_PER_SECOND,
    PEOPLE,
)
from counterbc.studio.study_folder import CONSENT, StudyFolder
from tests.studio.clients import LiveServer, Lockstep, Page, dataset_of, open_socket, wait_for


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


def test_inputs_without_sense_are_answered_and_the_connection_stays(server: LiveServer) -> None:
    page = server.page()
    page.begin("cartpole")
    for message in (
        {"type": "look.input", "action": [0.0], "device": "keyboard"},
        {"type": "collect.input", "action": [10**400], "device": "keyboard"},
        {"type": "collect.input", "action": [0.0], "device": "keyboard", "at": 10**400},
    ):
        page.send(**message)
        assert page.wait("problem")["text"]
    page.send(type="ping", sent=2.5)
    assert page.wait("pong")["sent"] == 2.5
    page.close()


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


def test_a_flood_of_messages_ends_the_connection(
    server: LiveServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    hello, ping = json.dumps({"type": "hello", "person": ""}), json.dumps({"type": "ping"})
    assert 0 < MESSAGES_PER_SECOND < BURST < 10_000
    monkeypatch.setattr("counterbc.studio.connection.MESSAGES_PER_SECOND", 1)
    monkeypatch.setattr("counterbc.studio.connection.BURST", 100)
    assert close_code(server, hello, *[ping] * 1000) == 1008
    assert_alive(server)


def test_a_page_that_reads_too_slowly_is_closed_with_a_reason(
    server: LiveServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = server.page()
    monkeypatch.setattr("counterbc.studio.outbox.QUEUE_LIMIT", 0)  # whatever waits is too much
    page.send(type="ping")
    with pytest.raises(ConnectionClosed) as closed:
        page.receive()
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == 1013
    assert closed.value.rcvd.reason == "the page reads too slowly; reload it"


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


def test_a_consent_text_that_is_edited_is_shown_to_the_next_person(server: LiveServer) -> None:
    first = server.page()
    (server.study.path / "consent.txt").write_text("Only on Mondays: <b>ja</b>", encoding="utf-8")
    second = server.page()
    assert first.welcome["consent"] != "Only on Mondays: <b>ja</b>"
    assert second.welcome["consent"] == "Only on Mondays: <b>ja</b>"
    (server.study.path / "consent.txt").unlink()
    assert close_code(server, json.dumps({"type": "hello", "person": ""})) == 1013
    for page in (first, second):
        page.close()


def test_a_page_that_shows_an_old_consent_text_cannot_begin(step_server: LiveServer) -> None:
    page = step_server.page()
    shown = page.welcome["consent_sha256"]
    assert shown == hashlib.sha256(CONSENT.encode()).hexdigest()
    page.close()
    (step_server.study.path / "consent.txt").write_text("Edited later", encoding="utf-8")
    page = step_server.page(page.person)  # the page connects again, and its form is still open
    for consent in (shown, None, ""):
        reply = page.begin("cartpole", consent=consent)
        assert (reply["type"], reply["text"]) == (
            "refused", "the consent text was changed; read it again",
        )  # fmt: skip
    assert page.ask("collect.state")["running"] is False
    assert page.begin("cartpole")["type"] == "reply"  # with the text that it was sent now
    page.close()


def test_a_closed_tab_keeps_what_was_recorded(step_server: LiveServer) -> None:
    page = step_server.page()
    (step_server.study.path / "consent.txt").write_text("Edited later", encoding="utf-8")
    page.begin("cartpole")
    page.do("record")
    page.do("start")
    page.give(0.0)
    page.wait("frame", step=1)
    page.close()
    journal = step_server.study.journal("cartpole-001") / "0000.jsonl"
    wait_for(lambda: journal.exists() and journal.read_bytes().count(b'"action"') == 1)
    step_server.server.should_exit = True  # completes what is recorded
    wait_for(lambda: step_server.study.list_datasets())
    assert load(dataset_of(step_server.study.path)).pairs == 1
    with h5py.File(dataset_of(step_server.study.path)) as file:
        consent = json.loads(file["data/demo_0"].attrs["recording"])["consent"]
    assert consent["sha256"] == hashlib.sha256(CONSENT.encode()).hexdigest()  # what was shown
    assert datetime.fromisoformat(consent["agreed"]).tzinfo is not None


def test_a_session_that_nobody_comes_back_to_is_completed_by_itself(
    study: StudyFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("counterbc.studio.app._TIDY_EVERY", 0.05)
    monkeypatch.setattr("counterbc.studio.person.FORGOTTEN", 0.0)
    server = LiveServer(study, Lockstep)
    page = server.page()
    page.begin("cartpole")
    page.do("record")
    page.do("start")
    page.give(0.0)
    page.wait("frame", step=1)
    assert not study.list_datasets()
    page.close()
    wait_for(lambda: study.list_datasets())  # nobody else opens a page, and the server runs on
    assert load(dataset_of(study.path)).pairs == 1
    server.stop()


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
