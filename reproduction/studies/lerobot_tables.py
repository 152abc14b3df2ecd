"""Tables of the study `lerobot`."""

from __future__ import annotations

import numpy as np

from counterbc.acting.intervals import Interval, paired_difference
from reproduction.markdown import markdown_table
from reproduction.records import Record
from reproduction.studies.lerobot import LATE, MEASURE, PLAIN, POLICIES, SEEDS, SETTINGS, cells

HELPS, HURTS, UNDECIDED = "helps", "hurts", "no difference shown"
FEWEST = 2
"""Trainings of a variant below which its difference from plain gets no verdict."""
COMPARISONS = sum(len(variants) - 1 for variants in SETTINGS.values())
"""Differences of a policy that are looked at; intervals are adjusted for them (Bonferroni)."""


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
        "success", "above plain, each training", "by start", "verdict", "policies",
    )  # fmt: skip
    return markdown_table(head, lines)


def report_rows(rows: list[Record], policy: str, data: str, variant: str) -> dict[int, Record]:
    """Return the rows of a variant, by seed."""
    about = {"policy": policy, "data": data, "variant": variant}
    hits = [row for row in rows if about.items() <= row.items()]
    return {seed: row for seed in SEEDS for row in hits if row["seed"] == seed}


def late_sentence(rows: list[Record]) -> str:
    """Return the best overlaps on late data, without and with the lag undone."""
    plain, undone = ([_mean(rows, policy, v) for policy in POLICIES] for v in (PLAIN, "lag"))
    return (
        f"ACT reaches a best overlap of {plain[0]}, and {undone[0]} with this lag undone; a "
        f"diffusion policy {plain[1]} and {undone[1]}"
    )


def _mean(rows: list[Record], policy: str, variant: str) -> str:
    scores = [row[MEASURE] for row in report_rows(rows, policy, LATE, variant).values()]
    return f"{np.mean(scores):.2f}" if scores else "unknown"


def counts_sentence(rows: list[Record]) -> str:
    """Return how many of the planned trainings are on file."""
    planned = [(c.policy, c.data, c.variant, c.seed) for c in cells()]
    stored = {tuple(row[name] for name in ("policy", "data", "variant", "seed")) for row in rows}
    return f"{len(stored.intersection(planned))} of {len(planned)} planned trainings"


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
    if first["variant"] == PLAIN or not both:
        return [*cells, "", "", "", str(len(results))]
    ours, theirs = ([x[seed] for seed in both] for x in (results, plain))
    gaps = [a[MEASURE] - b[MEASURE] for a, b in zip(ours, theirs, strict=True)]
    by_start = _gap(*([s for row in rows for s in row["scores"]] for rows in (ours, theirs)))
    text = f"{by_start.mean:+.3f} [{by_start.low:+.3f}, {by_start.high:+.3f}]"
    word = verdict(by_start, gaps) if len(both) >= FEWEST else "one training"
    return [*cells, ", ".join(f"{x:+.3f}" for x in gaps), text, word, str(len(results))]


def _gap(ours: list[float], theirs: list[float]) -> Interval:
    level = 1 - 0.05 / COMPARISONS
    return paired_difference(np.array(ours), np.array(theirs), level=level).interval


def verdict(by_start: Interval, gaps: list[float]) -> str:
    """Return what the differences from plain say: by start, and of each training."""
    if by_start.low > 0 and min(gaps) > 0:
        return HELPS
    return HURTS if by_start.high < 0 and max(gaps) < 0 else UNDECIDED
