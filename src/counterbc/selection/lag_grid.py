"""The lags that are tried, coarse to fine: at high rates neighbouring ones hardly differ.

Up to 50 steps per second every lag is tried. At 240 it would be 97 of them; evenly spaced ones and
those around the answer are at most 49.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import ceil

COARSE = 20
"""Intervals between the lags that are tried first."""
FINE = 5
"""Parts into which such an interval is divided where the answer may lie."""
_INTERVALS = 7  # that are divided: after 0, and on both sides of three lags


def coarse_lags(longest: int) -> tuple[int, ...]:
    """Return the lags that are tried first: every one of a few, else evenly spaced ones."""
    return (*range(0, longest, ceil(longest / COARSE)), longest)


def most_lags(longest: int) -> int:
    """Return how many lags are tried at most."""
    first = coarse_lags(longest)
    return len(first) + _INTERVALS * len(finer_lags(first[:2], 0))


def finer_lags(lags: Sequence[int], near: int) -> list[int]:
    """Return lags that divide the intervals on both sides of one of the lags tried."""
    between = [(a, b) for a, b in pairwise(lags) if near in (a, b)]
    return [k for a, b in between for k in range(a, b, ceil((b - a) / FINE)) if k > a]
