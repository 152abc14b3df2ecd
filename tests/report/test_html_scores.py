"""The sections on operators and episodes."""

from __future__ import annotations

import re

from counterbc.report import Findings
from counterbc.report.html_scores import operators, pictures, ranking


def test_without_scores_every_section_gives_the_reason(unscored: Findings) -> None:
    for section in (operators, ranking, pictures):
        assert "Not done: scores were not asked for." in section(unscored)


def test_operators_are_ordered_by_distance(findings: Findings) -> None:
    assert findings.meaning is not None
    scores = sorted(findings.meaning.operators, key=lambda score: score.distance)
    rows = re.findall(
        r'<th scope="row">(\w+)</th><td>(\d+)</td><td>([\d.]+)</td>', operators(findings)
    )
    assert rows == [(s.name, "4", f"{s.distance:.3f}") for s in scores]


def test_the_table_of_episodes_starts_with_the_largest_distance(findings: Findings) -> None:
    assert findings.meaning is not None
    names = re.findall(r'<th scope="row">(\w+)</th>', ranking(findings))
    assert names == [findings.demos.episodes[i].name for i in findings.ranking]


def test_the_furthest_three_and_the_nearest_two_episodes_have_pictures(findings: Findings) -> None:
    titles = re.findall(r'<h3>(\w+) <span class="badge (\w+)">', pictures(findings))
    order = [findings.demos.episodes[i].name for i in findings.ranking]
    expected = [*((name, "furthest") for name in order[:3])]
    expected += [(order[-1], "nearest"), (order[-2], "nearest")]
    assert titles == expected
