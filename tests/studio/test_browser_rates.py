"""Car Racing in a real browser: a page that draws slowly does not slow the world down."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

from counterbc.acting.clock import WallClock
from counterbc.studio.collecting import Collecting
from counterbc.studio.protocol import FREE, Plan
from counterbc.studio.study_folder import StudyFolder
from tests.studio.browsers import begin, check_sent, finish, open_tab, steps
from tests.studio.clients import LiveServer, wait_for

pytestmark = [
    pytest.mark.slow,
    pytest.mark.needs("playwright"),
    pytest.mark.needs("envpool"),
]

# Count the pictures, and let each take as long as this many steps of the world.
SLOW_PICTURES = """(periods) => {
  window.pictures = 0;
  window.periods = periods;
  const draw = CanvasRenderingContext2D.prototype.drawImage;
  CanvasRenderingContext2D.prototype.drawImage = function (...values) {
    window.pictures += 1;
    const end = performance.now() + 20 * window.periods;
    while (performance.now() < end);
    return draw.apply(this, values);
  };
}"""
PICTURE = "() => document.querySelector('#collect canvas.scene').toDataURL()"
STEPS = 60
RATE = 50
SHARE = 0.6
"""The least share of the rate that the same world has at the same time without a page."""


@contextmanager
def world_without_a_page(study: StudyFolder) -> Iterator[list[float]]:
    """Practise Car Racing in this process; the list grows with the time of each step."""
    plan = Plan(world="car-racing", operator="Bob", protocol_name="free", protocol=FREE)
    times = list[float]()
    session = Collecting(
        study, plan, WallClock(), send=lambda _: None,
        draw=lambda _: times.append(time.perf_counter()),
    )  # fmt: skip
    session.start()
    try:
        yield times
    finally:
        session.close()


def steps_per_second(times: Any) -> float:
    """Return the mean rate of steps at these times."""
    return (len(times) - 1) / float(times[-1] - times[0])


def shown_time(tab: Any) -> str:
    """Return the time of the episode on the page. The journal may be a moment behind it."""
    return str(tab.inner_text("#collect dd.time"))


@pytest.mark.parametrize("periods", [0, 40])
def test_car_racing_keeps_its_rate_however_slowly_the_page_draws(
    browser: Any, server: LiveServer, periods: int
) -> None:
    with open_tab(browser, server) as tab:
        begin(tab, "car-racing")
        tab.evaluate(SLOW_PICTURES, periods)
        tab.keyboard.press("Space")
        tab.keyboard.down("ArrowUp")
        wait_for(lambda: steps(server) >= 3)
        first_picture = tab.evaluate(PICTURE)
        with world_without_a_page(server.study) as times:
            first, pictures = steps(server), tab.evaluate("() => window.pictures")
            wait_for(lambda: steps(server) >= first + STEPS)
            last, picture_count = steps(server), tab.evaluate("() => window.pictures") - pictures
        tab.evaluate("() => { window.periods = 0; }")
        tab.keyboard.up("ArrowUp")
        tab.keyboard.press("Space")
        tab.wait_for_selector("text=Paused")
        assert picture_count >= 1  # the picture moves on
        if periods:  # a world that waited for its pictures would take one step for each
            assert last - first > 3 * picture_count
        wait_for(lambda: shown_time(tab) == f"{steps(server) / 50:.1f} s")  # the newest state
        assert tab.evaluate(PICTURE) != first_picture
        journal = finish(tab, server)
        check_sent(tab, journal, "keyboard")
        assert [0.0, 1.0, 0.0] in [s["action"] for s in journal.steps]
    now, late = (np.array([s[key] for s in journal.steps[:last]]) for key in ("time", "late"))
    assert steps_per_second(now[first:]) > SHARE * steps_per_second(times)
    # Each tick is due one period after the one before, or after when that came if it came too late.
    before = np.where(late > 1 / RATE, now, now - late)[:-1]
    np.testing.assert_allclose(now[1:] - late[1:] - before, 1 / RATE, atol=1e-5)
