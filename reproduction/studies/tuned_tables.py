"""Tables of tuned methods: means, paired differences, and losses that cannot be excluded."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from counterbc.acting.intervals import holm, mean_interval
from reproduction.markdown import markdown_table
from reproduction.records import Record

BC, CANDIDATE = "bc, tuned", "counter-bc, tuned"
COLUMNS = ("bc, 10,000 steps", "counter-bc, 10,000 steps", BC, CANDIDATE)
"""The variants in the order of the table."""
LOSS = 2.0
"""Losses of more percent than this are named where they cannot be excluded."""
NAMED = 4
"""Kinds of data named in that sentence, those with the lowest bounds."""


def cost_table(rows: list[Record]) -> str:
    """Return the seconds that `benchmarks/tuning.py` measured, and how they grow with pairs."""
    fewest = {r["world"]: r for r in sorted(rows, key=lambda r: -r["pairs"])}
    lines = []
    for r in rows:
        base = fewest[r["world"]]
        growth = f"{r['tune'] / base['tune']:.1f} × for {r['pairs'] / base['pairs']:g} × the pairs"
        lines.append([
            r["world"], str(r["pairs"]), f"{r['train']:.1f} s", f"{r['tune']:.1f} s",
            f"{r['tune'] / r['train']:.1f}", "–" if r is base else growth,
        ])  # fmt: skip
    columns = ("world", "pairs", "train, fixed", "tune", "tune / train", "growth of tune")
    return markdown_table(columns, lines)


def markdown(rows: list[Record]) -> str:
    """Return the means of every variant, and tuned Counter-BC minus tuned BC with its interval."""
    lines, p_values = [], []
    for key, group in groups_of(rows):
        by_variant = {v: returns_of(group, v) for v in COLUMNS}
        means = [f"{x.mean():.2f}" if len(x) else "–" for x in by_variant.values()]
        texts, p = ["–", "–"], float("nan")
        if is_paired(group):
            difference = by_variant[CANDIDATE] - by_variant[BC]
            texts = [_interval(difference, 2), f"{_interval(percent_of(group), 1)} %"]
            p = _wilcoxon(difference)
        p_values.append(p)
        lines.append(
            [*map(str, key), f"{np.mean([r['shown'] for r in group]):.1f}", *means, *texts]
        )
    for line, p in zip(lines, holm(p_values), strict=True):
        line.append("–" if np.isnan(p) else f"{p:.2f}")
    differences = ("tuned: difference", "in % of bc", "p")
    columns = ("world", "pairs", "teacher", "act", "shown", *COLUMNS, *differences)
    return markdown_table(columns, lines)


def summary(rows: list[Record]) -> str:
    """Return the mean difference over all kinds of data, in percent of tuned BC, by way of acting,
    and in which kinds a loss cannot be excluded.

    Each run has one number, its mean over the kinds of data; the interval is over runs.
    """
    by_act: dict[str, dict[str, np.ndarray[Any, Any]]] = {}
    for (world, pairs, teacher, act), group in groups_of(rows):
        if is_paired(group):
            by_act.setdefault(act, {})[f"{world}, {pairs} pairs, {teacher}"] = percent_of(group)
    lines = [f(act, kinds) for act, kinds in by_act.items() for f in (_mean_line, _bounds_line)]
    return "\n".join(f"- {line}" for line in lines)


def _mean_line(act: str, kinds: dict[str, np.ndarray[Any, Any]]) -> str:
    interval = mean_interval(np.mean(list(kinds.values()), axis=0))
    runs = len(next(iter(kinds.values())))
    return (
        f"act={act}: tuned Counter-BC minus tuned BC is {interval.mean:+.1f} % "
        f"[{interval.low:+.1f}, {interval.high:+.1f}] on average over {len(kinds)} kinds of data, "
        f"{runs} runs."
    )


def _bounds_line(act: str, kinds: dict[str, np.ndarray[Any, Any]]) -> str:
    """Return where the interval of a kind of data reaches below a small loss."""
    bounds = {name: mean_interval(percent).low for name, percent in kinds.items()}
    low = sorted((name for name in bounds if bounds[name] < -LOSS), key=lambda name: bounds[name])
    if not low:
        return f"act={act}: every lower bound is above −{LOSS:g} %."
    named = "; ".join(f"−{-bounds[name]:.1f} % in {name}" for name in low[:NAMED])
    more = f"; and less than that in {len(low) - NAMED} more" if len(low) > NAMED else ""
    return f"act={act}: cannot exclude {named}{more}. All other lower bounds are above −{LOSS:g} %."


def is_paired(group: list[Record]) -> bool:
    """Return whether both tuned methods have the same number of runs."""
    return len(returns_of(group, CANDIDATE)) == len(returns_of(group, BC)) > 0


def percent_of(group: list[Record]) -> np.ndarray[Any, Any]:
    """Return tuned Counter-BC minus tuned BC by seed, in percent of the mean of tuned BC."""
    bc = returns_of(group, BC)
    return np.asarray(100 * (returns_of(group, CANDIDATE) - bc) / abs(bc.mean()))


def _interval(values: np.ndarray[Any, Any], digits: int) -> str:
    interval = mean_interval(values)
    return "{:+.{n}f} [{:+.{n}f}, {:+.{n}f}]".format(
        interval.mean, interval.low, interval.high, n=digits
    )


def returns_of(rows: list[Record], variant: str) -> np.ndarray[Any, Any]:
    """Return the returns of a variant by seed."""
    chosen = sorted((r for r in rows if r["variant"] == variant), key=lambda r: r["seed"])
    return np.array([r["return"] for r in chosen])


def _wilcoxon(difference: np.ndarray[Any, Any]) -> float:
    """Return the two-sided p-value of Wilcoxon's signed-rank test; 1 where nothing differs."""
    from scipy.stats import wilcoxon

    return 1.0 if not difference.any() else float(wilcoxon(difference).pvalue)


def groups_of(rows: list[Record]) -> Iterator[tuple[tuple[str, int, str, str], list[Record]]]:
    """Yield the rows of each kind of data and way of acting."""
    groups: dict[tuple[str, int, str, str], list[Record]] = {}
    for r in rows:
        groups.setdefault((r["world"], r["pairs"], r["teacher"], r["act"]), []).append(r)
    yield from sorted(groups.items())
