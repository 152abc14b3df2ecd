"""Keys in a real browser: shortcuts do not steer, and no key sticks."""

from __future__ import annotations

from typing import Any

import pytest

from tests.studio.browsers import begin

pytestmark = [pytest.mark.slow, pytest.mark.needs("playwright")]


def start(tab: Any) -> None:
    begin(tab, "air-hockey")
    tab.keyboard.press("Space")
    tab.wait_for_selector("button:text-is('Pause')")


def sent_actions(tab: Any) -> list[list[float]]:
    return [m["action"] for m in tab.evaluate("() => window.sent")]


@pytest.mark.parametrize("modifier", ["Control", "Meta", "Alt"])
def test_shortcuts_of_the_browser_neither_steer_nor_mark(tab: Any, modifier: str) -> None:
    start(tab)
    for key in ("KeyS", "KeyD", "KeyA", "ArrowUp", "KeyY"):
        tab.evaluate(  # Chromium itself must not act on the shortcut
            """([code, modifier]) => { for (const type of ["keydown", "keyup"]) {
              document.activeElement.dispatchEvent(new KeyboardEvent(type, {
                code, key: code.at(-1).toLowerCase(), bubbles: true, [modifier]: true })); } }""",
            [key, {"Control": "ctrlKey", "Meta": "metaKey", "Alt": "altKey"}[modifier]],
        )
    tab.keyboard.press("ArrowUp")
    assert sent_actions(tab) == [[0, 1], [0, 0]]
    assert tab.locator("button:text-is('Pause')").count() == 1


def test_keys_that_were_held_when_cmd_came_are_let_go_with_it(tab: Any) -> None:
    start(tab)
    tab.keyboard.down("d")
    tab.keyboard.down("Meta")  # the d is let go now, of which macOS says nothing
    tab.keyboard.up("Meta")
    assert sent_actions(tab) == [[1, 0], [0, 0]]


def test_a_key_that_is_let_go_in_a_field_does_not_stick(tab: Any) -> None:
    start(tab)
    tab.keyboard.down("ArrowUp")
    tab.evaluate("() => { document.body.append(document.createElement('input')); }")
    tab.locator("body > input").focus()
    tab.keyboard.up("ArrowUp")
    tab.keyboard.press("ArrowLeft")  # which moves in the text
    assert sent_actions(tab) == [[0, 1], [0, 0]]
