"""The figures show the numbers that they are given."""

from __future__ import annotations

import re
from dataclasses import replace

from counterbc.report import Findings
from counterbc.report.figures import (
    bias_bars,
    gain_figure,
    groups_figure,
    interval_bar,
    lengths_figure,
    radius_figure,
    ranking_figure,
)


def test_lengths_that_are_all_equal_need_no_histogram(findings: Findings) -> None:
    assert lengths_figure(findings.demos) is None


def test_the_histogram_of_lengths_counts_every_episode(findings: Findings) -> None:
    demos = findings.demos
    short = replace(demos.episodes[0], obs=demos.obs[:4], action=demos.action[:4], reward=None)
    figure = lengths_figure(replace(demos, episodes=(short, *demos.episodes[1:]), masks={}))
    assert figure is not None
    assert sum(map(int, re.findall(r": (\d+) episodes?</title>", figure))) == 8
    assert 'aria-label="Histogram of episode lengths, 4 to 10 pairs"' in figure


def test_the_curve_of_the_radius_has_a_point_per_radius(findings: Findings) -> None:
    assert findings.choice is not None
    figure = radius_figure(findings.choice)
    assert figure.count('class="dot curve"') == len(findings.choice.radii)
    assert f"chosen: {findings.choice.radius:g}" in figure


def test_every_episode_is_a_dot_of_the_ranking(findings: Findings) -> None:
    figure = ranking_figure(findings)
    assert figure.count('class="dot ') == 8
    assert figure.count('class="dot far"') == len(findings.outliers)


def test_an_interval_lies_in_proportion_in_its_bar(findings: Findings) -> None:
    """142 of 150 units are inside the margins of 4."""
    assert findings.meaning is not None
    score = replace(findings.meaning.episodes[0], distance=0.5, low=0.25, high=1.0)
    bar = interval_bar(score, (0.0, 1.0))
    assert f'cx="{4 + 0.5 * 142:.1f}"' in bar
    assert f'x="{4 + 0.25 * 142:.1f}"' in bar
    assert f'width="{0.75 * 142:.1f}"' in bar


def test_bias_bars_point_up_and_down_from_zero(findings: Findings) -> None:
    """The bar of +1 is the upper half of 24 units, and that of −½ a quarter of them."""
    assert findings.meaning is not None
    score = replace(findings.meaning.operators[0], bias=(1.0, -0.5))
    bars = bias_bars(score, ("x", "y"), 1.0)
    assert re.findall(r'y="([\d.]+)" width="[\d.]+" height="([\d.]+)"', bars) == [
        ("1.0", "12.0"),
        ("13.0", "6.0"),
    ]
    assert "bias, largest +1.000 in x" in bars


def test_the_gain_over_one_group_is_the_mean_over_episodes(two_goals: Findings) -> None:
    assert two_goals.intents is not None
    assert "1 groups +0.00, 2 groups +1.00" in gain_figure(two_goals.intents)


def test_groups_differ_in_shape(two_goals: Findings) -> None:
    assert two_goals.intents is not None
    figure = groups_figure(two_goals, two_goals.intents)
    assert len(re.findall(r'<circle [^>]*class="dot group0"', figure)) == 5
    assert len(re.findall(r'<rect [^>]*class="dot group1"', figure)) == 3
