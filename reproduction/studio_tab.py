"""A studio in a process of its own and tabs of Chromium on it, for pictures of its page."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any

from PIL import Image

from counterbc.errors import FormatError, MissingExtra

CHROMIUM = Path("/usr/bin/chromium")
FLAGS = ("--headless", "--no-sandbox", "--disable-gpu", "--no-first-run")
PATIENCE = 300_000  # milliseconds; policies are trained meanwhile
GAP, GREY = 8, (128, 128, 128)


class StudioServer:
    """`counterbc studio` as a user starts it."""

    def __init__(self, study: Path, *options: str) -> None:
        words = ["-m", "counterbc", "studio", str(study), "--no-browser", *options]
        self.process = subprocess.Popen([sys.executable, *words], stderr=subprocess.PIPE, text=True)
        assert self.process.stderr is not None
        for line in self.process.stderr:
            if match := re.search(r"The studio is at (\S+)", line):
                self.url = match[1]
                return
        self._close()
        raise FormatError(f"the studio did not start in {study}; run: python {' '.join(words)}")

    def stop(self) -> None:
        """End the server; what was recorded is completed."""
        self.process.terminate()
        self._close()

    def kill(self) -> None:
        """End the server at once, as a crash does."""
        self.process.kill()
        self._close()

    def _close(self) -> None:
        self.process.wait()
        assert self.process.stderr is not None
        self.process.stderr.close()


@contextmanager
def chromium() -> Iterator[Any]:
    """Start a browser, and end it with the block."""
    try:
        from playwright.sync_api import sync_playwright
    except ModuleNotFoundError:
        raise MissingExtra("playwright", "dev", "pictures of the studio") from None
    if not CHROMIUM.exists():
        raise FormatError(f"{CHROMIUM} is missing; `make system` installs it")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=str(CHROMIUM), args=list(FLAGS))
        yield browser
        browser.close()


@contextmanager
def open_tab(browser: Any, server: StudioServer, **options: Any) -> Iterator[Any]:
    """Open a tab on the printed address; options are those of a context of Playwright."""
    context = browser.new_context(**{"viewport": {"width": 1280, "height": 1000}, **options})
    tab = context.new_page()
    tab.set_default_timeout(PATIENCE)
    tab.goto(server.url)
    tab.wait_for_selector("#operator")
    yield tab
    context.close()


def picture_of(tab: Any, selector: str | None = None, **options: Any) -> Image.Image:
    """Return a picture of what the tab shows, or of one element."""
    source = tab if selector is None else tab.locator(selector)
    content = Image.open(BytesIO(source.screenshot(**options)))
    return content.convert("RGB")


def grid(pictures: Sequence[Image.Image], columns: int) -> Image.Image:
    """Return pictures beside and below each other, with grey lines between them."""
    rows = [pictures[i : i + columns] for i in range(0, len(pictures), columns)]
    widths = [max(p.width for p in pictures)] * columns
    heights = [max(p.height for p in row) for row in rows]
    size = (sum(widths) + GAP * (columns - 1), sum(heights) + GAP * (len(rows) - 1))
    canvas = Image.new("RGB", size, GREY)
    for i, row in enumerate(rows):
        for j, picture in enumerate(row):
            corner = (sum(widths[:j]) + GAP * j, sum(heights[:i]) + GAP * i)
            canvas.paste(picture, corner)
    return canvas


def two_thirds(picture: Image.Image) -> Image.Image:
    """Return a picture at two thirds of its size."""
    return picture.resize((picture.width * 2 // 3, picture.height * 2 // 3))
