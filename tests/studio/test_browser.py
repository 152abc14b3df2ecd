"""A scripted person in a real browser: every device, and what ends up on disk."""

from __future__ import annotations

import csv
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from counterbc.commands.studio import Studio
from counterbc.formats import load
from counterbc.studio.journal import read_session
from counterbc.trainer import train
from tests.browser import PATIENCE
from tests.studio.browsers import (
    PACE,
    PHONE,
    begin,
    check_sent,
    fill_form,
    finish,
    is_over,
    open_tab,
    steps,
    wait_for_steps,
)
from tests.studio.clients import WORLDS, LiveServer, dataset_of, wait_for

pytestmark = [pytest.mark.slow, pytest.mark.needs("playwright")]

TOLERANCE = {"intersection": 1e-6}
"""Worlds that project actions to a disc, where a rounding of the last digit may differ."""


@pytest.mark.parametrize("world", WORLDS)
def test_an_episode_by_keyboard_is_what_was_sent(tab: Any, server: LiveServer, world: str) -> None:
    begin(tab, world, **PACE.get(world, {}))
    tab.keyboard.press("Space")
    for key in ("ArrowRight", "ArrowUp", "ArrowLeft"):
        tab.keyboard.down(key)
        wait_for_steps(tab, server, 2)
        tab.keyboard.up(key)
    journal = finish(tab, server)
    check_sent(tab, journal, "keyboard", tolerance=TOLERANCE.get(world, 0.0))
    check_latencies(tab, journal)


def check_latencies(tab: Any, journal: Any) -> None:
    """Check that each latency is the time from an event of the page to the step that acts on it.

    The journal counts from the first step, and the page by the server's clock: the two differ by
    the same time for all inputs. A latency of 0 may be one that was cut there.
    """
    sent_times = np.array([m["at"] for m in tab.evaluate("() => window.sent")])
    events = np.array([1000 * s["time"] - s["latency"] for s in journal.steps if s["latency"]])
    assert len(events) >= 2, "too few inputs had a latency"
    errors = [
        np.abs((events + start)[:, None] - sent_times).min(axis=1).max()
        for start in sent_times - events[0]
    ]
    assert min(errors) < 0.01  # milliseconds


def test_the_latency_counts_from_the_event_however_late_the_page_handles_it(
    tab: Any, server: LiveServer
) -> None:
    begin(tab, "air-hockey")
    tab.keyboard.press("Space")
    wait_for_steps(tab, server, 2)
    tab.evaluate("""() => addEventListener("keydown", () => {
      const end = performance.now() + 300;
      while (performance.now() < end);
    }, true)""")  # before the page's own listener
    tab.keyboard.down("ArrowUp")
    wait_for_steps(tab, server, 3)
    (latency, *_) = [s["latency"] for s in finish(tab, server).steps if s["latency"] is not None]
    assert latency >= 299


@pytest.mark.parametrize("world", WORLDS)
def test_an_episode_by_mouse_is_what_was_sent(tab: Any, server: LiveServer, world: str) -> None:
    begin(tab, world, **PACE.get(world, {}))
    box = tab.locator("#collect canvas.scene").bounding_box()
    tab.keyboard.press("Space")
    tab.mouse.move(box["x"] + 0.6 * box["width"], box["y"] + 0.4 * box["height"])
    tab.mouse.down()
    wait_for_steps(tab, server, 3)
    tab.mouse.up()
    check_sent(tab, finish(tab, server), "pointer", tolerance=TOLERANCE.get(world, 0.0))


@pytest.mark.parametrize("world", WORLDS)
def test_an_episode_by_touch_is_what_was_sent(browser: Any, server: LiveServer, world: str) -> None:
    with open_tab(browser, server, viewport=PHONE, has_touch=True, is_mobile=True) as tab:
        begin(tab, world, **PACE.get(world, {}))
        canvas = tab.locator("#collect canvas.scene")
        canvas.scroll_into_view_if_needed()
        tab.tap("button:text-is('Start')")
        canvas.scroll_into_view_if_needed()
        box, scroll = canvas.bounding_box(), tab.evaluate("() => scrollY")
        finger = tab.context.new_cdp_session(tab)

        def touch(kind: str, *points: tuple[float, float]) -> None:
            places = [
                {"x": box["x"] + u * box["width"], "y": box["y"] + v * box["height"]}
                for u, v in points
            ]
            event = {"type": kind, "touchPoints": places}
            finger.send("Input.dispatchTouchEvent", event)

        touch("touchStart", (0.5, 0.4))
        wait_for_steps(tab, server, 2)
        touch("touchMove", (0.8, 0.8))  # which would scroll the page anywhere else
        wait_for_steps(tab, server, 2)
        touch("touchEnd")
        assert tab.evaluate("() => scrollY") == scroll
        messages = tab.evaluate("() => window.sent")
        check_sent(tab, finish(tab, server), "pointer", tolerance=TOLERANCE.get(world, 0.0))
        assert len({tuple(m["action"]) for m in messages}) >= 2  # the finger steered


