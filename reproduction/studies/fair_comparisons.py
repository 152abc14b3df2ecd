"""Two variants of the study `fair`, compared run by run, in one word, and the rows to compare."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from counterbc.acting.act import ACTS
from counterbc.acting.intervals import Interval, paired_difference
from reproduction.anova import ALPHA
from reproduction.plots import title
from reproduction.records import Record
from reproduction.studies.fair import FAIR_WORLDS
from reproduction.studies.fair_kinds import SCATTERED, WHOLE
from reproduction.verdicts import MARGIN

ABOVE, BELOW, ALIKE, OPEN = "above", "below", "alike", "open"
Runs = dict[int, float]
"""A number for each seed."""
Kind = tuple[int, str, str, float | None]
"""Number of pairs, how they were taken, teacher and σ."""


def by_run(rows: Sequence[Record], variants: Sequence[str]) -> np.ndarray[Any, Any] | None:
    """Return runs × variants: means over the teachers and sizes that all of the variants have.

    A run in which one of them diverged is left out. None where they have nothing in common.
    """
    cell_group = list(shared_cells(rows, variants).values())
    seeds = [set(cell[v]) for cell in cell_group for v in variants]
    if not seeds or not (seed_list := sorted(set.intersection(*seeds))):
        return None
    values = [[[cell[v][s] for v in variants] for s in seed_list] for cell in cell_group]
    return np.asarray(np.mean(values, axis=0))  # (runs, variants)


def shared_cells(rows: Sequence[Record], variants: Sequence[str]) -> dict[Kind, dict[str, Runs]]:
    """Return the kinds of demonstrations that all of the variants have, with the runs of each."""
    cells: dict[Kind, dict[str, Runs]] = {}
    for r in rows:
        if r["return"] is not None and (not variants or r["variant"] in variants):
            kind = r["pairs"], r["taken"], r["teacher"], r["sigma"]
            cells.setdefault(kind, {}).setdefault(r["variant"], {})[r["seed"]] = r["return"]
    return {kind: cell for kind, cell in cells.items() if set(variants) <= set(cell)}


def word(difference: Interval, rival: float) -> str:
    """Return one word on a difference and its interval: above, below, alike or open."""
    if difference.low > 0 or difference.high < 0:
        return ABOVE if difference.low > 0 else BELOW
    margin = MARGIN * abs(rival)
    return ALIKE if -margin <= difference.low and difference.high <= margin else OPEN


def relative(
    rows: Sequence[Record], candidate: str, rival: str, count: int
) -> tuple[Interval, str] | None:
    """Return a difference in per cent of the rival's mean, and one word; None where it was not run.

    The interval is adjusted for `count` comparisons by Bonferroni.
    """
    runs = by_run(rows, (candidate, rival))
    if runs is None:
        return None
    difference = paired_difference(*runs.T, level=1 - ALPHA / max(1, count)).interval
    scale = 100 / abs(runs[:, 1].mean())
    mean, se, low, high = (
        float(scale * x) for x in (difference.mean, difference.se, difference.low, difference.high)
    )
    answer = word(difference, float(runs[:, 1].mean()))
    return Interval(mean, se, low, high, difference.n), answer


def compare(rows: Sequence[Record], candidate: str, rival: str, count: int) -> str:
    """Return a relative difference with its interval, adjusted for `count`, and one word."""
    return comparison_text(relative(rows, candidate, rival, count))


def comparison_text(result: tuple[Interval, str] | None) -> str:
    """Return a relative difference with its interval and one word; a dash where it was not run."""
    if result is None:
        return "–"
    interval, answer = result
    text = f"{interval.mean:+.1f} % [{interval.low:+.1f}, {interval.high:+.1f}]"
    return f"{text.replace('-', '−')} {answer}"


def places(rows: Iterable[Record]) -> Iterator[tuple[str, str, list[Record]]]:
    """Yield the rows of figures 4 and 7 of each world and way of taking pairs."""
    main_rows = [row for row in rows if row["sigma"] in (None, 0.5)]
    for world in FAIR_WORLDS:
        for protocol in (SCATTERED, WHOLE):
            group = [r for r in main_rows if (r["world"], r["taken"]) == (world, protocol)]
            if group:
                yield world, protocol, group


def at_size(
    rows: Iterable[Record], pairs: int = 400
) -> Iterator[tuple[list[str], str, str, list[Record]]]:
    """Yield the rows of this many pairs of each kind of demonstrations and way of acting.

    With the first columns of their line, the teacher and the way of acting.
    """
    for world, protocol, group in places([r for r in rows if r["pairs"] == pairs]):
        for teacher in dict.fromkeys(r["teacher"] for r in group):
            for act in reversed(ACTS):
                part = [r for r in group if (r["teacher"], r["act"]) == (teacher, act)]
                yield [title(world, teacher), protocol], teacher, act, part
