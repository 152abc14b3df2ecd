"""The page without a server in an offline tab of a real browser."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.browser import watch_errors


class Tab:
    """The page in an offline tab, with the addresses that it asked for."""

    def __init__(self, browser: Any, path: Path, script: str = "", **options: Any) -> None:
        """`script` runs before those of the page."""
        self.context = browser.new_context(**options)
        self.context.add_init_script(script)
        self.context.set_offline(True)
        self.page = self.context.new_page()
        self.errors, self.requests = watch_errors(self.page), list[str]()
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.goto(path.as_uri())
        self.page.wait_for_selector(".returns")

    def close(self) -> None:
        self.context.close()

    def returns(self) -> list[str]:
        """Return the running returns of both policies as the page words them."""
        texts: list[str] = self.page.locator(".returns").all_inner_texts()
        return texts

    def wait_until_over(self) -> None:
        self.page.wait_for_function(
            "() => playground.isOver && [...document.querySelectorAll('.returns')]"
            ".every((line) => line.textContent.endsWith(', over'))"
        )

    def open_cartpole(self) -> None:
        self.page.click("nav >> text=Cartpole")
        self.page.wait_for_selector("nav [aria-current] >> text=Cartpole")


def tab_stops(page: Any) -> Iterator[tuple[str, str]]:
    """Yield the name and the outline of each element that the Tab key reaches."""
    focus = "document.activeElement"
    page.keyboard.press("Tab")
    while page.evaluate(f"() => {focus} !== document.body"):
        name = page.evaluate(f"() => {focus}.id || {focus}.textContent.slice(0, 30)")
        yield name, page.evaluate(f"() => getComputedStyle({focus}).outlineStyle")
        page.keyboard.press("Tab")
