"""Tables of the study `filtering`: returns after excluding, and what is significant."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from counterbc.acting.intervals import Difference, holm, paired_difference
from counterbc.errors import DataError
from reproduction.markdown import markdown_table
from reproduction.records import Record

Array = NDArray[Any]
OURS, ALL, ORACLE = "`counterbc score`", "all", "oracle"
CONTROLS = (ALL, "random", "random, as long", ORACLE)
"""Subsets that are not made by a score."""
LEVEL = 0.05
LABELS = {"bc": "BC", "counter-bc": "Counter-BC"}


def choose_rule(rows: Sequence[Record]) -> str:
    """Return the rule for k with the best mean gain among those not clearly below all the data.

    Clearly is two standard errors in any world. If all rules are, it is the best of them.
    """
    gains = rule_gains(rows)
    if not gains:
        raise DataError("no rows of the choice of k; give --choice-seeds of 1 or more")

    def rank(rule: str) -> tuple[bool, float]:
        by_world = gains[rule].values()
        is_below = any(_mean(g) + 2 * _error(g) < 0 for g in by_world)
        return not is_below, float(np.mean([_mean(g) for g in by_world]))

    return max(gains, key=rank)


def rule_gains(rows: Sequence[Record]) -> dict[str, dict[str, Array]]:
    """Return what each rule gains over all the data by world, in percent: one number per seed.

    Each is the mean over kinds of data and methods.
    """
    choice = [r for r in rows if r["phase"] == "choice"]
    worlds = list(dict.fromkeys(r["world"] for r in choice))
    rules = [s for s in dict.fromkeys(r["subset"] for r in choice) if s != ALL]
    gains: dict[str, dict[str, Array]] = {rule: {} for rule in rules}
    for world in worlds:
        part = [r for r in choice if r["world"] == world]
        methods = list(dict.fromkeys(r["method"] for r in part))
        for rule in rules:
            percent = []
            for method in methods:
                before, after = (by_seed(part, method, name) for name in (ALL, rule))
                percent.append(100 * (after - before) / abs(before.mean()))
            gains[rule][world] = np.mean(percent, axis=0)
    return gains


def by_seed(rows: Sequence[Record], method: str, subset: str) -> Array:
    """Return the return of a subset by seed, the mean over kinds of data: (seeds,)."""
    values: dict[int, list[float]] = {}
    for r in rows:
        if r["method"] == method and r["subset"] == subset:
            values.setdefault(r["seed"], []).append(r["return"])
    return np.array([np.mean(values[seed]) for seed in sorted(values)])


def markdown(rows: Sequence[Record]) -> dict[str, str]:
    """Return the tables of docs/filtering.md by mark."""
    report = [r for r in rows if r["phase"] == "report"]
    return {
        "choice of k": _choice_table(rows),
        "returns": _returns_table(report),
        "by kind": _kinds_table(report),
        "significance": _verdict(report),
    }


def _choice_table(rows: Sequence[Record]) -> str:
    gains, lines = rule_gains(rows), []
    if not gains:
        return ""
    for rule, by_world in gains.items():
        cells = [f"{_mean(g):+.1f} ± {_error(g):.1f} %" for g in by_world.values()]
        part = [r for r in rows if r["phase"] == "choice" and r["subset"] == rule]
        lines.append([rule, f"{np.mean([r['excluded'] for r in part]):.1f}", *cells])
    table = markdown_table(["rule", "excluded of 40", *next(iter(gains.values()))], lines)
    return f"{table}\n\nChosen: {choose_rule(rows)}."


def _comparisons(report: Sequence[Record]) -> dict[tuple[str, str], dict[str, Difference]]:
    """Return each subset minus ours by world and method."""
    by_case: dict[tuple[str, str], dict[str, Difference]] = {}
    for world, method in dict.fromkeys((r["world"], r["method"]) for r in report):
        part = [r for r in report if r["world"] == world]
        names = [n for n in dict.fromkeys(r["subset"] for r in part) if n != OURS]
        baseline = by_seed(part, method, OURS)
        by_case[world, method] = {
            n: paired_difference(by_seed(part, method, n), baseline) for n in names
        }
    return by_case


def _adjusted(differences: dict[str, Difference]) -> dict[str, float]:
    """Return p by Holm's method over the scores; those of the controls are not adjusted."""
    scores = [n for n in differences if n not in CONTROLS]
    corrected = dict(zip(scores, holm([differences[n].p for n in scores]), strict=True))
    return {n: d.p for n, d in differences.items()} | corrected


