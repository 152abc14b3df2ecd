"""Collect's buttons in a real browser: a click never does something else than a moment before."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from counterbc.studio.journal import read_session
from counterbc.studio.protocol import PAPER, Protocol
from tests.studio.browsers import begin, fill_form, open_tab, wait_for_steps
from tests.studio.clients import LiveServer, wait_for

pytestmark = [pytest.mark.slow, pytest.mark.needs("playwright")]


@pytest.fixture
def step_tab(browser: Any, step_server: LiveServer) -> Iterator[Any]:
    """A tab of a server whose worlds step once for each input."""
    with open_tab(browser, step_server) as page:
        yield page


def places(tab: Any) -> dict[str, list[float]]:
    """Return left, top, width and height of each button, by its text."""
    boxes: list[tuple[str, list[float]]] = tab.evaluate(
        """() => [...document.querySelectorAll(".session button")].map((button) => {
          const { x, y, width, height } = button.getBoundingClientRect();
          return [button.textContent, [x, y, width, height]]; })"""
    )  # at once, as a message may draw the buttons again
    return dict(boxes)


def usable(tab: Any) -> list[str]:
    """Return the texts of the buttons that can be clicked."""
    return tab.locator(".session button:enabled").all_inner_texts()  # type: ignore[no-any-return]


def start(tab: Any) -> None:
    """Start an episode, and wait until its time is shown above the buttons."""
    tab.click("button:text-is('Start')")
    tab.wait_for_selector("button:text-is('Pause')")
    tab.wait_for_selector("dd.time")


def steer_to_the_end(tab: Any) -> None:
    """Steer until the episode ends by itself, and the session with it."""

    def is_finished() -> bool:
        tab.keyboard.press("ArrowUp")
        return bool(tab.locator("text=Thank you").count())

    wait_for(is_finished)
    tab.wait_for_selector("dd.saved-in:text-matches('hdf5$')")


def test_buttons_keep_their_places_when_an_episode_ends(tab: Any, server: LiveServer) -> None:
    """An episode may end by itself just before a click, which must not do something else then."""
    begin(tab, "air-hockey")
    assert usable(tab) == ["Start", "Finish session"]
    start(tab)
    wait_for_steps(tab, server, 1)
    running = places(tab)
    assert usable(tab) == list(running)
    tab.click("button:text-is('End episode')")
    tab.wait_for_selector("text=record episode 2")
    over = places(tab)
    assert "End episode" not in usable(tab)
    assert list(over)[1:3] == list(running)[1:3] == ["Success", "Failure"]
    assert list(over)[4:] == list(running)[4:] == ["End episode", "Finish session"]
    assert list(over.values()) == list(running.values())


def test_buttons_keep_their_places_when_the_last_episode_ends_the_session(
    step_tab: Any, step_server: LiveServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The last episode can still be marked and discarded, and the next operator comes after it."""
    monkeypatch.setitem(PAPER, "air-hockey", Protocol(episodes=1, episode_steps=10))
    begin(step_tab, "air-hockey", protocol="paper")
    for is_first in (True, False):
        start(step_tab)
        running = places(step_tab)
        steer_to_the_end(step_tab)
        over = places(step_tab)
        assert list(over.values())[: len(running)] == list(running.values())
        assert list(over)[-2:] == ["Next operator", "Same operator again"]
        assert usable(step_tab) == ["Success", "Failure", "Discard last episode", *list(over)[-2:]]
        for mark in ("Success", "Failure"):
            step_tab.click(f"button:text-is('{mark}')")
            step_tab.wait_for_selector(f"dd.last-episode:text-is('{mark.lower()}')")
        if is_first:
            step_tab.click("button:text-is('Discard last episode')")
            step_tab.wait_for_selector("text=record episode 1")
    step_tab.click("button:text-is('Next operator')")
    step_tab.wait_for_selector("#operator")
    (folder,) = (step_server.study.path / "journal").iterdir()
    wait_for(lambda: [e.success for e in read_session(folder)] == [False, False])
    assert [e.is_discarded for e in read_session(folder)] == [True, False]


def test_a_second_click_on_finish_session_leaves_the_page_as_it_is(tab: Any) -> None:
    for is_practice in (True, False):
        fill = fill_form if is_practice else begin
        fill(tab, "air-hockey")
        tab.wait_for_selector("button:text-is('Finish session')")
        before = places(tab)
        x, y, *_ = before["Finish session"]
        for _ in range(2):
            tab.mouse.click(x + 9, y + 9)
            tab.wait_for_selector("text=Thank you")
        over = places(tab)
        assert list(over)[: len(before)] == list(before)
        assert list(over.values())[: len(before)] == list(before.values())
        tab.click("button:text-is('Same operator again')")
        tab.wait_for_selector("#operator")
