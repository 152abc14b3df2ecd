"""The sections on next steps, contents and radius."""

from __future__ import annotations

from dataclasses import replace

from counterbc.data.inspection_report import IdlePlace, Problem
from counterbc.report.advice import Step
from counterbc.report.findings import Findings
from counterbc.report.html_sections import data, next_steps, radius, tiles
from counterbc.selection.shares import Explained, Past, Share


def test_tiles_have_a_dash_for_what_is_unknown(findings: Findings) -> None:
    assert "<dd>10</dd>" in tiles(findings)
    bare = replace(findings, meaning=None, intents=None, choice=None)
    assert tiles(bare).count("<dd>–</dd>") == 4


def test_the_first_tile_is_what_is_explained_with_its_interval(findings: Findings) -> None:
    share = Share(0.34, 0.3, 0.39)
    known = replace(findings, explained=Explained(share, (share, share), ("x", "y")))
    assert "variance explained (30 to 39 %)</dt><dd>34 %</dd>" in tiles(known)
    assert tiles(known).index("34 %") < tiles(known).index("episodes")
    unknown = tiles(replace(findings, explained=None))
    assert "variance explained</dt><dd>–</dd>" in unknown


def test_a_share_beyond_the_previous_action_is_called_so(findings: Findings) -> None:
    low, high = Share(0.04, 0.01, 0.07), Share(0.95, 0.92, 0.98)
    shares = Explained(high, (high, high), ("x", "y"), Past(high, low, high, high, high))
    assert shares.counts_beyond
    assert "of what the last two actions leave explained (1 to 7 %)</dt><dd>4 %</dd>" in tiles(
        replace(findings, explained=shares)
    )


def test_the_tile_of_the_radius_names_what_is_recommended_alone(findings: Findings) -> None:
    share = Share(0.34, 0.3, 0.39)
    choice = findings.choice
    assert choice is not None
    telling = Explained(share, (share, share), ("x", "y"))
    clear = replace(choice, radius=0.35, plateau=(0.2, 0.4), explained=telling)
    clear_findings = replace(findings, explained=telling, meaning=None, choice=clear)
    assert "<dt>radius Δ</dt><dd>0.35</dd>" in tiles(clear_findings)
    assert "chosen: 0.35" in radius(clear_findings)
    flat = replace(clear_findings, choice=replace(clear, plateau=(0.0, 0.4)))
    assert "<dt>radius Δ</dt><dd>–</dd>" in tiles(flat)
    assert "none is chosen" in radius(flat)


def test_steps_have_commands_and_no_steps_have_a_sentence() -> None:
    assert "<code>counterbc &lt;x&gt;</code>" in next_steps([Step("Do", "why", ("counterbc <x>",))])
    assert "could not be scored" in next_steps([])


def test_problems_name_their_first_places(findings: Findings) -> None:
    places = tuple(
        IdlePlace(episode=f"e{i}", row=0, pairs=9, action_is_zero=i == 0) for i in range(5)
    )
    problem = Problem(kind="idle", count=5, text="5 stretches", places=places)
    text = data(replace(findings, inspection=replace(findings.inspection, problems=(problem,))))
    assert "<strong>idle</strong>: 5 stretches." in text
    assert "<li>episode e0, row 0, pairs 9, action is zero</li><li>episode e1, row" in text
    assert "e3" not in text
    without_problems = data(replace(findings, inspection=replace(findings.inspection, problems=())))
    assert "None found." in without_problems


def test_the_radius_has_its_explanation_and_doubts(findings: Findings) -> None:
    assert findings.choice is not None
    text = radius(findings)
    assert "20 training steps" in text
    assert "Each dimension alone would choose" in text