def _returns_table(report: Sequence[Record]) -> str:
    comparisons, lines = _comparisons(report), []
    worlds = list(dict.fromkeys(world for world, _ in comparisons))
    subsets = list(dict.fromkeys(r["subset"] for r in report))
    order = [ALL, OURS, *(s for s in subsets if s not in (*CONTROLS, OURS)), *CONTROLS[1:]]
    for world in worlds:
        part = [r for r in report if r["world"] == world]
        for subset in [s for s in order if any(r["subset"] == s for r in part)]:
            cells, digits = [], _digits(part)
            for method in LABELS:
                cells.append(f"{by_seed(part, method, subset).mean():.{digits}f}")
                difference = comparisons[world, method].get(subset)
                p = _adjusted(comparisons[world, method]).get(subset, np.nan)
                cells.append("–" if difference is None else _difference_text(difference, p, digits))
            lines.append([world, subset, *cells])
    labels = [text for m in LABELS.values() for text in (m, f"{m}: minus ours, p")]
    return markdown_table(["world", "excluded by", *labels], lines)


def _digits(rows: Sequence[Record]) -> int:
    """Return how many decimals the returns of a world need."""
    return 3 if max(abs(r["return"]) for r in rows) <= 1 else 2


def _difference_text(difference: Difference, p: float, digits: int) -> str:
    x = difference.interval
    mean, low, high = (f"{value:+.{digits}f}" for value in (x.mean, x.low, x.high))
    if np.isnan(p):  # all differences are the same, so there is no interval either
        return f"{mean} –, –"
    return f"{mean} [{low}, {high}], {p:.3f}"


def _kinds_table(report: Sequence[Record]) -> str:
    """Return the mean returns by kind of data, and how well the excluded ones were chosen."""
    lines = []
    for world, kind in dict.fromkeys((r["world"], r["kind"]) for r in report):
        part = [r for r in report if (r["world"], r["kind"]) == (world, kind)]
        our_rows = [r for r in part if r["subset"] == OURS and r["method"] == "bc"]
        hits = f"{np.mean([r['corrupted_excluded'] for r in our_rows]):.1f}"
        cells = [
            f"{by_seed(part, method, name).mean():.{_digits(part)}f}"
            for method in LABELS
            for name in (ALL, OURS, "random", ORACLE)
        ]
        filters = f"{sum(r['ranked'] for r in our_rows)} of {len(our_rows)}"
        count = f"{np.mean([r['excluded'] for r in our_rows]):.1f}"
        lines.append([world, kind, filters, count, f"{hits} of {our_rows[0]['corrupted']}", *cells])
    names = ("all", "ours", "random", "oracle")
    head = [f"{label}: {name}" for label in LABELS.values() for name in names]
    return markdown_table(["world", "data", "ranked", "k", "corrupted among k", *head], lines)


def _verdict(report: Sequence[Record]) -> str:
    """Return which scores are significantly better than ours, and whether all the data are."""
    better: list[str] = []
    worse: list[str] = []
    below: list[str] = []
    for (world, method), differences in _comparisons(report).items():
        for name, p in _adjusted(differences).items():
            text = f"{name} ({world}, {LABELS[method]})"
            if not p < LEVEL:
                continue
            is_higher = differences[name].interval.mean > 0
            if name == ALL and is_higher:
                below.append(text)
            elif name not in CONTROLS:
                (better if is_higher else worse).append(text)
    counts = ", ".join(
        f"{sum(r['excluded'] > 0 for r in rows)} of {len(rows)} ({world})"
        for world, rows in _our_rows(report).items()
    )
    return "\n".join([
        f"- Significantly better than `counterbc score`: {', '.join(better) or 'none'}.",
        f"- Significantly worse: {', '.join(worse) or 'none'}.",
        f"- Significantly below using all the data: {', '.join(below) or 'nowhere'}.",
        f"- Datasets in which the tool excludes anything, so that scores can differ: {counts}.",
    ])  # fmt: skip


def _our_rows(report: Sequence[Record]) -> dict[str, list[Record]]:
    """Return one row of the tool's own exclusion for each dataset, by world."""
    rows: dict[str, list[Record]] = {}
    for r in report:
        if r["subset"] == OURS and r["method"] == next(iter(LABELS)):
            rows.setdefault(r["world"], []).append(r)
    return rows


def _mean(values: Array) -> float:
    return float(np.mean(values))


def _error(values: Array) -> float:
    """Return the standard error of the mean; 0 for one number."""
    return float(np.std(values, ddof=1) / np.sqrt(len(values))) if len(values) > 1 else 0.0
