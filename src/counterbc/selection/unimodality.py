"""A test for more than one peak, with few false alarms for any distribution with one peak."""

from __future__ import annotations

import math

import numpy as np

from counterbc.data.demonstrations import Array

FALSE_ALARMS = 0.01
"""The largest rate of false alarms for independent errors of up to 20 dimensions."""
# √n times the departure of n uniform numbers exceeds the second value with the first probability,
# or less often: of 20,000 draws or more, for n = 30 to 2000.
_TAIL = ((0.01, 0.99), (0.005, 1.03), (0.002, 1.09), (0.001, 1.13), (0.0005, 1.17))


def two_peaks(errors: Array) -> list[int]:
    """Return the dimensions of (n, A) errors with more than one peak, corrected by Bonferroni.

    Of all distributions with one peak the uniform comes nearest to two (Hartigan and Hartigan,
    1985), so what its samples rarely reach, no other's do more often.
    """
    n, size = errors.shape
    log_level = math.log(FALSE_ALARMS / size)
    critical = np.interp(-log_level, [-math.log(p) for p, _ in _TAIL], [c for _, c in _TAIL])
    return [d for d in range(size) if math.sqrt(n) * departure(errors[:, d]) > critical]


def departure(x: Array) -> float:
    """Return the distance of the distribution function of x from any that is convex, then concave.

        min_m max(sup_(x ≤ m) F − G, sup_(x ≥ m) H − F)

    where G is the largest convex function below F left of m, H the least concave above it right of
    m. A sample with one peak has such an m; between two peaks F bends the other way.
    """
    value, count = np.unique(x, return_counts=True)
    f = (np.cumsum(count) - count / 2) / len(x)  # F in the middle of its steps
    low, high = 0, len(value) - 1  # the left part departs more as m grows, the right part less
    best = math.inf
    while low <= high:
        m = (low + high) // 2
        below = _above_convex(value[: m + 1], f[: m + 1])
        right = _above_convex(-value[m:][::-1], 1 - f[m:][::-1])
        best = min(best, max(below, right))
        if below < right:
            low = m + 1
        else:
            high = m - 1
    return best


def _above_convex(x: Array, f: Array) -> float:
    """Return the largest distance of the points above their lower convex hull."""
    hull: list[int] = []
    for i in range(len(x)):
        while len(hull) > 1 and _turns_down(x, f, hull[-2], hull[-1], i):
            hull.pop()
        hull.append(i)
    return float((f - np.interp(x, x[hull], f[hull])).max())


def _turns_down(x: Array, f: Array, a: int, b: int, c: int) -> bool:
    return bool((f[b] - f[a]) * (x[c] - x[b]) >= (f[c] - f[b]) * (x[b] - x[a]))
