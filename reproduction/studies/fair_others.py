"""Methods beside Counter-BC that are tuned alike, against tuned BC at 400 pairs."""

from __future__ import annotations

from collections.abc import Sequence

from counterbc.experiments.styles import method_style
from reproduction.markdown import markdown_table
from reproduction.records import Record
from reproduction.studies.fair_comparisons import at_size, compare, relative

OTHERS = ("epsilon-insensitive", "posterior")
AGAIN = "fair-again"
"""The folder of rows with new seeds, on which a difference seen in the study is tested."""


def others(rows: Sequence[Record], *methods: str) -> str:
    """Return these methods, tuned, against tuned BC by teacher at 400 pairs.

    Intervals are adjusted for all comparisons of the table.
    """
    pairs = [(f"{name}, tuned", "bc, tuned") for name in methods]
    groups = [
        (words, act, [relative(part, *pair, 1) for pair in pairs], part)
        for words, _, act, part in at_size(rows)
    ]
    count = sum(result is not None for _, _, results, _ in groups for result in results)
    lines = [
        [*words, act, *(compare(part, *pair, count) for pair in pairs)]
        for words, act, results, part in groups
        if any(results)
    ]
    head = [f"{method_style(name).label}, tuned over BC, tuned" for name in methods]
    return markdown_table(["world, teacher", "pairs", "act", *head], lines)
