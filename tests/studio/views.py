"""Every view of the page, with what can be used in it, for tests that compare them."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar

from tests.studio.browsers import fill_form

VIEWS = ("form", "session", "finished", "look", "cameras", "watch", "taken", "training")


class ThreadJob:
    """A job in a thread that computes one lag of a dataset once, whoever asks for it."""

    is_running = True
    results: ClassVar[dict[tuple[Any, ...], Any]] = {}

    def __init__(
        self, function: Callable[..., Any], arguments: dict[str, Any], *,
        progress: Callable[[Any], None], done: Callable[[Any], None], failed: Callable[[str], None],
    ) -> None:  # fmt: skip
        key = (arguments["source"][0], lag := arguments["lags"][0])

        def run() -> None:
            if key not in self.results:
                keep = partial(self.results.__setitem__, key)
                function(**arguments | {"lags": [lag]}, report=keep)
            progress(self.results[key])
            done(None)
            self.is_running = False

        threading.Thread(target=run, daemon=True).start()

    def stop(self) -> None:
        """Do nothing: the thread ends by itself."""


class EndlessJob:
    """A job that has begun when the page asks, and ends only with the server."""

    is_running = True

    def __init__(
        self, function: Callable[..., Any], arguments: dict[str, Any], *,
        progress: Callable[[Any], None], done: Callable[[Any], None], failed: Callable[[str], None],
    ) -> None:  # fmt: skip
        work = "Choosing Δ and lag for"
        progress({"share": 0.3, "work": work, "note": "12:30: Estimated time left: 3 minutes."})

    def stop(self) -> None:
        """Do nothing: there is no process."""


def visit(tab: Any, view: str) -> None:
    """Bring a tab to one of the views, with everything in it that can be used."""
    if view in ("session", "finished"):
        fill_form(tab, "intersection")
        tab.click("button:text-is('Record now')")
        tab.wait_for_selector("text=record episode 1")
    if view == "finished":
        tab.keyboard.press("Space")
        tab.wait_for_selector("dd.pairs:text-matches('^[1-9]')")
        tab.click("button:text-is('Finish session')")
        tab.wait_for_selector("dd.saved-in:text-matches('hdf5')")
    if view in ("look", "cameras"):
        tab.click("nav >> text=Look")
        tab.wait_for_selector("#dataset option", state="attached")
        tab.select_option("#dataset", "demos.hdf5" if view == "look" else "cameras.npz")
        tab.click("button:text-is('Open')")
        tab.wait_for_selector("#look tbody tr[aria-selected=true]")
        tab.wait_for_selector("text=/Step 0: the loss/")
    if view in ("watch", "taken", "training"):
        visit_watch(tab, view)


def visit_watch(tab: Any, view: str) -> None:
    """Open both runs; take one over, or train another one."""
    tab.click("nav >> text=Watch")
    tab.check("input[value='runs/bc']")
    tab.check("input[value='runs/counter-bc']")
    if view == "taken":
        tab.emulate_media(reduced_motion="reduce")  # the policies wait, so that none is over
    tab.click("button:text-is('Watch')")
    tab.wait_for_selector("button:text-is('Same start again')")
    if view == "taken":
        tab.locator("button:text-is('Take over')").first.click()
        tab.wait_for_selector("button:text-is('Give back')")
    if view == "training":
        tab.check("input[value='demos.hdf5']")
        tab.click("button:text-is('Train')")
        tab.wait_for_selector("text=Choosing Δ and lag for")
        tab.wait_for_selector("button:text-is('Stop')")
