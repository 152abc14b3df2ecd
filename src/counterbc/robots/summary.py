"""What a run of the loop amounts to: timing, missed deadlines, faults."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from counterbc.robots.tick_log import Tick

TIMES = ("late", "jitter", "age", "inference", "round_trip", "latency")


def summarize(ticks: Sequence[Tick]) -> dict[str, Any]:
    """Return the numbers of a run, times in milliseconds."""
    faults = Counter(tick.fault for tick in ticks if tick.fault)
    return {
        "ticks": len(ticks),
        "seconds": round(ticks[-1].sent, 3) if ticks else 0.0,
        "missed": sum(tick.missed for tick in ticks),
        "faults": dict(faults),
        "times_ms": {name: quantiles(getattr(tick, name) for tick in ticks) for name in TIMES},
    }


def quantiles(values: Iterable[float | None]) -> dict[str, float | None]:
    """Return median, 99th percentile and largest of some seconds, in milliseconds."""
    measured_values = [value for value in values if value is not None]
    if not measured_values:
        return dict.fromkeys(("p50", "p99", "max"))
    numbers = 1000 * np.quantile(measured_values, [0.5, 0.99, 1.0])
    return dict(zip(("p50", "p99", "max"), np.round(numbers, 3).tolist(), strict=True))


def check_facts(about: Mapping[str, str]) -> None:
    """Refuse a rate or lag that is no number, before an arm moves."""
    try:
        rate, lag = policy_rate(about), trained_lag(about, 1.0)["ms"]
        numbers = [1.0 if rate is None else rate, *(lag or [])]
        is_sound = np.isfinite(numbers).all() and numbers[0] > 0
    except (ValueError, TypeError, ArithmeticError):  # a file may hold any text
        is_sound = False
    if not is_sound:
        raise ValueError(f"its rate {about.get('rate')} or lag {about.get('lag')} is no number")


def policy_rate(about: Mapping[str, str]) -> float | None:
    """Return the rate of the demonstrations in Hz; None for a file that does not name it."""
    return float(json.loads(about["rate"])) if "rate" in about else None


def trained_lag(about: Mapping[str, str], rate: float) -> dict[str, Any]:
    """Return the lag of the demonstrators that training undid, in steps and milliseconds.

    It is a fact about the people, not about the loop: camera, policy and arm add their own delay.
    Its steps are those of the demonstrations; `rate` counts only where the file does not name
    theirs.
    """
    steps = json.loads(about["lag"]) if "lag" in about else None
    rate = policy_rate(about) or rate
    return {"steps": steps, "ms": None if steps is None else [1000 * k / rate for k in steps]}
