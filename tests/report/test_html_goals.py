"""The section on modes and goals."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from counterbc.diagnosis.intents import Intents
from counterbc.report.findings import Findings
from counterbc.report.html_goals import modes
from counterbc.report.html_sections import tiles
from counterbc.selection.doubts import LEAST_STEPS, several_modes


def test_the_test_for_modes_is_reported_as_it_went(findings: Findings) -> None:
    assert findings.choice is not None
    assert "Not tested" in modes(findings)  # 20 steps
    longer = replace(findings, choice=replace(findings.choice, steps=LEAST_STEPS))
    assert "No sign" in modes(longer)
    doubts = (several_modes(["x"]),)
    doubtful = replace(findings, choice=replace(findings.choice, doubts=doubts))
    assert "The errors of x have more than one peak" in modes(doubtful)
    assert "which was not done here" in modes(replace(findings, choice=None))


def test_groups_are_listed_by_operator(findings: Findings) -> None:
    names = tuple(e.name for e in findings.demos.episodes)
    held_out = {1: np.zeros(10), 2: np.ones(10)}
    two = Intents(names, np.eye(2)[np.arange(10) % 2], held_out)
    text = modes(replace(findings, intents=two))
    assert "2 groups of episodes" in text
    assert "intent_1: 5 episodes (50%), mean confidence 1.000" in text
    assert "Episodes of each operator in each group" in text


def test_too_few_episodes_are_not_called_one_goal(findings: Findings) -> None:
    names = tuple(e.name for e in findings.demos.episodes)
    few = Intents(names, np.ones((10, 1)), {1: np.zeros(10), 2: np.zeros(10)})
    assert few.verdict == "too few episodes"
    doubtful = replace(findings, intents=few)
    assert "Too few episodes to tell: 10 would not show different goals" in modes(doubtful)
    assert "<dt>goal</dt><dd>–</dd>" in tiles(doubtful)
