"""Watch in a real browser draws what policies do that were trained on recordings of each world."""

from __future__ import annotations

from typing import Any

import pytest

from counterbc.trainer import train
from tests.studio.browsers import PACE, begin, finish, is_over, steps
from tests.studio.clients import WORLDS, LiveServer, load_recording, wait_for

pytestmark = [pytest.mark.slow, pytest.mark.needs("playwright")]

PICTURE = "(canvas) => canvas.toDataURL()"
PAIRS = 12


@pytest.mark.parametrize("world", WORLDS)
def test_a_policy_trained_on_a_recording_is_drawn_in_watch(
    tab: Any, server: LiveServer, world: str
) -> None:
    begin(tab, world, **PACE.get(world, {}))
    tab.keyboard.press("Space")
    wait_for(lambda: steps(server) >= PAIRS or is_over(tab))
    finish(tab, server)
    train(
        load_recording(server.study), "bc", steps=10, lag=0, ensemble=1, progress=False,
        out=server.study.path / "runs" / "bc",
    )  # fmt: skip
    tab.click("nav >> text=Watch")
    tab.check("input[value='runs/bc']")
    tab.click("button:text-is('Watch')")
    tab.wait_for_selector("text=/return .* after [1-9]/")
    tab.click("button:text-matches('Pause|Continue')")  # one of them, as it may be over
    canvas = tab.locator("#watch canvas.scene")
    early_picture = canvas.evaluate(PICTURE)
    colours = canvas.evaluate("""(canvas) => {
      const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
      return new Set(new Uint32Array(data.buffer)).size;
    }""")
    assert colours >= 4  # a world, and not a blank panel
    tab.click("button:text-is('New start')")
    tab.wait_for_function(
        "([selector, before]) => document.querySelector(selector).toDataURL() !== before",
        arg=["#watch canvas.scene", early_picture],
    )
