"""The tables of docs/push-t.md from the rows of the study `push-t`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from counterbc.acting.act import ACTS
from counterbc.experiments.file_data import ALL, Subset
from reproduction.studies.push_t import ROWS, SUBSETS, WORLD, rows_of
from reproduction.tables import ComparisonLine, archived_rows, compare_methods, markdown

SUMMARIZED = ("Counter-BC, Δ 0.4", "Counter-BC, Δ auto")


def sections(results: Path) -> dict[str, dict[str, str]]:
    """Return the tables of docs/push-t.md."""
    text = tables(results / f"{WORLD}-default", "default")
    return {"push-t": {"results, default network": text}}


def tables(folder: Path, network: str) -> str:
    """Return a Markdown table for each subset and way of acting, and a sentence on each."""
    rows = archived_rows(folder)
    keys = {key(row): (i, name) for i, (name, row) in enumerate(rows_of(network))}
    columns = zip(rows.method, rows.radius, rows.changes, rows.cleaned, strict=True)
    labels = [keys[column] for column in columns]
    rows["order"], rows["label"] = [i for i, _ in labels], [name for _, name in labels]
    blocks, summary = [], []
    for subset in SUBSETS:
        for act in ACTS:
            part = rows[(rows.subset == str(subset)) & (rows.act == act)].sort_values("order")
            if not len(part):
                continue
            lines = compare_methods(part, "best_coverage", base=ROWS[0][0])
            pairs, seeds = round(part.pairs.mean()), part.seed.nunique()
            acting = "the mean action" if act == "mean" else "sampled actions"
            head = f"**{_subset_title(subset)}** ({pairs} pairs), {acting}, {seeds} seeds"
            blocks.append(f"{head}\n\n{markdown(lines, 'best coverage')}\n")
            comparisons = len(lines) - 1
            summary += [
                f"- {head}: {verdict(x, comparisons)}" for x in lines if x.label in SUMMARIZED
            ]
    return "\n" + "\n".join(summary) + "\n\n" + "\n".join(blocks)


def verdict(line: ComparisonLine, comparisons: int) -> str:
    """Return a sentence on whether a method helps; p is adjusted over the table's methods."""
    assert line.above is not None
    i, p = line.above.interval, line.above.p * comparisons
    side = "above BC" if i.mean > 0 else "below BC"
    unadjusted = f"{side}, but not after adjustment (p = {min(p, 1):.2f})"
    apart = i.low > 0 or i.high < 0
    word = f"is {side}" if p < 0.05 else f"is {unadjusted}" if apart else "shows no difference"
    chosen_text = f" (chosen: {min(line.radius):.2g} to {max(line.radius):.2g})"
    return (
        f"{line.label}{chosen_text if line.label.endswith('auto') else ''} {word}: {i.mean:+.3f} "
        f"[{i.low:+.3f}, {i.high:+.3f}] against BC"
    ).replace("-0.", "−0.")


def key(row: dict[str, Any]) -> tuple[str, str, str, bool]:
    """Return the columns that identify a row of `ROWS` in the archive."""
    radius = row.get("radius", "")
    text = f"{radius:g}" if isinstance(radius, float) else radius
    return row["method"], text, json.dumps(row["changes"]), row.get("cleaned", False)


def _subset_title(subset: Subset) -> str:
    return "All episodes" if subset == ALL else f"{100 * subset.share:g} % of the episodes"
