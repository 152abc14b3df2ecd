"""Values of cells and results as short text, for file names, columns and tables."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from counterbc.acting.intervals import Interval


def join_value(value: Any) -> str:
    """Return "0.4" for a number, "0.4,0" for several, JSON for a mapping and "" for None."""
    if value is None or isinstance(value, str):
        return value or ""
    if isinstance(value, Mapping):
        return json.dumps(dict(value))
    if isinstance(value, (tuple, list)):
        return ",".join(join_value(v) for v in value)
    return f"{value:g}" if isinstance(value, float) else str(value)


def interval_text(interval: Interval) -> str:
    """Return "0.0138 [0.0127, 0.0149]": two digits or more of the interval's half-width."""
    half = (interval.high - interval.low) / 2
    scale = half if half > 0 else abs(interval.mean)  # NaN compares false
    digits = 1 - math.floor(math.log10(scale)) if math.isfinite(scale) and scale > 0 else 2
    digits = min(max(digits, 2), 9)
    mean = f"{interval.mean:.{digits}f}"
    if interval.n < 2:
        return mean
    return f"{mean} [{interval.low:.{digits}f}, {interval.high:.{digits}f}]"
