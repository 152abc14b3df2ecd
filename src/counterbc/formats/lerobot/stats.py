"""The statistics that LeRobot stores for each episode and for the whole dataset.

std divides by the number of values. Quantiles of the dataset are combined from those of the
episodes as LeRobot does: minimum of the lower ones, maximum of the upper ones, mean of the medians.
"""

from __future__ import annotations

import numpy as np

from counterbc.data.arrays import Array

Stats = dict[str, Array]

_QUANTILES = {"q01": 0.01, "q10": 0.10, "q50": 0.50, "q90": 0.90, "q99": 0.99}
NAMES = ("min", "max", "mean", "std", "count", *_QUANTILES)


def number_stats(values: Array) -> Stats:
    """Return the statistics of (T, n) numbers: (n,) each."""
    exact = values.astype(np.float64)
    points = np.quantile(exact, list(_QUANTILES.values()), axis=0)  # (5, n)
    return {
        "min": exact.min(0),
        "max": exact.max(0),
        "mean": exact.mean(0),
        "std": exact.std(0),
        "count": np.array([len(exact)]),
        **dict(zip(_QUANTILES, points, strict=True)),
    }


def pixel_stats(frames: Array) -> Stats:
    """Return the statistics of (T, H, W, C) images per channel, in [0, 1]: (C, 1, 1) each."""
    channels = range(frames.shape[-1])
    counts = np.stack([np.bincount(frames[..., c].ravel(), minlength=256) for c in channels])
    levels = np.arange(256) / 255
    share = counts / counts.sum(1, keepdims=True)  # (C, 256)
    mean = share @ levels
    below = np.cumsum(share, axis=1)
    stats = {
        "min": np.array([levels[np.flatnonzero(c)[0]] for c in counts]),
        "max": np.array([levels[np.flatnonzero(c)[-1]] for c in counts]),
        "mean": mean,
        "std": np.sqrt((share * (levels - mean[:, None]) ** 2).sum(1)),
        **{k: levels[(below < q).sum(1).clip(max=255)] for k, q in _QUANTILES.items()},
    }
    return {k: v.reshape(-1, 1, 1) for k, v in stats.items()} | {"count": np.array([len(frames)])}


def combine(a: Stats, b: Stats) -> Stats:
    """Return the statistics of two sets of values together."""
    m, n = float(a["count"][0]), float(b["count"][0])
    mean = (m * a["mean"] + n * b["mean"]) / (m + n)
    variance = sum(
        k * (s["std"] ** 2 + (s["mean"] - mean) ** 2) for k, s in ((m, a), (n, b))
    ) / (m + n)  # fmt: skip
    return {
        "mean": mean,
        "std": np.sqrt(variance),
        "count": a["count"] + b["count"],
        "q50": (m * a["q50"] + n * b["q50"]) / (m + n),
        **{k: np.minimum(a[k], b[k]) for k in ("min", "q01", "q10")},
        **{k: np.maximum(a[k], b[k]) for k in ("max", "q90", "q99")},
    }
