"""The sections on operators and episodes."""

from __future__ import annotations

import re
from dataclasses import replace

from counterbc.report.findings import Findings
from counterbc.report.html_scores import operators, pictures, ranking


def row_names(text: str) -> list[str]:
    return re.findall(r'<th scope="row">(.*?)</th>', text)


def test_operators_are_listed_from_the_smallest_distance(findings: Findings) -> None:
    assert findings.meaning is not None
    scores = sorted(findings.meaning.operators, key=lambda s: s.distance)
    assert row_names(operators(findings)) == [s.name for s in scores]


def test_episodes_are_listed_from_the_largest_distance(findings: Findings) -> None:
    names = [findings.demos.episodes[i].name for i in findings.ranking]
    assert row_names(ranking(findings)) == names


def test_the_first_and_the_last_episodes_have_pictures(findings: Findings) -> None:
    text = pictures(findings)
    assert text.count("<article>") == 5
    assert text.count("badge furthest") == 3


def test_without_scores_every_section_says_why(findings: Findings) -> None:
    bare = replace(findings, meaning=None, reasons={"scores": "no time"})
    for section in (operators, ranking, pictures):
        assert "Not done: no time." in section(bare)
