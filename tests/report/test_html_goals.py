"""The section on modes and goals."""

from __future__ import annotations

from dataclasses import replace

from counterbc.report import Findings
from counterbc.report.html_goals import modes
from counterbc.selection.doubts import LEAST_STEPS


def test_goals_that_were_not_looked_for_have_a_reason(findings: Findings) -> None:
    assert "Not done: goals were not asked for." in modes(findings)


def test_groups_are_listed_with_their_sizes_and_confidence(two_goals: Findings) -> None:
    markup = modes(two_goals)
    assert "2 groups of episodes that act and end differently." in markup
    assert "intent_0: 5 episodes (62%), mean confidence 0.900" in markup
    assert "intent_1: 3 episodes (38%), mean confidence 0.800" in markup


def test_groups_are_counted_by_operator(two_goals: Findings) -> None:
    """Episodes 0 to 4 are in the first group, and ada performed those with even numbers."""
    rows = modes(two_goals).partition("<tbody>")[2].partition("</tbody>")[0]
    assert '<th scope="row">ada</th><td>3</td><td>1</td>' in rows
    assert '<th scope="row">bob</th><td>2</td><td>2</td>' in rows


def test_modes_are_tested_only_with_policies_trained_long_enough(findings: Findings) -> None:
    assert findings.choice is not None
    short = replace(findings, choice=replace(findings.choice, doubts=()))
    assert f"the test needs policies trained for {LEAST_STEPS} steps or more" in modes(short)
    enough = replace(findings, choice=replace(findings.choice, doubts=(), steps=LEAST_STEPS))
    assert "No sign that demonstrators mean different actions" in modes(enough)
    assert "which was not done here" in modes(replace(findings, choice=None))
