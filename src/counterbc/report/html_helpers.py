"""Small functions that several sections of the page use."""

from __future__ import annotations

import numpy as np

from counterbc.report.drawing import number
from counterbc.report.findings import Findings
from counterbc.report.markup import Markup, tag

MOVES = ("speed", "smoothness", "jerk", "idle", "efficiency", "saturation")
"""The measures of movement in the tables."""


def section(title: str, *children: object) -> Markup:
    """Return a section with a heading."""
    name = title.lower().replace(" ", "-")
    return tag("section", tag("h2", title), *children, id=name)


def absent(findings: Findings, stage: str) -> Markup:
    """Return why a stage has no result."""
    reason = findings.reasons[stage]
    return tag("p", "Not done: ", f"{reason.rstrip('.')}.", class_="missing")


def digits(value: float, places: int | None = None) -> str:
    """Return a number with a few digits, and a dash for NaN."""
    if not np.isfinite(value):
        return "–"
    return number(float(f"{value:.4g}") if places is None else round(value, places))


def signed(value: float) -> str:
    """Return a number with its sign."""
    return f"{value:+.2f}".replace("-", "−")
