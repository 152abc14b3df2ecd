"""Pictures of every view of the studio: a scripted person uses the page in Chromium.

    python -m reproduction draw studio [--cameras FILE]

The person records in every world, looks at demonstrations of two made-up operators, watches two
policies that learned from them, and trains another one. It takes some minutes.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import counterbc as cb
from counterbc.data.demonstrations import Demonstrations
from counterbc.demonstrators import demonstrate, find_teacher
from counterbc.errors import FormatError, unknown
from reproduction.options import DOCS, option
from reproduction.studio_tab import StudioServer, chromium, grid, open_tab, picture_of, two_thirds

LAPTOP = {"width": 1000, "height": 680}
PHONE = {"width": 375, "height": 1200}
DATASET = "two-operators.hdf5"
SEED = 0
STARTS = {
    "intersection": ("ArrowRight", 2.8),
    "cartpole": ("ArrowRight", 0.24),
    "air-hockey": ("ArrowUp", 1.0),
    "push-t": ("ArrowDown", 1.4),
    "car-racing": ("ArrowUp", 1.1),
}
"""The key that the person holds in each world, and for how many seconds before the picture."""


@dataclass(frozen=True, kw_only=True)
class StudioPicturesOptions:
    """Draw the pictures of the studio's page."""

    cameras: Path | None = option(None, "dataset with cameras to look at; none: no such picture")
    images: Path = option(DOCS / "images", "folder of the pictures")
    study: Path | None = option(None, "folder of the study, which is made; by default temporary")
    only: tuple[str, ...] = option((), "pictures to draw; by default all", flag="--only")
    steps: int = option(2000, "gradient steps of the policies that are watched")


def run(options: StudioPicturesOptions) -> None:
    """Make a study, start a studio on it, and save a picture of each view."""
    for name in options.only:
        if name not in DRAWINGS:
            raise unknown("picture", name, DRAWINGS)
    with tempfile.TemporaryDirectory() as folder:
        study = options.study or Path(folder) / "study"
        furnish(study, options.steps)
        data = [] if options.cameras is None else ["--data", str(options.cameras)]
        server = StudioServer(study, *data)
        try:
            with chromium() as browser:
                for name, draw in DRAWINGS.items():
                    if name == "cameras" and options.cameras is None and not options.only:
                        print("no picture of cameras; give a dataset with --cameras")
                    elif not options.only or name in options.only:
                        path = options.images / f"studio-{name}.png"
                        draw(browser, server).save(path, optimize=True)
                        print(path, flush=True)
        finally:
            server.stop()


def furnish(study: Path, steps: int) -> None:
    """Make a study with demonstrations of two operators and two policies that learned from them."""
    if study.exists():
        raise FormatError(f"{study} exists already; name a folder that does not as --study")
    (study / "runs").mkdir(parents=True)
    demos = two_operators()
    demos.save(study / DATASET)
    for method in ("bc", "counter-bc"):
        cb.train(
            demos, method, steps=steps, radius=0.4, lag=0, ensemble=1, progress=False,
            out=study / "runs" / method,
        )  # fmt: skip


def two_operators() -> Demonstrations:
    """Return demonstrations of Intersection; the second operator makes larger errors."""
    episodes = []
    for operator, error in (("Ada", 0.3), ("Bob", 0.6)):
        teacher = find_teacher(None, "uniform", error, world="intersection")
        demos = demonstrate("intersection", teacher, 200, SEED, actions_are="taken")
        episodes += [replace(episode, operator=operator, name="") for episode in demos.episodes]
    return replace(demos, episodes=tuple(episodes), actions_are="asked")


def begin(tab: Any, world: str, *, speed: str = "1") -> None:
    """Fill in the form and begin to practise."""
    tab.check(f"input[value='{world}']")
    tab.fill("#operator", "Ada")
    tab.click("summary")
    tab.select_option("#speed", speed)
    tab.check("#agreed")
    tab.click("button:text-is('Begin')")
    tab.wait_for_selector("text=press Space")


