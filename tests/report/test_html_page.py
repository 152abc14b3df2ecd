"""The page: whole, alone, and safe whatever names are in the data."""

from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import replace
from datetime import UTC, datetime
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from counterbc.data.demonstrations import Demonstrations, Episode
from counterbc.experiments.styles import method_style
from counterbc.report import Findings, ReportOptions, find, page
from counterbc.report.advice import Inputs
from counterbc.selection.held_out import HeldOut
from counterbc.selection.radius import RadiusSearch

NOW = datetime(2030, 1, 2, 3, 4, tzinfo=UTC)
QUICK: dict[str, Any] = {
    "held_out": HeldOut(repeats=1, steps=20), "search": RadiusSearch(steps=20), "force": True
}  # fmt: skip
VOID = {"meta", "link", "br"}
EVIL = "<script>alert('x')</script>"


class Reader(HTMLParser):
    """Elements, attributes and text; refuses what does not nest."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self._open: list[str] = []
        self.feed(text)
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def write_page(findings: Findings, name: str = "demos.hdf5") -> str:
    return page(findings, Inputs((Path(name),), ("robomimic",)), NOW, {name: "ab" * 32})


@pytest.fixture(scope="module")
def whole(make_demos: Any) -> str:
    return write_page(find([make_demos(episodes=10)], ReportOptions(**QUICK)))


def test_it_has_all_parts_in_the_order_of_a_reader(whole: str) -> None:
    heads = re.findall(r"<h2>(.*?)</h2>", whole)
    assert heads == [
        "Can the data tell good from bad?", "What to do next", "What is in the data",
        "The radius and why", "Operators", "Episodes",
        "Demonstrated and meant actions", "Modes and goals",
        "How this was made, and what it cannot tell",
    ]  # fmt: skip
    assert "10 episodes by 2 operators, 100 pairs." in whole
    assert "2030-01-02 03:04 UTC" in whole
    assert "ab" * 32 in whole
    assert "fewer episodes than folds" not in whole


def test_nothing_is_loaded_and_nothing_runs(whole: str) -> None:
    reader = Reader(whole)
    names = {name for name, _ in reader.elements}
    assert not names & {"script", "link", "img", "iframe", "object", "embed", "image", "use"}
    attributes = {key for _, attributes_of in reader.elements for key in attributes_of}
    assert not attributes & {"src", "href", "style", "xlink:href"}
    assert not any(key.startswith("on") for key in attributes)
    assert "url(" not in whole
    assert "@import" not in whole


def test_the_policy_allows_exactly_the_style_of_the_page(whole: str) -> None:
    (style,) = re.findall(r"<style>(.*?)</style>", whole, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    (policy,) = [
        attributes_of["content"] for name, attributes_of in Reader(whole).elements
        if attributes_of.get("http-equiv") == "Content-Security-Policy"
    ]  # fmt: skip
    assert policy is not None
    assert policy.startswith(f"default-src 'none'; style-src 'sha256-{digest}';")


def test_names_in_the_data_stay_text(make_demos: Any) -> None:
    demos = make_demos(episodes=8)
    episodes = tuple(
        replace(e, operator=EVIL, name=f"{EVIL}{i}") for i, e in enumerate(demos.episodes)
    )
    names = (f"{EVIL}x", f"{EVIL}y", "b")
    demos = replace(
        demos, episodes=episodes, masks={}, action_names=(EVIL, "a"), obs_names=names,
        obs_keys=((EVIL, 3),), env_args={"env_name": EVIL}, source=EVIL,
    )  # fmt: skip
    text = write_page(find([demos], ReportOptions(**QUICK)), EVIL)
    reader = Reader(text)
    assert "script" not in {name for name, _ in reader.elements}
    assert reader.text.count(EVIL) > 20


def test_every_drawing_has_a_label(whole: str) -> None:
    drawings = [attributes_of for name, attributes_of in Reader(whole).elements if name == "svg"]
    assert len(drawings) > 20
    for attributes_of in drawings:
        assert attributes_of.get("aria-hidden") == "true" or attributes_of["aria-label"]


def test_numbers_of_drawings_are_finite(whole: str) -> None:
    for _, attributes_of in Reader(whole).elements:
        for key in ("points", "x", "y", "cx", "cy", "width", "height"):
            assert "nan" not in (attributes_of.get(key) or "")


def test_meant_has_the_colour_of_counter_bc(whole: str) -> None:
    assert f"--meant: {method_style('counter-bc').colour};" in whole
    assert whole.count("prefers-color-scheme: dark") == 1
    assert "@media print" in whole


@pytest.mark.slow
def test_long_episodes_do_not_make_a_long_page() -> None:
    rng = np.random.default_rng(0)
    episodes = tuple(
        Episode(rng.normal(size=(4000, 3)), rng.uniform(-1, 1, (4000, 6))) for _ in range(6)
    )
    long_findings = find(
        [Demonstrations(episodes)],
        ReportOptions(radius=0.2, intents=False, held_out=HeldOut(folds=2, repeats=1, steps=1)),
    )
    assert len(write_page(long_findings)) < 2_000_000


def test_what_was_not_done_is_explained_on_the_page(tiny: Demonstrations) -> None:
    nobody = replace(tiny, episodes=tuple(replace(e, operator=None) for e in tiny.episodes))
    text = Reader(write_page(find([nobody], ReportOptions(radius=0.3, **QUICK)))).text
    assert "Not done: Δ was given" in text
    assert "The files do not say who demonstrated." in text
    assert "4 episodes are too few to tell" in text
    assert "There are fewer episodes than folds" in text
    text = Reader(
        write_page(find([tiny], ReportOptions(radius=0.3, scores=False, intents=False)))
    ).text
    assert text.count("Not done: scores were not asked for.") == 3
