"""Findings in sentences."""

from __future__ import annotations

from dataclasses import replace

import pytest

from counterbc.report.findings import Findings
from counterbc.report.words import headline, length, names, plural
from counterbc.selection.doubts import several_modes


@pytest.mark.parametrize(
    ("count", "text"), [(0, "0 pairs"), (1, "1 pair"), (2, "2 pairs"), (1234, "1,234 pairs")]
)
def test_a_noun_follows_its_number(count: int, text: str) -> None:
    assert plural(count, "pair") == text


def test_long_lists_of_episodes_are_cut(findings: Findings) -> None:
    assert names(findings, [0, 3]) == "demo_0, demo_3"
    assert names(findings, list(range(10)), 2) == "demo_0, demo_1 and 8 more"


def test_seconds_are_written_if_the_rate_is_known(findings: Findings) -> None:
    assert length(findings, 30) == "30 pairs"
    timed_findings = replace(findings, inspection=replace(findings.inspection, rate=20.0))
    assert length(timed_findings, 30) == "30 pairs (1.5 s)"


def test_the_headline_says_how_the_radius_was_chosen(findings: Findings) -> None:
    assert findings.choice is not None
    clear = replace(findings.choice, radius=0.3, plateau=(0.2, 0.3))
    some_radius = replace(findings, choice=clear)
    assert any(s.startswith("Δ = 0.3 was chosen: held-out actions") for s in headline(some_radius))
    flat = replace(findings, choice=replace(clear, plateau=(0.0, 0.2, 0.3)))
    assert any(s.startswith("No Δ is recommended: plain BC") for s in headline(flat))
    zero = replace(findings, choice=replace(findings.choice, radius=0.0))
    assert any(s.startswith("Δ = 0: no larger Δ predicts") for s in headline(zero))
    given_radius = replace(findings, choice=None)
    assert any(s.endswith("was given.") for s in headline(given_radius))


def test_the_headline_warns_of_several_modes(findings: Findings) -> None:
    assert findings.choice is not None
    doubts = (several_modes(["action[0]"]),)
    doubtful = replace(findings, choice=replace(findings.choice, doubts=doubts))
    assert headline(doubtful)[-1] == "Demonstrators may mean different actions at the same state."
    assert headline(findings)[-1] != headline(doubtful)[-1]


def test_the_headline_calls_policies_blind_to_cameras_that_were_not_read(
    findings: Findings,
) -> None:
    assert not any("blind" in sentence for sentence in headline(findings))
    unread = replace(findings, demos=replace(findings.demos, blind_to=("top", "wrist")))
    assert "Policies are blind: top, wrist were not read." in headline(unread)
