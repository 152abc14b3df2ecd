"""Pieces that several parts of the page are made of."""

from __future__ import annotations

import numpy as np

from counterbc.report.drawing import number
from counterbc.report.findings import Findings
from counterbc.report.markup import Markup, tag

MOVES = ("smoothness", "jerk", "idle", "efficiency", "saturation")
"""Measures of movement that are shown."""


def section(title: str, *children: object) -> Markup:
    name = title.lower().replace(" ", "-")
    return tag("section", tag("h2", title), *children, id=name)


def missing(found: Findings, stage: str) -> Markup:
    reason = found.reasons[stage]
    return tag("p", "Not done: ", f"{reason.rstrip('.')}.", class_="missing")


def digits(value: float, places: int | None = None) -> str:
    if not np.isfinite(value):
        return "–"
    return number(float(f"{value:.4g}") if places is None else round(value, places))


def signed(value: float) -> str:
    return f"{value:+.2f}".replace("-", "−")
