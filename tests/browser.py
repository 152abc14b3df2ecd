"""Debian's chromium, driven through Playwright, for tests of web pages."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

CHROMIUM = "/usr/bin/chromium"
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip
PATIENCE = 120_000  # milliseconds; machines may be busy


@contextmanager
def chromium() -> Iterator[Any]:
    """Start a browser, and end it with the block; without one, skip the test."""
    if not Path(CHROMIUM).exists():
        pytest.skip(f"{CHROMIUM} is missing; `make system` installs it")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        yield running
        running.close()


def watch_errors(page: Any) -> list[str]:
    """Return a list that grows with each error that the page reports."""
    errors = list[str]()
    page.set_default_timeout(PATIENCE)
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda m: errors.append(m.text) if m.type == "error" else None)
    return errors
