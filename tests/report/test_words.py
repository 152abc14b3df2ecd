"""Findings in sentences."""

from __future__ import annotations

from dataclasses import replace

import pytest

from counterbc.report import Findings
from counterbc.report.words import headline, length, lengths, names, plural


@pytest.mark.parametrize(
    ("count", "expected"), [(0, "0 pairs"), (1, "1 pair"), (2, "2 pairs"), (1234, "1,234 pairs")]
)
def test_a_noun_agrees_with_its_number(count: int, expected: str) -> None:
    assert plural(count, "pair") == expected


def test_long_lists_of_episodes_end_with_their_number(findings: Findings) -> None:
    assert names(findings, [0, 2]) == "demo_0, demo_2"
    assert names(findings, [4, 1, 3], count=2) == "demo_4, demo_1 and 1 more"


def test_lengths_have_seconds_only_if_the_rate_is_known(findings: Findings) -> None:
    assert lengths(findings) == "10 pairs each"
    assert length(findings, 1) == "1 pair"
    timed = replace(findings, inspection=replace(findings.inspection, rate=20.0))
    assert length(timed, 30) == "30 pairs (1.5 s)"
    assert lengths(timed) == "10 pairs (0.5 s) each"


def test_the_headline_counts_and_names_the_goals(findings: Findings, two_goals: Findings) -> None:
    first, difference, *_ = headline(findings)
    assert first == "8 episodes by 2 operators, 80 pairs."
    assert difference.startswith(f"Demonstrated actions differ by {findings.distance:.2f} ")
    goals = "The episodes pursue 2 different goals."
    assert goals in headline(two_goals)
    assert goals not in headline(findings)


def test_the_headline_says_whether_the_radius_was_given_or_chosen(findings: Findings) -> None:
    assert findings.choice is not None
    chosen = replace(findings, choice=replace(findings.choice, radius=0.25))
    assert any(text.startswith("Δ = 0.25 was chosen: ") for text in headline(chosen))
    plain = replace(findings, choice=replace(findings.choice, radius=0.0))
    assert any(text.startswith("Δ = 0: no counterfactuals ") for text in headline(plain))
    given = [text for text in headline(replace(findings, choice=None)) if text.startswith("Δ")]
    assert len(given) == 1
    assert given[0].endswith(" was given.")
