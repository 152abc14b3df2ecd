"""Every method has a look in figures, also one that nobody drew before."""

from __future__ import annotations

import pytest

from counterbc.experiments.styles import STYLES, MethodStyle, method_style, method_styles
from counterbc.methods import METHODS, Method


def test_every_registered_method_differs_from_the_others_in_colour_and_marker() -> None:
    styles = method_styles(METHODS).values()
    assert len({s.colour for s in styles}) == len({s.marker for s in styles}) == len(METHODS)


def test_known_methods_keep_their_look() -> None:
    assert method_style("counter-bc") == MethodStyle("Counter-BC", "#D55E00", "*")
    assert method_style("bc") == MethodStyle("BC", "#000000", "o")


def test_unknown_methods_get_a_label_from_their_name_and_a_free_look() -> None:
    styles = method_styles(["bc", "soft-bc", "other"])
    assert (styles["soft-bc"].label, styles["other"].label) == ("Soft-BC", "Other")
    assert len({(s.colour, s.marker) for s in styles.values()}) == 3
    assert styles == method_styles(["bc", "soft-bc", "other"])
    assert not {styles["soft-bc"].colour} & {s.colour for s in STYLES.values()}


def test_thirty_five_unknown_methods_differ() -> None:
    styles = method_styles(f"method-{i}" for i in range(35))
    assert len({(s.colour, s.marker) for s in styles.values()}) == 35


def test_a_registered_method_looks_the_same_in_every_figure(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(METHODS, "soft-bc", Method())
    assert method_styles(["other", "soft-bc"])["soft-bc"] == method_style("soft-bc")
