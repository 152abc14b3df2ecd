"""Findings about a small dataset, computed once for all tests of the report."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from counterbc.data.demonstrations import Demonstrations
from counterbc.diagnosis.intents import Intents
from counterbc.report import Findings, ReportOptions, find
from counterbc.selection.held_out import HeldOut
from counterbc.selection.radius import RadiusSearch


@pytest.fixture(scope="session")
def findings(make_demos: Callable[..., Demonstrations]) -> Findings:
    """Findings about 8 episodes of 10 pairs by ada and bob, with a radius chosen in few steps."""
    options = ReportOptions(
        held_out=HeldOut(repeats=1, steps=20), search=RadiusSearch(steps=20), intents=False
    )
    return find([make_demos(episodes=8)], options)


@pytest.fixture(scope="session")
def unscored(make_demos: Callable[..., Demonstrations]) -> Findings:
    """Findings about the same data without radius choice, scores and goals."""
    return find([make_demos(episodes=8)], ReportOptions(radius=0.2, scores=False, intents=False))


@pytest.fixture(scope="session")
def two_goals(findings: Findings) -> Findings:
    """The same findings with two goals: the first five episodes, and the last three."""
    shares = np.array([[0.9, 0.1]] * 5 + [[0.2, 0.8]] * 3)
    gains = {1: np.zeros(8), 2: np.linspace(0.5, 1.5, 8)}
    names = tuple(episode.name for episode in findings.demos.episodes)
    return replace(findings, intents=Intents(names, shares, gains))