def steer(tab: Any, world: str) -> None:
    """Start an episode and steer until there is something to see."""
    key, seconds = STARTS[world]
    tab.keyboard.press("Space")
    tab.keyboard.down(key)
    tab.wait_for_function(
        "(s) => parseFloat(document.querySelector('dd.time')?.textContent) >= s", arg=seconds
    )


def record(tab: Any, world: str) -> None:
    """Record in a world, a fast one at quarter speed, as a picture takes a moment."""
    begin(tab, world, speed="0.25" if world in ("intersection", "cartpole") else "1")
    tab.click("button:text-is('Record now')")
    tab.wait_for_selector("text=record episode 1")
    steer(tab, world)


def draw_form(browser: Any, server: StudioServer) -> Any:
    """Return the whole form on a laptop."""
    with open_tab(browser, server, viewport=LAPTOP) as tab:
        tab.fill("#operator", "Ada")
        return picture_of(tab, full_page=True)


def draw_collect(browser: Any, server: StudioServer) -> Any:
    """Return the practice of a world, and every world while it is recorded."""
    with open_tab(browser, server, viewport=LAPTOP) as tab:
        begin(tab, "air-hockey")
        steer(tab, "air-hockey")
        pictures = [picture_of(tab)]
    for world in STARTS:
        with open_tab(browser, server, viewport=LAPTOP) as tab:
            record(tab, world)
            pictures.append(picture_of(tab))
    return two_thirds(grid(pictures, 2))


def draw_ended(browser: Any, server: StudioServer) -> Any:
    """Return a session that is finished, and one whose server was killed."""
    with open_tab(browser, server, viewport=LAPTOP) as tab:
        record(tab, "air-hockey")
        tab.click("button:text-is('Success')")
        tab.click("button:text-is('Finish session')")
        tab.wait_for_selector("dd.saved-in:text-matches('hdf5')")
        finished = picture_of(tab)
    with tempfile.TemporaryDirectory() as folder:
        other = StudioServer(Path(folder) / "study")
        with open_tab(browser, other, viewport=LAPTOP) as tab:
            record(tab, "air-hockey")
            other.kill()
            tab.wait_for_selector("#connection >> text=open the address that it printed")
            return two_thirds(grid([finished, picture_of(tab)], 2))


def look(tab: Any, dataset: str = DATASET, *, step: int | None = None) -> None:
    """Open a dataset in Look and wait for its meant actions and the landscape of a moment."""
    tab.click("nav >> text=Look")
    tab.wait_for_selector("#dataset option", state="attached")
    tab.select_option("#dataset", dataset)
    tab.click("button:text-is('Open')")
    tab.wait_for_selector("text=/Step 0: the loss/")
    if step is not None:
        tab.locator("#time").fill(str(step))
        tab.wait_for_selector(f"text=/Step {step}: the loss/")


def _top(tab: Any, selector: str) -> None:
    """Scroll an element to the top of the window."""
    tab.locator(selector).first.evaluate(
        "(e) => scrollTo(0, e.getBoundingClientRect().top + scrollY - 20)"
    )


def draw_look(browser: Any, server: StudioServer, **options: Any) -> Any:
    """Return an episode of Look with its meant actions."""
    with open_tab(browser, server, **options) as tab:
        look(tab, step=6)
        before = tab.locator("text=/meant actions lie/").inner_text()
        tab.locator("#radius").fill("0.4")
        tab.wait_for_selector(f"text='{before}'", state="detached")
        _top(tab, "#look .two")
        return picture_of(tab)


def draw_dark(browser: Any, server: StudioServer) -> Any:
    """Return Look in dark colours."""
    return draw_look(browser, server, color_scheme="dark")


