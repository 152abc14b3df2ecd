"""Findings that take a second: policies of 20 steps on ten short episodes."""

from __future__ import annotations

from typing import Any

import pytest

from counterbc.report.findings import Findings, ReportOptions, find
from counterbc.selection.held_out import HeldOut
from counterbc.selection.radius import RadiusSearch


@pytest.fixture(scope="session")
def findings(make_demos: Any) -> Findings:
    options = ReportOptions(
        held_out=HeldOut(repeats=1, steps=20), search=RadiusSearch(steps=20), force=True
    )
    return find([make_demos(episodes=10)], options)