@pytest.mark.parametrize("world", WORLDS)
def test_an_episode_by_gamepad_is_what_was_sent(tab: Any, server: LiveServer, world: str) -> None:
    begin(tab, world, **PACE.get(world, {}))
    press = "([i, on]) => { window.pad.buttons[i] = { pressed: on, value: on ? 1 : 0 }; }"
    tab.evaluate(press, [9, True])  # Start
    tab.wait_for_selector("button:text-is('Pause')")
    tab.evaluate(press, [9, False])
    tab.evaluate("() => { window.pad.axes = [0.5, -0.25, 0, 0]; }")
    wait_for_steps(tab, server, 3)
    journal = finish(tab, server)
    check_sent(tab, journal, "gamepad", tolerance=TOLERANCE.get(world, 0.0))
    reference = {"intersection": [0.5, 0.25], "cartpole": [0.5], "air-hockey": [0.5, 0.25]}
    if world in reference:
        assert any(np.allclose(s["action"], reference[world]) for s in journal.steps)


def test_names_are_text_and_never_markup(tab: Any, server: LiveServer) -> None:
    begin(tab, "cartpole", operator="<img src=x onerror=alert(1)>")
    assert tab.locator("dd.operator").inner_text() == "<img src=x onerror=alert(1)>"
    assert tab.locator("#collect img").count() == 0


def test_the_token_does_not_stay_in_the_address(tab: Any) -> None:
    assert "token" not in tab.url