def draw_cameras(browser: Any, server: StudioServer) -> Any:
    """Return an episode with cameras; its dataset is the first one that the studio was given."""
    with open_tab(browser, server) as tab:
        tab.click("nav >> text=Look")
        tab.wait_for_selector("#dataset option", state="attached")
        look(tab, tab.locator("#dataset option").first.get_attribute("value"), step=10)
        _top(tab, "#look .two")
        return picture_of(tab)


def draw_exports(browser: Any, server: StudioServer) -> Any:
    """Return the table of episodes, the exports and the operators."""
    with open_tab(browser, server) as tab:
        look(tab)
        tab.wait_for_selector("h2:text-is('Operators')")
        tab.click("th button:text-is('distance')")
        tab.click("th button:text-matches('distance')")
        tab.fill("#first", "3")
        tab.click("button:text-is('Tick them')")
        tab.click("button:has-text('show the command')")
        tab.wait_for_selector("pre.line:not([hidden])")
        panels = [picture_of(tab, f"#look .panel:has(> h2:text-is('{name}'))")
                  for name in ("Episodes", "Operators")]  # fmt: skip
        return grid(panels, 1)


def watch(tab: Any) -> None:
    """Let both policies act side by side."""
    tab.click("nav >> text=Watch")
    for method in ("bc", "counter-bc"):
        tab.check(f"input[value='runs/{method}']")
    tab.click("button:text-is('Watch')")
    tab.wait_for_selector("text=/after [4-9] steps/")


def draw_watch(browser: Any, server: StudioServer) -> Any:
    """Return two policies side by side, the second one taken over."""
    with open_tab(browser, server) as tab:
        tab.click("nav >> text=Watch")
        watch(tab)
        tab.fill("#corrector", "Ada")
        tab.locator("button:text-is('Take over')").last.click()
        tab.wait_for_selector("button:text-is('Give back')")
        tab.keyboard.down("ArrowRight")
        tab.wait_for_selector("text=/after 1[0-9] steps, you steer/")
        return picture_of(tab, full_page=True)


def draw_training(browser: Any, server: StudioServer) -> Any:
    """Return a training that chooses first, and the same one when it trains."""
    panel = "#watch .panel:has(> h2:text-is('Train'))"
    with open_tab(browser, server, viewport={"width": 760, "height": 900}) as tab:
        tab.click("nav >> text=Watch")
        tab.check(f"input[value='{DATASET}']")
        tab.select_option("#method", "bc")
        tab.fill("#steps", "20000")
        tab.click("button:text-is('Train')")
        pictures = []
        for text in ("Choosing", "Training"):
            tab.wait_for_selector(f"#watch [role=status] >> text=/^{text} /")
            _wait_for_share(tab)
            pictures.append(picture_of(tab, panel))
        tab.click("button:text-is('Stop')")
        return grid(pictures, 2)


def _wait_for_share(tab: Any) -> None:
    """Wait until the bar shows that a part is done."""
    tab.wait_for_function("() => Math.abs(document.querySelector('progress').value - 0.5) < 0.45")


def draw_phone(browser: Any, server: StudioServer) -> Any:
    """Return the form, a recording, Look and Watch on a phone."""
    pictures = []
    for view in ("form", "session", "look", "watch"):
        options = {"viewport": PHONE, "is_mobile": True, "has_touch": True}
        with open_tab(browser, server, **options) as tab:
            if view == "session":
                record(tab, "intersection")
            if view == "look":
                look(tab, step=6)
                _top(tab, "#look .two")
            if view == "watch":
                watch(tab)
            pictures.append(picture_of(tab))
    return grid(pictures, 4)


DRAWINGS: dict[str, Callable[[Any, StudioServer], Any]] = {
    "form": draw_form,
    "collect": draw_collect,
    "ended": draw_ended,
    "look": draw_look,
    "dark": draw_dark,
    "cameras": draw_cameras,
    "exports": draw_exports,
    "watch": draw_watch,
    "training": draw_training,
    "phone": draw_phone,
}
"""The pictures of the docs by name: `studio-NAME.png`."""
