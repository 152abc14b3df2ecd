"""Small figures as SVG: axes that map data to the figure, and marks within them.

Colours and line widths are classes of page.css, so that a figure is light or dark as the page is.
A figure is 360 units wide, the width of a phone, so that letters keep their size there.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from counterbc.data.arrays import Array
from counterbc.report.markup import Markup, join, tag

POINTS = 400  # of a line: more than a screen of this width can show

Span = tuple[float, float]


@dataclass(frozen=True)
class Axes:
    """The spans of the data and the frame that shows them."""

    x: Span
    y: Span
    width: float = 360
    height: float = 190
    left: float = 44
    right: float = 12
    top: float = 24
    bottom: float = 36

    def across(self, values: Any) -> Array:
        inner = self.width - self.left - self.right
        return self.left + inner * (np.asarray(values, float) - self.x[0]) / (self.x[1] - self.x[0])

    def up(self, values: Any) -> Array:
        inner, low, high = self.height - self.top - self.bottom, *self.y
        return self.top + inner * (high - np.asarray(values, float)) / (high - low)

    def line(self, x: Array, y: Array, role: str) -> Markup:
        return tag("polyline", points=self._points(x, y), class_=f"line {role}")

    def band(self, x: Array, low: Array, high: Array, role: str) -> Markup:
        top, bottom = self._points(x, high), self._points(x[::-1], low[::-1])
        return tag("polygon", points=f"{top} {bottom}", class_=f"band {role}")

    def dots(self, x: Array, y: Array, role: str, size: float = 2.5) -> Markup:
        places = zip(self.across(x), self.up(y), strict=True)
        return join(
            tag("circle", cx=_n(a), cy=_n(b), r=size, class_=f"dot {role}") for a, b in places
        )

    def bar(self, x: Span, y: Span, role: str, title: str | None = None) -> Markup:
        (a, b), (low, high) = self.across(x), self.up(y)
        label = None if title is None else tag("title", title)
        return tag("rect", label, x=_n(a), y=_n(high), width=_n(max(b - a, 0.5)),
                   height=_n(max(low - high, 0.0)), class_=f"bar {role}")  # fmt: skip

    def rule(self, role: str, *, x: float | None = None, y: float | None = None) -> Markup:
        """Return a line across the frame at one x or one y."""
        if x is not None:
            a = _n(float(self.across(x)))
            return tag("line", x1=a, x2=a, y1=self.top, y2=self.height - self.bottom,
                       class_=f"line {role}")  # fmt: skip
        b = _n(float(self.up(y)))
        return tag("line", x1=self.left, x2=self.width - self.right, y1=b, y2=b,
                   class_=f"line {role}")  # fmt: skip

    def label(self, x: float, y: float, text: str, role: str = "", anchor: str = "start") -> Markup:
        """Return text at a point of the data."""
        at = {"x": _n(float(self.across(x))), "y": _n(float(self.up(y)))}
        return tag("text", text, **at, class_=role or None, text_anchor=anchor)

    def frame(self, x_label: str, y_label: str, whole_x: bool = False) -> Markup:
        """Return the grid, the numbers and the names of both axes; the name of y is on top."""
        parts, foot = [], self.height - self.bottom
        for v in ticks(self.y, 4):
            b = float(self.up(v))
            parts.append(tag("line", x1=self.left, x2=self.width - self.right, y1=_n(b), y2=_n(b),
                             class_="grid"))  # fmt: skip
            parts.append(tag("text", number(v), x=self.left - 6, y=_n(b + 3.5), text_anchor="end"))
        for v in ticks(self.x, 6):
            if not whole_x or v == round(v):
                a = float(self.across(v))
                parts.append(tag("text", number(v), x=_n(a), y=foot + 15, text_anchor="middle"))
        middle = (self.left + self.width - self.right) / 2
        parts.append(tag("text", x_label, x=middle, y=self.height - 5, text_anchor="middle",
                         class_="name"))  # fmt: skip
        parts.append(tag("text", y_label, x=4, y=12, class_="name"))
        return join(parts)

    def figure(self, label: str, *parts: object) -> Markup:
        """Return the whole figure; a screen reader reads `label`."""
        return svg(self.width, self.height, label, *parts)

    def _points(self, x: Array, y: Array) -> str:
        return " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(self.across(x), self.up(y), strict=True))


def svg(width: float, height: float, label: str, *parts: object, class_: str = "plot") -> Markup:
    """Return an SVG element with a label for screen readers."""
    return tag("svg", *parts, viewBox=f"0 0 {width:g} {height:g}", role="img", aria_label=label,
               class_=class_)  # fmt: skip


def span(values: Any, around: float = 0.06) -> Span:
    """Return the range of the finite values, with some room around it."""
    numbers = np.asarray(values, float)
    numbers = numbers[np.isfinite(numbers)]
    low, high = (float(numbers.min()), float(numbers.max())) if len(numbers) else (0.0, 1.0)
    room = around * (high - low) if high > low else 0.5 * max(abs(high), 1.0)
    return low - room, high + room


def ticks(span: Span, count: int) -> list[float]:
    """Return round numbers within a span: steps of 1, 2 or 5 times a power of ten."""
    low, high = span
    rough = (high - low) / count
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(m * power for m in (1, 2, 5, 10) if m * power >= rough * 0.999)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    numbers = [round(k * step, 12) for k in range(first, last + 1)]
    return numbers if len(numbers) > 1 else ticks(span, 2 * count)


def number(value: float) -> str:
    """Return a number with a few digits and a true minus sign."""
    return f"{value:.6g}".replace("-", "−")


def thin(length: int, points: int = POINTS) -> Array:
    """Return the indices of at most `points` of `length` points, evenly spread."""
    if length <= points:
        return np.arange(length)
    return np.linspace(0, length - 1, points).round().astype(int)


def runs(mask: Array) -> list[Span]:
    """Return begin and end of each run of True: (T,) → [(first, last + 1), …]."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], mask.astype(int), [0]])))
    return [(float(a), float(b)) for a, b in zip(edges[::2], edges[1::2], strict=True)]


def legend(entries: Sequence[tuple[str, str]]) -> Markup:
    """Return what the marks mean, a (role, words) each."""
    keys = []
    for role, words in entries:
        colour = tag("rect", width=18, height=10, class_=f"key {role}")
        sample = tag("svg", colour, viewBox="0 0 18 10", aria_hidden="true", class_="swatch")
        keys.append(tag("li", sample, words))
    return tag("ul", *keys, class_="legend")


def _n(value: float) -> str:
    return f"{value:.1f}"
