"""The tiles, the next steps, the data and the radius."""

from __future__ import annotations

import re
from dataclasses import replace

from counterbc.report import Findings
from counterbc.report.advice import Step
from counterbc.report.html_sections import data, next_steps, radius, tiles


def test_tiles_show_dashes_for_what_was_not_computed(unscored: Findings) -> None:
    values = re.findall(r"<dd>(.*?)</dd>", tiles(unscored))
    assert values == ["8", "2", "–", "–", "–", "–"]


def test_tiles_show_the_numbers_of_the_findings(two_goals: Findings) -> None:
    pairs = re.findall(r"<dt>(.*?)</dt><dd>(.*?)</dd>", tiles(two_goals))
    numbers = dict(pairs)
    assert numbers["goals"] == "2"
    assert numbers["RMS difference to held-out policies"] == f"{two_goals.distance:.2f}"


def test_steps_are_escaped_and_their_commands_kept_line_by_line() -> None:
    markup = next_steps([Step("Clean", "Because.", ("counterbc a", "counterbc b > c"))])
    assert "<code>counterbc a\ncounterbc b &gt; c</code>" in markup
    assert "Nothing: see below" in next_steps([])


def test_the_data_section_names_files_lengths_and_rate(findings: Findings) -> None:
    markup = data(findings)
    assert "(8 episodes)" in markup
    assert "<dt>Lengths</dt><dd>10 pairs each</dd>" in markup
    assert "<dt>Rate</dt><dd>not recorded</dd>" in markup


def test_doubts_about_the_radius_are_sentences(findings: Findings, unscored: Findings) -> None:
    assert findings.choice is not None
    markup = radius(findings)
    for doubt in findings.choice.doubts:
        assert f"<li>{doubt.text[:1].upper()}" in markup
    assert "doubts" not in radius(replace(findings, choice=replace(findings.choice, doubts=())))
    assert "Not done: Δ was given" in radius(unscored)
