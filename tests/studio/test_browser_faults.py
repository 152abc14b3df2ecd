"""What goes wrong while a person records in a real browser: nothing is lost, and they are told."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from counterbc.formats import load
from tests.studio.browsers import begin, finish, open_tab, steps, wait_for_steps
from tests.studio.clients import LiveServer, dataset_of, wait_for
from tests.studio.processes import StudioProcess

pytestmark = [pytest.mark.slow, pytest.mark.needs("playwright")]


@pytest.fixture
def processes() -> Iterator[list[StudioProcess]]:
    """Studios in processes of their own, which are killed at the end."""
    running: list[StudioProcess] = []
    yield running
    for studio in running:
        if studio.process.poll() is None:
            studio.kill()


def test_a_lost_socket_is_said_and_the_session_continues(tab: Any, server: LiveServer) -> None:
    begin(tab, "air-hockey")
    tab.keyboard.press("Space")
    wait_for(lambda: steps(server) >= 3)
    tab.keyboard.down("ArrowUp")
    wait_for(lambda: steps(server) >= 6)
    tab.context.set_offline(True)
    for connection in list(server.server.server_state.connections):
        connection.transport.abort()
    tab.wait_for_selector("text=Connection lost")
    tab.keyboard.up("ArrowUp")  # which nobody hears
    tab.wait_for_timeout(5000)
    count = steps(server)
    tab.context.set_offline(False)
    tab.wait_for_selector("text=Press Space or Continue")
    assert steps(server) == count  # the world was paused
    tab.locator("#collect canvas.scene").focus()
    tab.keyboard.press("Space")
    wait_for(lambda: steps(server) >= count + 3)
    journal = finish(tab, server)
    assert len(journal.steps) >= count + 3
    assert journal.steps[count + 2]["action"] == [0.0, 0.0]


def test_a_changed_consent_text_is_shown_in_an_open_form(tab: Any, server: LiveServer) -> None:
    tab.fill("#operator", "Ada")
    tab.check("#agreed")
    (server.study.path / "consent.txt").write_text("Only on Mondays", encoding="utf-8")
    for connection in list(server.server.server_state.connections):
        connection.transport.abort()
    tab.wait_for_selector("#notice >> text='The consent text was changed; read it again.'")
    assert tab.locator(".consent").inner_text() == "Only on Mondays"
    assert (tab.is_checked("#agreed"), tab.input_value("#operator")) == (False, "Ada")
    begin(tab, "cartpole")
    tab.keyboard.press("Space")
    wait_for(lambda: steps(server) >= 1)
    consent = finish(tab, server).header["consent"]
    assert consent["sha256"] == hashlib.sha256(b"Only on Mondays").hexdigest()


def test_a_tab_that_was_replaced_says_so(tab: Any, server: LiveServer) -> None:
    begin(tab, "air-hockey")
    person = tab.evaluate("() => sessionStorage.person")
    other = tab.context.new_page()
    other.add_init_script(f"sessionStorage.person ??= {person!r}")  # as in a duplicated tab
    other.goto(server.access.url)
    other.wait_for_selector("text=record episode 1")
    tab.wait_for_selector("#notice >> text=reload it to take the session back")
    tab.wait_for_selector("#collect .over >> text=This session continues in another tab.")
    tab.wait_for_timeout(1000)  # in which it would connect again
    assert tab.locator("#connection").inner_text() == "This session continues in another tab."
    assert tab.locator("text=The connection is lost").count() == 0


def test_a_problem_that_the_server_tells_is_shown(tab: Any) -> None:
    tab.evaluate("""() => {
      const send = WebSocket.prototype.send;
      WebSocket.prototype.send = function (text) {
        WebSocket.prototype.send = send;
        send.call(this, '{"type": "nonsense"}');
      };
    }""")  # with the next ping
    tab.wait_for_selector("#notice >> text=is not a message of this studio; reload the page.")


def test_the_reason_of_every_lost_connection_is_shown(tab: Any) -> None:
    tab.evaluate("""() => {
      const send = WebSocket.prototype.send;
      WebSocket.prototype.send = function (text) {
        WebSocket.prototype.send = send;
        for (let i = 0; i < 30; i++) send.call(this, '{"type": "nonsense"}');
      };
    }""")  # with the next ping
    tab.wait_for_selector("#notice >> text='Too many messages without sense.'")
    tab.wait_for_selector("#connection:not(.lost)")
    assert tab.locator("#notice").inner_text() == "Too many messages without sense."


def test_a_killed_server_is_said_and_its_new_address_works_in_the_old_tab(
    browser: Any, tmp_path: Path, processes: list[StudioProcess]
) -> None:
    study = tmp_path / "study"
    processes.append(first := StudioProcess(study))
    with open_tab(browser, first) as tab:
        begin(tab, "air-hockey", operator="Ada")
        tab.keyboard.press("Space")
        journal = study / "journal" / "air-hockey-001" / "0000.jsonl"
        wait_for(lambda: journal.exists() and journal.read_bytes().count(b'"time"') >= 3)
        first.kill()
        tab.wait_for_selector("#collect .over >> text=The connection is lost. The world is paused")
        assert tab.locator("button:text-is('Continue')").count() == 1
        assert tab.locator("text=● recording").count() == 0
        assert tab.locator("text=recording, paused").count() == 1
        processes.append(second := StudioProcess(study, "--port", str(first.access.port)))
        tab.wait_for_selector("#connection >> text=open the address that it printed")
        assert load(dataset_of(study)).pairs == journal.read_bytes().count(b'"time"')
        tab.goto(second.url)  # only the part after # differs, so the page is not loaded again
        tab.wait_for_selector("#notice >> text=The studio was started again.")
        assert tab.locator("#connection").inner_text() == "Study “study”"
        assert "token" not in tab.url
        assert tab.input_value("#operator") == "Ada"
        tab.check("#agreed")
        tab.click("button:text-is('Begin')")
        tab.wait_for_selector("text=Practice: press Space")


def test_a_closed_tab_pauses_the_world_and_keeps_what_was_recorded(
    browser: Any, server: LiveServer
) -> None:
    with open_tab(browser, server) as tab:
        begin(tab, "air-hockey")
        tab.keyboard.press("Space")
        wait_for(lambda: steps(server) >= 3)
        person = tab.evaluate("() => sessionStorage.person")
    page = server.page(person)
    page.ask("collect.state")
    while [m for m in page.messages if m["type"] == "status"][-1]["phase"] != "paused":
        page.ask("collect.state")  # the server may still be about to notice
    page.close()
    server.server.should_exit = True  # as Ctrl-C does
    wait_for(lambda: server.study.list_datasets())
    assert load(dataset_of(server.study.path)).pairs == steps(server)


def test_a_page_that_is_loaded_again_shows_its_world_and_continues(
    tab: Any, server: LiveServer
) -> None:
    begin(tab, "air-hockey")
    tab.keyboard.press("Space")
    wait_for(lambda: steps(server) >= 3)
    tab.reload()
    tab.wait_for_selector("text=Press Space or Continue")
    tab.wait_for_function(
        """() => {
          const canvas = document.querySelector("#collect canvas.scene");
          const [x, y] = [canvas.width / 2, canvas.height / 2];
          return canvas.getContext("2d").getImageData(x, y, 1, 1).data[3] > 0;
        }"""
    )
    count = steps(server)
    tab.keyboard.press("Space")
    wait_for(lambda: steps(server) >= count + 3)
    assert len(finish(tab, server).steps) >= count + 3  # one episode


def test_a_gamepad_that_is_unplugged_asks_for_rest(tab: Any, server: LiveServer) -> None:
    begin(tab, "air-hockey")
    tab.keyboard.press("Space")
    tab.evaluate("() => { window.pad.axes = [0, -1, 0, 0]; }")
    tab.wait_for_function("() => window.sent.length")
    wait_for_steps(tab, server, 2)
    tab.evaluate("() => { navigator.getGamepads = () => [null]; }")
    tab.wait_for_function("() => window.sent.length > 1")
    wait_for_steps(tab, server, 3)
    actions = [step["action"] for step in finish(tab, server).steps]
    assert [0.0, 1.0] in actions
    assert actions[-1] == [0.0, 0.0]
