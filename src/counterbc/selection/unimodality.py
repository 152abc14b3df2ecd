"""Whether errors pile up at two places: a test that no distribution with one peak fools often."""

from __future__ import annotations

import math

import numpy as np

from counterbc.data.demonstrations import Array

FALSE_ALARMS = 0.01
"""How often, at most, independent errors with one peak are said to have two; the table below ends
at 20 dimensions."""
# √n times the departure of n uniform numbers exceeds the second value with the first probability,
# or less often: of 20,000 draws or more, for n = 30 to 2000.
_TAIL = ((0.01, 0.99), (0.005, 1.03), (0.002, 1.09), (0.001, 1.13), (0.0005, 1.17))


def two_peaks(errors: Array) -> list[int]:
    """The dimensions of (n, A) errors that have more than one peak, by Bonferroni over them.

    Of all distributions with one peak the uniform comes nearest to two (Hartigan and Hartigan,
    1985), so what its samples rarely reach, no other's do more often.
    """
    n, size = errors.shape
    allowed = math.log(FALSE_ALARMS / size)
    critical = np.interp(-allowed, [-math.log(p) for p, _ in _TAIL], [c for _, c in _TAIL])
    return [d for d in range(size) if math.sqrt(n) * departure(errors[:, d]) > critical]


def departure(x: Array) -> float:
    """How far the distribution function of x is from any that is convex, then concave.

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
        left = _above_convex(value[: m + 1], f[: m + 1])
        right = _above_convex(-value[m:][::-1], 1 - f[m:][::-1])
        best = min(best, max(left, right))
        if left < right:
            low = m + 1
        else:
            high = m - 1
    return best


def _above_convex(x: Array, f: Array) -> float:
    """The largest distance of the points above the convex function that bounds them from below."""
    hull: list[int] = []
    for i in range(len(x)):
        while len(hull) > 1 and _turns_down(x, f, hull[-2], hull[-1], i):
            hull.pop()
        hull.append(i)
    return float((f - np.interp(x, x[hull], f[hull])).max())


def _turns_down(x: Array, f: Array, a: int, b: int, c: int) -> bool:
    return bool((f[b] - f[a]) * (x[c] - x[b]) >= (f[c] - f[b]) * (x[b] - x[a]))
