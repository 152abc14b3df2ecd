"""Tables of the study `lerobot`."""

from __future__ import annotations

import numpy as np

from counterbc.acting.intervals import Interval, paired_difference
from reproduction.markdown import markdown_table
from reproduction.records import Record
from reproduction.studies.lerobot import MEASURE, PLAIN, POLICIES, SEEDS, SETTINGS

HELPS, HURTS, UNDECIDED = "helps", "hurts", "no difference shown"
FEWEST = 4
"""Trainings of a variant below which its difference from plain gets no verdict."""


def report_table(rows: list[Record]) -> str:
    """Return each variant, and its difference from plain, by seed."""
    lines = []
    for policy in POLICIES:
        for data, variants in SETTINGS.items():
            plain = report_rows(rows, policy, data, PLAIN)
            for variant in variants:
                if results := report_rows(rows, policy, data, variant):
                    lines.append([policy, data, variant, *_cells(results, plain)])
    head = (
        "policy", "data", "variant", "Δ", "lag, frames", "steps", "best overlap (each training)",
        "success", "best overlap above plain, by seed", "by start", "verdict", "policies",
    )  # fmt: skip
    return markdown_table(head, lines)


def report_rows(rows: list[Record], policy: str, data: str, variant: str) -> dict[int, Record]:
    """Return the rows of a variant, by seed."""
    about = {"policy": policy, "data": data, "variant": variant}
    hits = [row for row in rows if about.items() <= row.items()]
    return {seed: row for seed in SEEDS for row in hits if row["seed"] == seed}


def _cells(results: dict[int, Record], plain: dict[int, Record]) -> list[str]:
    first = next(iter(results.values()))
    scores = [row[MEASURE] for row in results.values()]
    success = np.mean([row["success"] for row in results.values()])
    cells = [
        f"{first['radius']:g}", f"{first['lag']:g}", f"{first['steps']:,}",
        f"{np.mean(scores):.3f} ({', '.join(f'{x:.3f}' for x in scores)})",
        f"{100 * success:.0f} %",
    ]  # fmt: skip
    both = [seed for seed in results if seed in plain]
    if first["variant"] == PLAIN or len(both) < 2:
        return [*cells, "", "", "", str(len(results))]
    ours, theirs = ([x[seed] for seed in both] for x in (results, plain))
    by_seed = _gap([row[MEASURE] for row in ours], [row[MEASURE] for row in theirs])
    by_start = _gap(*([s for row in rows for s in row["scores"]] for rows in (ours, theirs)))
    texts = [f"{g.mean:+.3f} [{g.low:+.3f}, {g.high:+.3f}]" for g in (by_seed, by_start)]
    word = verdict(by_seed.low, by_seed.high) if len(both) >= FEWEST else "too few trainings"
    return [*cells, *texts, word, str(len(results))]


def _gap(ours: list[float], theirs: list[float]) -> Interval:
    return paired_difference(np.array(ours), np.array(theirs)).interval


def verdict(low: float, high: float) -> str:
    """Return what the 95 % interval of a difference from plain says."""
    return HELPS if low > 0 else HURTS if high < 0 else UNDECIDED
