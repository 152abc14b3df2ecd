"""Figures show every number that they are made of."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from counterbc.data.demonstrations import Demonstrations, Episode
from counterbc.diagnosis.intents import Intents
from counterbc.report import figures
from counterbc.report.findings import Findings
from counterbc.selection.shares import Explained, Share


def test_a_histogram_of_equal_lengths_is_left_out(findings: Findings) -> None:
    assert figures.lengths_figure(findings.demos) is None
    episodes = tuple(Episode(np.zeros((n, 1)), np.zeros((n, 1))) for n in (2, 2, 5))
    figure = figures.lengths_figure(Demonstrations(episodes))
    assert figure is not None
    assert "2 episodes" in figure
    assert "Histogram of episode lengths, 2 to 5 pairs" in figure


def test_the_curve_of_the_radius_has_a_dot_per_radius(findings: Findings) -> None:
    assert findings.choice is not None
    share = Share(0.5, 0.4, 0.6)
    choice = replace(findings.choice, radius=0.25, plateau=(0.2, 0.3),
                     explained=Explained(share, (share, share), ("x", "y")))  # fmt: skip
    figure = figures.radius_figure(choice)
    assert figure.count("<circle") == len(choice.radii)
    assert "chosen: 0.25" in figure
    assert "none is chosen" in figures.radius_figure(replace(choice, plateau=(0.0, 0.3)))


def test_the_ranking_has_a_dot_per_episode(findings: Findings) -> None:
    figure = figures.ranking_figure(findings)
    assert figure.count("<circle") == len(findings.demos)
    assert figure.count("dot far") == len(findings.outliers)


def test_distances_of_zero_can_be_drawn(findings: Findings) -> None:
    assert findings.meaning is not None
    meaning = replace(findings.meaning)
    scores = tuple(replace(s, distance=0.0, low=0.0, high=0.0) for s in findings.meaning.episodes)
    vars(meaning)["episodes"] = scores  # a cached property
    figure = figures.ranking_figure(replace(findings, meaning=meaning))
    assert figure.count("<circle") == len(findings.demos)


def test_bars_of_the_bias_name_their_dimensions(findings: Findings) -> None:
    assert findings.meaning is not None
    score = replace(findings.meaning.operators[0], bias=(0.1, -0.25))
    figure = figures.bias_bars(score, ("x", "y"), 1.0)
    assert "<title>x +0.100</title>" in figure
    assert "bias, largest -0.250 in y" in figure


def test_groups_differ_in_colour_and_shape(findings: Findings) -> None:
    names = tuple(e.name for e in findings.demos.episodes)
    held_out = {1: np.zeros(10), 2: np.arange(10.0)}
    intents = Intents(names, np.eye(2)[np.arange(10) % 2], held_out)
    figure = figures.groups_figure(findings, intents)
    assert (figure.count("dot group0"), figure.count("dot group1")) == (5, 5)
    assert "2 groups +4.50" in figures.gain_figure(intents)
