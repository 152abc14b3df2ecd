"""A scripted person in a real browser: keyboard, mouse and gamepad, and what ends up on disk."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from counterbc.formats import load
from counterbc.studio.journal import read_session
from counterbc.trainer import train
from tests.studio.clients import LiveServer, dataset_of, wait_for

pytestmark = [pytest.mark.slow, pytest.mark.needs("playwright")]

CHROMIUM = "/usr/bin/chromium"
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip
PATIENCE = 60_000  # milliseconds

GAMEPAD = """
window.pad = { index: 0, axes: [0, 0, 0, 0], connected: true, mapping: "standard",
  buttons: Array.from({ length: 17 }, () => ({ pressed: false, value: 0 })) };
navigator.getGamepads = () => [window.pad];
"""
SENT = """
window.sent = [];
const send = WebSocket.prototype.send;
WebSocket.prototype.send = function (text) {
  const message = JSON.parse(text);
  if (message.type.endsWith(".input")) window.sent.push(message);
  return send.call(this, text);
};
"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        yield running
        running.close()


@pytest.fixture
def tab(browser: Any, server: LiveServer) -> Iterator[Any]:
    """A tab on the printed address; anything that the page reports as an error fails the test."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page, errors = context.new_page(), list[str]()
    page.set_default_timeout(PATIENCE)
    page.add_init_script(GAMEPAD + SENT)
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda m: errors.append(m.text) if m.type == "error" else None)
    page.goto(server.access.url)
    page.wait_for_selector("#operator")
    yield page
    context.close()
    assert [e for e in errors if "WebSocket connection" not in e] == []  # a test cuts it


def begin(tab: Any, world: str, operator: str = "Ada") -> None:
    """Fill in the form and end the practice."""
    tab.check(f"input[value='{world}']")
    tab.fill("#operator", operator)
    tab.select_option("#protocol", "free")
    tab.check("#agreed")
    tab.click("button:text-is('Begin')")
    tab.click("button:text-is('Record now')")
    tab.wait_for_selector("text=record episode 1")


def steps(server: LiveServer) -> int:
    """Return how many steps are in the journals so far."""
    journals = (server.study.path / "journal").rglob("*.jsonl")
    return sum(path.read_bytes().count(b'"time"') for path in journals)


def finish(tab: Any, server: LiveServer) -> Any:
    """Finish the session and return the journal of its only episode."""
    tab.click("button:text-is('Finish session')")
    tab.wait_for_selector("text=Thank you")
    wait_for(lambda: server.study.list_datasets())
    (folder,) = (server.study.path / "journal").iterdir()
    (journal,) = read_session(folder)
    demos = load(dataset_of(server.study.path), **_images(journal))
    np.testing.assert_array_equal(
        demos.action, np.array([s["action"] for s in journal.steps], np.float32)
    )
    return journal


def _images(journal: Any) -> dict[str, Any]:
    return {"obs": ("image",)} if journal.header["image"] else {}


def check_sent(tab: Any, journal: Any, device: str, *, exact: bool = True) -> None:
    """Check that each recorded action is one that the device sent, in the order it sent them."""
    messages = [m["action"] for m in tab.evaluate("() => window.sent") if m["device"] == device]
    sent_actions = [tuple(np.array(action, np.float32).tolist()) for action in messages]
    device_steps = [s for s in journal.steps if s["device"] == device]
    assert device_steps, "no step was taken with this device"
    position = 0
    for step in device_steps:
        action = tuple(step["action"])
        if exact:
            position = sent_actions.index(action, position)
        else:  # projected to a disc, where a rounding of the last digit may differ
            distances = np.abs(np.array(sent_actions) - action).max(axis=1)
            assert distances.min() < 1e-6


EXACT = {"cartpole": True, "air-hockey": True, "push-t": True, "car-racing": True}


@pytest.mark.parametrize(
    "world", ["intersection", "cartpole", "air-hockey", "push-t", "car-racing"]
)
def test_an_episode_by_keyboard_is_what_was_sent(tab: Any, server: LiveServer, world: str) -> None:
    begin(tab, world)
    tab.keyboard.press("Space")
    for key in ("ArrowRight", "ArrowUp", "ArrowLeft"):
        tab.keyboard.down(key)
        before = steps(server)
        wait_for(partial(_has_moved_on, tab, server, before + 2))
        tab.keyboard.up(key)
    journal = finish(tab, server)
    check_sent(tab, journal, "keyboard", exact=EXACT.get(world, False))
    latencies = [s["latency"] for s in journal.steps if s["latency"] is not None]
    assert latencies, "no input had a latency"
    assert min(latencies) >= 0


def _has_moved_on(tab: Any, server: LiveServer, count: int) -> bool:
    return steps(server) >= count or _is_over(tab)


def _is_over(tab: Any) -> bool:
    return bool(tab.locator("text=record episode 2").count())


@pytest.mark.parametrize(
    "world", ["intersection", "cartpole", "air-hockey", "push-t", "car-racing"]
)
def test_an_episode_by_mouse_is_what_was_sent(tab: Any, server: LiveServer, world: str) -> None:
    begin(tab, world)
    box = tab.locator("#collect canvas.scene").bounding_box()
    tab.keyboard.press("Space")
    tab.mouse.move(box["x"] + 0.6 * box["width"], box["y"] + 0.4 * box["height"])
    tab.mouse.down()
    before = steps(server)
    wait_for(lambda: steps(server) >= before + 3 or _is_over(tab))
    tab.mouse.up()
    journal = finish(tab, server)
    check_sent(tab, journal, "pointer", exact=False)


@pytest.mark.parametrize(
    "world", ["intersection", "cartpole", "air-hockey", "push-t", "car-racing"]
)
def test_an_episode_by_gamepad_is_what_was_sent(tab: Any, server: LiveServer, world: str) -> None:
    begin(tab, world)
    press = "([i, on]) => { window.pad.buttons[i] = { pressed: on, value: on ? 1 : 0 }; }"
    tab.evaluate(press, [9, True])  # Start
    tab.wait_for_selector("button:text-is('Pause')")
    tab.evaluate(press, [9, False])
    tab.evaluate("() => { window.pad.axes = [0.5, -0.25, 0, 0]; }")
    before = steps(server)
    wait_for(lambda: steps(server) >= before + 3 or _is_over(tab))
    journal = finish(tab, server)
    check_sent(tab, journal, "gamepad", exact=False)
    reference = {"intersection": [0.5, 0.25], "cartpole": [0.5], "air-hockey": [0.5, 0.25]}
    if world in reference:
        assert any(np.allclose(s["action"], reference[world]) for s in journal.steps)


def test_names_are_text_and_never_markup(tab: Any, server: LiveServer) -> None:
    begin(tab, "cartpole", operator="<img src=x onerror=alert(1)>")
    assert tab.locator("dd.operator").inner_text() == "<img src=x onerror=alert(1)>"
    assert tab.locator("#collect img").count() == 0


def test_the_token_does_not_stay_in_the_address(tab: Any) -> None:
    assert "token" not in tab.url


def test_a_lost_socket_is_said_and_the_session_continues(tab: Any, server: LiveServer) -> None:
    begin(tab, "air-hockey")
    tab.keyboard.press("Space")
    wait_for(lambda: steps(server) >= 3)
    tab.context.set_offline(True)
    for connection in list(server.server.server_state.connections):
        connection.transport.abort()
    tab.wait_for_selector("text=Connection lost")
    tab.wait_for_timeout(5000)
    count = steps(server)
    tab.context.set_offline(False)
    tab.wait_for_selector("text=Press Space to continue")
    assert steps(server) == count  # the world was paused
    tab.locator("#collect canvas.scene").focus()
    tab.keyboard.press("Space")
    wait_for(lambda: steps(server) >= count + 3)
    assert len(finish(tab, server).steps) >= count + 3


def test_everything_can_be_reached_with_the_keyboard(tab: Any) -> None:
    for _ in range(40):
        tab.keyboard.press("Tab")
        if tab.evaluate("() => document.activeElement.textContent") == "Begin":
            break
    else:
        raise AssertionError("the button Begin was not reached")
    unlabelled = tab.evaluate("""() => [...document.querySelectorAll("input, select, canvas")]
      .filter((e) => !e.labels?.length && !e.getAttribute("aria-label")).map((e) => e.outerHTML)""")
    assert unlabelled == []


def test_a_policy_trained_on_a_recording_acts_in_watch(
    tab: Any, server: LiveServer, tmp_path: Path
) -> None:
    begin(tab, "cartpole")
    tab.keyboard.press("Space")
    wait_for(lambda: steps(server) >= 12 or _is_over(tab))
    finish(tab, server)
    demos = load(dataset_of(server.study.path))
    (server.study.path / "runs").mkdir()
    for method in ("bc", "counter-bc"):
        train(
            demos, method, steps=50, radius=0.2, lag=0, ensemble=1, progress=False,
            out=server.study.path / "runs" / method,
        )  # fmt: skip
    tab.click("nav >> text=Watch")
    tab.check("input[value='runs/bc']")
    tab.check("input[value='runs/counter-bc']")
    tab.click("button:text-is('Watch')")
    tab.wait_for_selector("text=/return [1-9].* after .* steps, over/")
    assert tab.locator("#watch canvas.scene").count() == 2


def test_look_redraws_the_meant_actions_for_every_radius(tab: Any, server: LiveServer) -> None:
    from counterbc.demonstrators import demonstrate, find_teacher

    teacher = find_teacher(None, "uniform", 0.3, world="cartpole")
    demonstrate("cartpole", teacher, 400, 0).save(server.study.path / "demos.hdf5")
    tab.click("nav >> text=Look")
    tab.wait_for_selector("#dataset option", state="attached")
    tab.click("button:text-is('Open')")
    said = tab.locator("text=/meant actions lie 0\\.[0-9]* from/")
    said.wait_for()
    texts = []
    for radius in ("0", "0.1", "0.4"):
        tab.locator("#radius").fill(radius)
        tab.wait_for_timeout(700)
        texts.append(said.inner_text())
    assert "0.000" in texts[0]
    assert len(set(texts)) == 3
    tab.wait_for_selector("text=/Step 0: the loss/")
