"""A real browser on the studio: tabs that fail on errors, and what a scripted person does."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from counterbc.data.demonstrations import Demonstrations
from counterbc.data.episode import Episode
from counterbc.studio.journal import read_session
from tests.browser import watch_errors
from tests.studio.clients import LiveServer, load_recording, wait_for
from tests.studio.processes import StudioProcess

PACE = {world: {"speed": "0.25"} for world in ("intersection", "cartpole")}
"""Worlds whose episodes last two seconds or less run slower, as a busy machine may not keep up."""
PHONE = {"width": 375, "height": 740}

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


def filmed_demos() -> Demonstrations:
    """Return six episodes of ten numbers and two cameras; see `film_colour`."""
    rng = np.random.default_rng(0)
    images = {f"camera_{i}": np.full((30, 48, 64, 3), 40 + 60 * i, np.uint8) for i in range(2)}
    for frames in images.values():
        for t, frame in enumerate(frames):
            frame[10:20, 2 * t : 2 * t + 10] = film_colour(t)
    episodes = tuple(
        Episode(
            np.cumsum(rng.normal(size=(30, 10)), axis=0), rng.uniform(size=(30, 2)), images=images,
            operator="Ada",
        )
        for _ in range(6)
    )  # fmt: skip
    return Demonstrations(episodes, rate=10.0)


def film_colour(step: int) -> tuple[int, int, int]:
    """Return the colour of the square that moves to the right, two pixels with each step."""
    return 255, 255 - 8 * step, 0


@contextmanager
def open_tab(browser: Any, server: LiveServer | StudioProcess, **options: Any) -> Iterator[Any]:
    """Open a tab on the printed address; whatever the page reports as an error is a failure."""
    context = browser.new_context(**{"viewport": {"width": 1280, "height": 900}, **options})
    page = context.new_page()
    errors = watch_errors(page)
    page.add_init_script(GAMEPAD + SENT)
    page.goto(server.access.url)
    page.wait_for_selector("#operator")
    yield page
    context.close()
    assert [e for e in errors if "WebSocket connection" not in e] == []  # a test cuts it


def fill_form(tab: Any, world: str, operator: str = "Ada", **options: str) -> None:
    """Fill in the form and begin; `options` are fields under "More options"."""
    tab.check(f"input[value='{world}']")
    tab.fill("#operator", operator)
    tab.select_option("#protocol", options.pop("protocol", "free"))
    if options:
        tab.click("summary")
    for name, value in options.items():
        tab.select_option(f"#{name}", value)
    tab.check("#agreed")
    tab.click("button:text-is('Begin')")


def begin(tab: Any, world: str, operator: str = "Ada", **options: str) -> None:
    """Fill in the form and end the practice."""
    fill_form(tab, world, operator, **options)
    tab.click("button:text-is('Record now')")
    tab.wait_for_selector("text=record episode 1")


def steps(server: LiveServer) -> int:
    """Return how many steps are in the journals so far."""
    journals = (server.study.path / "journal").rglob("*.jsonl")
    return sum(path.read_bytes().count(b'"time"') for path in journals)


def wait_for_steps(tab: Any, server: LiveServer, count: int) -> None:
    """Wait for this many further steps, or for the end of the first episode."""
    before = steps(server)
    wait_for(lambda: steps(server) >= before + count or is_over(tab))


def is_over(tab: Any) -> bool:
    """Return whether the first episode is over."""
    return bool(tab.locator("text=record episode 2").count())


def finish(tab: Any, server: LiveServer) -> Any:
    """Finish the session and return the journal of its only episode."""
    tab.click("button:text-is('Finish session')")
    tab.wait_for_selector("text=Thank you")
    wait_for(lambda: server.study.list_datasets())
    (folder,) = (server.study.path / "journal").iterdir()
    (journal,) = read_session(folder)
    np.testing.assert_array_equal(
        load_recording(server.study).action,
        np.array([s["action"] for s in journal.steps], np.float32),
    )
    return journal


def check_sent(tab: Any, journal: Any, device: str, *, tolerance: float = 0.0) -> None:
    """Check that each recorded action is one that the device sent, in the order it sent them."""
    messages = [m["action"] for m in tab.evaluate("() => window.sent") if m["device"] == device]
    sent_actions = np.array(messages, np.float32)
    device_steps = [s for s in journal.steps if s["device"] == device]
    assert device_steps, "no step was taken with this device"
    position = 0
    for step in device_steps:
        distances = np.abs(sent_actions[position:] - step["action"]).max(axis=1)
        assert (distances <= tolerance).any(), f"{step['action']} was not sent after those before"
        position += int(np.argmax(distances <= tolerance))
