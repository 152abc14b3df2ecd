"""Car Racing in a real browser: a page that draws slowly does not slow the world down."""

from __future__ import annotations

from typing import Any

import pytest

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
        first, pictures = steps(server), tab.evaluate("() => window.pictures")
        wait_for(lambda: steps(server) >= first + STEPS)
        step_count, picture_count = (
            steps(server) - first,
            tab.evaluate("() => window.pictures") - pictures,
        )
        tab.evaluate("() => { window.periods = 0; }")
        tab.keyboard.up("ArrowUp")
        tab.keyboard.press("Space")
        tab.wait_for_selector("text=Paused")
        assert picture_count >= 1  # the picture moves on
        if periods:  # a world that waited for its pictures would take one step for each
            assert step_count > 3 * picture_count
        wait_for(lambda: shown_time(tab) == f"{steps(server) / 50:.1f} s")  # the newest state
        assert tab.evaluate(PICTURE) != first_picture
        journal = finish(tab, server)
        check_sent(tab, journal, "keyboard")
        assert [0.0, 1.0, 0.0] in [s["action"] for s in journal.steps]