def test_the_file_that_a_browser_is_given_leads_to_the_page(
    browser: Any, server: LiveServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = list[str]()
    monkeypatch.setattr("webbrowser.open", opened.append)
    Studio(server.study.path)._announce(server.access, [])
    page = browser.new_page()
    page.goto(opened[0])
    page.wait_for_selector("#operator", timeout=PATIENCE)
    page.close()


def test_keys_work_after_every_button_of_a_session(tab: Any, server: LiveServer) -> None:
    begin(tab, "air-hockey")
    tab.click("button:text-is('Start')")
    wait_for_steps(tab, server, 2)
    tab.click("button:text-is('End episode')")
    tab.wait_for_selector("text=Press Space or Start to record episode 2")
    tab.keyboard.press("Space")  # starts, and does not press the button that took the place
    tab.wait_for_selector("button:text-is('Pause')")
    wait_for_steps(tab, server, 2)
    tab.locator("button:text-is('Pause')").focus()
    tab.keyboard.press("y")
    tab.wait_for_selector("text=Press Space or Start to record episode 3")
    assert tab.locator("dd.last-episode").inner_text() == "success"
    tab.locator("button:text-is('Failure')").focus()
    tab.evaluate("""() => document.activeElement.dispatchEvent(new KeyboardEvent(
      "keydown", { key: "n", code: "KeyB", bubbles: true }))""")  # a keyboard with other letters
    tab.wait_for_selector("dd.last-episode:text-is('failure')")
    tab.keyboard.press("Delete")
    tab.wait_for_selector("text=Press Space or Start to record episode 2")


def test_a_key_that_is_held_before_an_episode_steers_in_it(tab: Any, server: LiveServer) -> None:
    begin(tab, "air-hockey")
    tab.keyboard.down("ArrowUp")
    tab.keyboard.press("Space")
    wait_for_steps(tab, server, 5)
    tab.keyboard.press("Space")
    tab.wait_for_selector("text=Paused")
    count = len(tab.evaluate("() => window.sent"))
    tab.keyboard.press("Space")
    tab.wait_for_selector("button:text-is('Pause')")
    wait_for_steps(tab, server, 5)
    again = [m["action"] for m in tab.evaluate("() => window.sent")[count:]]
    assert again == [[0, 1]]  # the server forgets what was held when it pauses
    tab.keyboard.up("ArrowUp")
    journal = finish(tab, server)
    assert [0.0, 1.0] in [s["action"] for s in journal.steps]


@pytest.mark.parametrize("format", ["robomimic", "lerobot", "minari"])
def test_a_study_of_two_operators_follows_the_protocol_in_every_format(
    tab: Any, server: LiveServer, format: str
) -> None:
    """Practise, record, pause, mark, discard, and let the next operator do the same."""
    for operator in ("Ada", "Bob"):
        if operator == "Ada":
            fill_form(tab, "air-hockey", operator, protocol="paper", format=format)
        else:  # everything but name and consent is as before
            tab.keyboard.type(operator)
            tab.check("#agreed")
            tab.click("button:text-is('Begin')")
        assert tab.locator("dd.practice-left").inner_text() == "5:00"
        before = steps(server)
        tab.keyboard.press("Space")
        tab.wait_for_function(
            "() => parseFloat(document.querySelector('dd.time')?.textContent) > 0"
        )
        tab.click("button:text-is('Record now')")
        tab.wait_for_selector("text=record episode 1")
        assert steps(server) == before  # practice leaves no trace
        for mark in ("Success", "Failure", "Discard this episode"):
            tab.click("button:text-is('Start')")
            wait_for_steps(tab, server, 2)
            tab.click("button:text-is('Pause')")
            tab.wait_for_selector("text=Paused. Press Space or Continue.")
            tab.click("button:text-is('Continue')")
            tab.click(f"button:text-is('{mark}')")
            tab.wait_for_selector("button:text-is('Start')")
        assert tab.locator("dd.episodes").inner_text() == "2"
        assert re.fullmatch(r"\d+ of 2400", tab.locator("dd.pairs").inner_text())
        tab.click("button:text-is('Finish session')")
        tab.wait_for_selector("text=Thank you")
        tab.click("button:text-is('Next operator')")
    wait_for(lambda: len(server.study.list_datasets()) == 2)
    for operator, path in zip(("Ada", "Bob"), server.study.list_datasets().values(), strict=True):
        journals = [e for e in read_session(server.study.journal(path.stem)) if not e.is_discarded]
        wait_for(lambda path=path: len(load(path).episodes) == 2)  # type: ignore[misc]
        demos = load(path)
        assert demos.operators == (operator,)
        assert [e.success for e in demos.episodes] == [True, False]
        for episode, journal in zip(demos.episodes, journals, strict=True):
            np.testing.assert_array_equal(episode.obs, journal.obs)
            assert len(journal.steps) == len(episode)
        if format != "robomimic":
            with path.with_name(f"{path.name}.timing.csv").open(newline="") as file:
                rows = list(csv.DictReader(file))
            assert [row["device"] for row in rows] == [
                s["device"] for j in journals for s in j.steps
            ]
            assert all(float(row["time"]) >= 0 for row in rows)


def test_a_policy_trained_on_a_recording_acts_in_watch(
    tab: Any, server: LiveServer, tmp_path: Path
) -> None:
    begin(tab, "cartpole")
    tab.keyboard.press("Space")
    wait_for(lambda: steps(server) >= 12 or is_over(tab))
    finish(tab, server)
    demos = load(dataset_of(server.study.path))
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


def test_the_time_left_falls_in_practice_and_is_right_after_an_episode(
    tab: Any, server: LiveServer
) -> None:
    fill_form(tab, "air-hockey", protocol="paper")
    tab.click("button:text-is('Start')")
    tab.wait_for_selector("dd.practice-left:text-matches('^4:')")
    tab.wait_for_selector("dd.episode-left:text-matches('^0:')")
    tab.click("button:text-is('Record now')")
    tab.wait_for_selector("dd.time-left:text-is('2:00')")  # of practice nothing is subtracted
    tab.keyboard.press("Space")
    tab.wait_for_selector("dd.time-left:text-matches('^1:')")
    tab.wait_for_selector("dd.pairs:text-matches('^[1-9]')")  # the running episode counts
    tab.click("button:text-is('End episode')")
    tab.wait_for_selector("text=record episode 2")
    pairs = int(tab.locator("dd.pairs").inner_text().split()[0])
    left = -((pairs - 2400) // 20)  # at 20 steps a second, rounded up
    tab.wait_for_selector(f"dd.time-left:text-is('{left // 60}:{left % 60:02}')")
    assert 0 < pairs < 2400
