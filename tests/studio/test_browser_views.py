"""Every view in a real browser: names for screen readers, keyboard, focus, colours and sizes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from counterbc.demonstrators import demonstrate, find_teacher
from counterbc.selection.held_out import HeldOut
from counterbc.studio import held_out_job, look_room, watch_room
from counterbc.studio.limits import LONGEST_NAME
from counterbc.studio.study_folder import StudyFolder
from counterbc.trainer import train
from tests.studio.browsers import PHONE, fill_form, filmed_demos, open_tab
from tests.studio.clients import LiveServer
from tests.studio.views import VIEWS, EndlessJob, ThreadJob, visit

pytestmark = [pytest.mark.slow, pytest.mark.needs("playwright")]

ROLES = {
    "button", "checkbox", "radio", "slider", "textbox", "combobox", "link", "img", "image",
    "progressbar", "table", "grid", "region", "spinbutton", "listbox",
}  # fmt: skip


@pytest.fixture(scope="module")
def furnished(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveServer]:
    """A studio with demonstrations, a dataset with cameras, and two trained runs."""
    path: Path = tmp_path_factory.mktemp("views") / "study"
    study = StudyFolder.open(path)
    teacher = find_teacher(None, "uniform", 0.3, world="intersection")
    taken_demos = demonstrate("intersection", teacher, 200, 0, actions_are="taken")
    demos = replace(taken_demos, actions_are="asked")
    demos.save(path / "demos.hdf5")
    filmed_demos().save(path / "cameras.npz")
    for method in ("bc", "counter-bc"):
        train(
            demos, method, steps=300, radius=0.2, lag=0, ensemble=1, progress=False,
            out=path / "runs" / method,
        )  # fmt: skip
    server = LiveServer(study)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(look_room, "Job", ThreadJob)
        patch.setattr(watch_room, "Job", EndlessJob)
        patch.setattr(held_out_job, "HELD_OUT", HeldOut(repeats=2, rounds=1, steps=50))
        patch.setattr(held_out_job, "_LANDSCAPE_STEPS", 50)
        yield server
    server.stop()


@pytest.mark.parametrize("view", VIEWS)
def test_everything_has_a_name_for_screen_readers(
    browser: Any, furnished: LiveServer, view: str
) -> None:
    with open_tab(browser, furnished) as tab:
        visit(tab, view)
        session = tab.context.new_cdp_session(tab)
        nodes = session.send("Accessibility.getFullAXTree")["nodes"]
    named = [
        (node["role"]["value"], node.get("name", {}).get("value", "").strip())
        for node in nodes
        if not node["ignored"] and node.get("role", {}).get("value") in ROLES
    ]
    assert len(named) >= 6  # the tree was read
    assert [role for role, name in named if not name] == []


# What a person can use with a pointer, without what the same person reaches in another way: other
# choices of a group by arrows, ticks of table rows by Space.
CONTROLS = """() => [...document.querySelectorAll(
    "button, input, select, summary, nav a, canvas[tabindex], tr[tabindex='0'], div[tabindex]")]
  .filter((e) => e.checkVisibility() && !e.disabled && e.tabIndex >= 0
    && (e.type !== "radio" || e.checked))
  .map((e, i) => { e.dataset.test = String(i); return e.dataset.test; })"""
FOCUSED = """() => {
  const e = document.activeElement;
  const style = getComputedStyle(e);
  const outline = style.outlineStyle === "none" ? 0 : parseFloat(style.outlineWidth);
  return [e.dataset.test ?? null, outline, e.outerHTML.slice(0, 120)];
}"""


@pytest.mark.parametrize("view", VIEWS)
def test_every_control_is_reached_by_tab_and_shows_its_focus(
    browser: Any, furnished: LiveServer, view: str
) -> None:
    with open_tab(browser, furnished, reduced_motion="reduce") as tab:
        visit(tab, view)
        expected = set(tab.evaluate(CONTROLS))
        tab.evaluate("() => { document.activeElement.blur(); scrollTo(0, 0); }")
        reached: dict[str, str] = {}
        for _ in range(3 * len(expected)):
            tab.keyboard.press("Tab")
            key, outline, html = tab.evaluate(FOCUSED)
            if key is not None:
                assert outline >= 2, f"no visible focus on {html}"
                reached[key] = html
        names = "(keys) => keys.map((k) => document.querySelector(`[data-test='${k}']`)?.outerHTML)"
        assert tab.evaluate(names, sorted(expected - set(reached))) == []
        assert len(expected) >= 6


def test_rows_are_chosen_and_ticked_with_the_keyboard(browser: Any, furnished: LiveServer) -> None:
    with open_tab(browser, furnished) as tab:
        visit(tab, "look")
        tab.locator("#look tbody tr[tabindex='0']").first.focus()
        tab.keyboard.press("ArrowDown")
        tab.keyboard.press("Space")
        tab.keyboard.press("Enter")
        tab.wait_for_selector("text=/^demo_1, /")
        assert tab.locator("input[aria-label='select demo_1']").is_checked()
        tab.click("th button:text-is('steps')")
        assert tab.evaluate("() => document.activeElement.textContent") == "steps ↑"
        tab.click("button:has-text('show the command')")
        tab.wait_for_selector("pre.line >> text=/--exclude demo_1$/")
        tab.fill("#first", "3")  # the worst of an order are ticked at once
        tab.press("#first", "Tab")
        tab.keyboard.press("Enter")
        boxes = tab.locator("#look tbody input[aria-label^='select demo_']")
        assert [boxes.nth(i).is_checked() for i in range(5)] == [True] * 3 + [False] * 2


@pytest.mark.parametrize("view", VIEWS)
def test_a_phone_needs_no_horizontal_scrolling(
    browser: Any, furnished: LiveServer, view: str
) -> None:
    with open_tab(browser, furnished, viewport=PHONE, is_mobile=True, has_touch=True) as tab:
        visit(tab, view)
        width = tab.evaluate("() => document.documentElement.scrollWidth")
        wide = tab.evaluate("""() => [...document.querySelectorAll("main *")]
          .filter((e) => e.checkVisibility() && !e.closest(".scroll, pre, .gone")
            && e.getBoundingClientRect().right > innerWidth + 1)
          .map((e) => e.outerHTML.slice(0, 100))""")
        assert (width, wide) == (PHONE["width"], [])
        sizes = tab.evaluate("""() => [...document.querySelectorAll("main button, main select")]
          .filter((e) => e.checkVisibility() && !e.closest("th"))
          .map((e) => e.getBoundingClientRect().height)""")
        assert min(sizes) >= 36  # large enough for a finger
        heights = tab.evaluate("""() => [...document.querySelectorAll("main tr")]
          .filter((e) => e.checkVisibility()).map((e) => e.getBoundingClientRect().height)""")
        assert max([0, *heights]) < 90  # no cell is a column of letters


def test_a_long_name_without_a_space_fits_a_phone(browser: Any, furnished: LiveServer) -> None:
    with open_tab(browser, furnished, viewport=PHONE, is_mobile=True, has_touch=True) as tab:
        fill_form(tab, "intersection", "W" * LONGEST_NAME)
        tab.wait_for_selector(f"dd.operator >> text={'W' * LONGEST_NAME}")
        assert tab.evaluate("() => document.documentElement.scrollWidth") == PHONE["width"]


def test_on_a_phone_the_picture_is_beside_what_is_used_with_it(
    browser: Any, furnished: LiveServer
) -> None:
    with open_tab(browser, furnished, viewport=PHONE, is_mobile=True, has_touch=True) as tab:
        visit(tab, "session")
        scene, start = tab.locator("#collect canvas.scene"), tab.locator("button:text-is('Start')")
        top, bottom = scene.bounding_box(), start.bounding_box()
        assert bottom["y"] + bottom["height"] - top["y"] < PHONE["height"]
        buttons = tab.locator("#collect .session .row").bounding_box()
        facts = tab.locator("#collect .session dl").first.bounding_box()
        assert facts["y"] > buttons["y"] + buttons["height"] + 8  # some room between them
        tab.evaluate("() => scrollTo(0, document.body.scrollHeight)")
        tab.keyboard.press("Space")
        tab.wait_for_selector("button:text-is('Pause')")
        assert scene.bounding_box()["y"] > -1
        assert touch_action(scene) == "none"
        visit(tab, "look")
        scene, radius = tab.locator("#look canvas.scene").first, tab.locator("#radius")
        top, bottom = radius.bounding_box(), scene.bounding_box()
        assert 0 < bottom["y"] + bottom["height"] - top["y"] < PHONE["height"]
        assert touch_action(scene) == "auto"  # a finger scrolls the page


def touch_action(element: Any) -> str:
    """Return what a finger does on an element, in the words of CSS."""
    return str(element.evaluate("(e) => getComputedStyle(e).touchAction"))


# The contrast of each text with what is behind it (WCAG 2).
CONTRASTS = """() => {
  const white = [255, 255, 255];
  const parse = (text) => {
    const [r, g, b, a = 1] = text.match(/[\\d.]+/g).map(Number);
    return text.startsWith("color(") ? [255 * r, 255 * g, 255 * b, a] : [r, g, b, a];
  };
  const mix = (top, below) => [0, 1, 2].map((i) => top[3] * top[i] + (1 - top[3]) * below[i]);
  const behind = (e) => {
    const below = e.parentElement ? behind(e.parentElement) : white;
    return mix(parse(getComputedStyle(e).backgroundColor), below);
  };
  const linear = (v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
  const light = (c) => c.map((v) => linear(v / 255))
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const hasText = (e) => [...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim());
  return [...document.querySelectorAll("body *")]
    .filter((e) => e.checkVisibility() && !e.disabled && !e.closest(".gone") && hasText(e))
    .map((e) => {
      const back = behind(e);
      const [a, b] = [light(mix(parse(getComputedStyle(e).color), back)), light(back)];
      return [(Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05), e.outerHTML.slice(0, 100)];
    });
}"""


@pytest.mark.parametrize("view", VIEWS)
def test_text_is_readable_in_light_and_dark(browser: Any, furnished: LiveServer, view: str) -> None:
    backgrounds = []
    for scheme in ("light", "dark"):
        with open_tab(browser, furnished, color_scheme=scheme) as tab:
            visit(tab, view)
            contrasts = tab.evaluate(CONTRASTS)
            assert len(contrasts) > 10
            assert [entry for entry in contrasts if entry[0] < 4.5] == []
            backgrounds.append(
                tab.evaluate("() => getComputedStyle(document.body).backgroundColor")
            )
    assert backgrounds[0] != backgrounds[1]


@pytest.mark.parametrize("view", VIEWS)
def test_nothing_moves_by_itself_where_motion_is_reduced(
    browser: Any, furnished: LiveServer, view: str
) -> None:
    with open_tab(browser, furnished, reduced_motion="reduce") as tab:
        visit(tab, view)
        moving = tab.evaluate("""() => [...document.querySelectorAll("*")].filter((e) => {
          const style = getComputedStyle(e);
          return parseFloat(style.transitionDuration) > 0 || style.animationName !== "none";
        }).map((e) => e.outerHTML.slice(0, 100))""")
        assert moving == []
        if view == "watch":
            assert tab.locator("text=/after [1-9]/").count() == 0  # policies wait for a start
            tab.click("button:text-is('New start')")
            tab.wait_for_selector("text=/after [1-9]/")
