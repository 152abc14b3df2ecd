"""Look in a real browser: sliders, cameras, and more numbers than fit below each other."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from counterbc.demonstrators import demonstrate, find_teacher
from counterbc.studio.held_out_job import HeldOutResult
from tests.browser import PATIENCE
from tests.studio.browsers import film_colour, filmed_demos
from tests.studio.clients import LiveServer

pytestmark = [pytest.mark.slow, pytest.mark.needs("playwright")]


def open_dataset(tab: Any, name: str) -> None:
    """Open a dataset of the study, and wait for its first episode."""
    tab.click("nav >> text=Look")
    tab.wait_for_selector("#dataset option", state="attached")
    tab.select_option("#dataset", name)
    tab.click("button:text-is('Open')")
    tab.wait_for_selector("#look tbody tr[aria-selected=true]")


def test_look_redraws_the_meant_actions_for_every_radius_and_lag(
    tab: Any, server: LiveServer
) -> None:
    teacher = find_teacher(None, "uniform", 0.3, world="cartpole")
    demonstrate("cartpole", teacher, 400, 0).save(server.study.path / "demos.hdf5")
    open_dataset(tab, "demos.hdf5")
    line = tab.locator("text=/meant actions lie 0\\.[0-9]* from/")
    line.wait_for(timeout=4 * PATIENCE)  # policies are trained in another process
    texts = []
    for radius in ("0", "0.1", "0.4"):
        before = line.inner_text()
        tab.locator("#radius").fill(radius)
        tab.wait_for_function("(text) => !document.body.innerText.includes(text)", arg=before)
        texts.append(line.inner_text())
    assert "0.000" in texts[0]
    assert len(set(texts)) == 3
    tab.wait_for_selector("text=/Step 0: the loss/")
    assert tab.locator("#lag").get_attribute("max") == "25"  # half a second
    tab.locator("#lag").fill("1")  # which is computed before anybody asks for it
    tab.wait_for_function("(text) => !document.body.innerText.includes(text)", arg=texts[-1])
    line.wait_for(timeout=4 * PATIENCE)
    assert line.inner_text() != texts[-1]
    tab.wait_for_selector("label[for=lag] >> text=1 (0.02 s)")
    tab.wait_for_selector("text=/Step 0: the loss .* for the action demonstrated 1 step later/")
    tab.wait_for_selector("text=The policy was trained with Δ 0.2 and this lag")
    last = tab.locator("#time").get_attribute("max")
    tab.locator("#time").fill(last)
    tab.wait_for_selector(f"text=Step {last}: No action answers this state")
    tab.wait_for_selector("canvas[aria-label^=Loss]", state="hidden")


def test_a_dataset_that_cannot_be_read_leaves_the_one_before_usable(
    tab: Any, server: LiveServer
) -> None:
    filmed_demos().save(server.study.path / "cameras.npz")
    (server.study.path / "broken.hdf5").write_bytes(b"no HDF5")
    open_dataset(tab, "cameras.npz")
    tab.select_option("#dataset", "broken.hdf5")
    tab.click("button:text-is('Open')")
    tab.wait_for_selector("#notice:not([hidden])")
    tab.click("#look tbody tr[data-name=demo_2]")
    tab.wait_for_selector("#look p >> text=demo_2, by Ada")
    tab.fill("#first", "2")
    tab.click("button:text-is('Tick them')")
    tab.click("button:has-text('Exclude them')")
    tab.wait_for_selector("pre >> text=--exclude demo_0 --exclude demo_1")


def test_predictions_that_are_ready_while_the_page_is_away_are_shown_when_it_is_back(
    tab: Any, server: LiveServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    demos = filmed_demos()
    demos.save(server.study.path / "cameras.npz")
    targets: dict[str, Any] = {}

    class Waiting:
        is_running = True

        def __init__(self, function: object, arguments: object, **calls: Any) -> None:
            targets.update(calls)

        def stop(self) -> None: ...

    monkeypatch.setattr("counterbc.studio.look_room.Job", Waiting)
    open_dataset(tab, "cameras.npz")
    tab.wait_for_selector("text=Training held-out policies for a lag of 0")
    tab.context.set_offline(True)
    for connection in list(server.server.server_state.connections):
        connection.transport.abort()
    tab.wait_for_selector("text=Connection lost")
    action = demos.action.astype(float)
    targets["progress"](HeldOutResult(
        lag=0.0, predictions=0.5 * np.stack([action, action]), verdict="", operators=(),
        scores=tuple({"name": e.name, "distance": 0.5} for e in demos.episodes),
        mean=action, std=np.full(action.shape, 0.2),
    ))  # fmt: skip
    tab.context.set_offline(False)
    tab.wait_for_selector("text=/meant actions lie 0\\.[0-9]* from/")
    tab.wait_for_selector("td:text-is('0.500')")


# The colour of each camera's picture where the square is at this step.
SQUARE = """(step) => [...document.querySelectorAll("figure canvas")].map((canvas) => {
  const [x, y] = [((2 * step + 5) / 64) * canvas.width, (15 / 48) * canvas.height];
  return [...canvas.getContext("2d").getImageData(x, y, 1, 1).data.slice(0, 3)];
})"""


def test_cameras_beside_a_vector_are_shown_at_every_step(tab: Any, server: LiveServer) -> None:
    filmed_demos().save(server.study.path / "cameras.npz")
    open_dataset(tab, "cameras.npz")
    for step in (0, 12, 29):
        tab.locator("#time").fill(str(step))
        colours = [list(film_colour(step))] * 2
        tab.wait_for_function(
            f"([step, colours]) => JSON.stringify(({SQUARE})(step)) === JSON.stringify(colours)",
            arg=[step, colours],
        )
    assert tab.locator("#look figcaption").all_inner_texts() == ["camera_0", "camera_1"]


def test_every_observation_can_be_plotted(tab: Any, server: LiveServer) -> None:
    filmed_demos().save(server.study.path / "cameras.npz")
    open_dataset(tab, "cameras.npz")
    plot = "() => document.querySelector('canvas[aria-label^=Observations]').toDataURL()"
    first = tab.evaluate(plot)
    options = tab.locator("#observations option").all_inner_texts()
    assert options == ["state[0] to state[7]", "state[8] to state[9]"]
    tab.select_option("#observations", "8")
    tab.wait_for_function(f"(first) => ({plot})() !== first", arg=first)
    assert tab.locator("#actions").count() == 0  # two of them fit


def test_actions_of_a_known_world_without_a_picture_are_drawn_in_a_plane(
    tab: Any, server: LiveServer
) -> None:
    teacher = find_teacher(None, "uniform", 0.3, world="fork")
    demonstrate("fork", teacher, 100, 0).save(server.study.path / "fork.npz")
    open_dataset(tab, "fork.npz")
    assert tab.locator("[aria-label=Axes] select").count() == 2
    tab.wait_for_function("""() => {
      const canvas = document.querySelector("#look canvas[aria-label='The episode']");
      const pixels = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
      return pixels.some((value) => value > 0);
    }""")


def test_the_first_episodes_of_an_order_are_ticked_and_leave_as_a_command(
    tab: Any, server: LiveServer
) -> None:
    filmed_demos().save(server.study.path / "cameras.npz")
    open_dataset(tab, "cameras.npz")
    for _ in range(2):
        tab.click("#look th button:text-matches('^episode')")
    tab.fill("#first", "2")
    tab.click("button:text-is('Tick them')")
    tab.click("button:text-is('Exclude them: show the command')")
    tab.wait_for_selector("pre:text-matches('cameras.npz --exclude demo_4 --exclude demo_5$')")
