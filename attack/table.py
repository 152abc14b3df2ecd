"""The results of the attack as a table, and the findings by root cause."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from attack.rows import Row

START, END = "<!-- attack -->", "<!-- end of attack -->"


def summary(parts: dict[str, list[Row]]) -> str:
    """Return a markdown table with one line per part: cases, outcomes and findings."""
    lines = ["| part | cases | outcomes | findings |", "|---|---|---|---|"]
    for name, rows in parts.items():
        good = Counter(row.outcome for row in rows if not row.is_finding)
        bad = Counter(row.outcome for row in rows if row.is_finding)
        lines.append(
            f"| {name} | {len(rows):,} | {_counts(good) or '–'} | {_counts(bad) or 'none'} |"
        )
    return "\n".join(lines)


def _counts(counts: Counter[str]) -> str:
    return ", ".join(f"{outcome} {count:,}" for outcome, count in counts.most_common())


def by_cause(rows: Sequence[Row]) -> str:
    """Return the findings by outcome and root cause, the most frequent first, with an example."""
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        if row.is_finding:
            groups.setdefault((row.outcome, row.cause), []).append(row)
    ordered = sorted(groups.items(), key=lambda item: -len(item[1]))
    lines = [
        f"{len(group):6d}  {outcome}: {cause}    (for example {group[0].key})"
        for (outcome, cause), group in ordered
    ]
    return "\n".join(lines) or "no findings"


def extremes(rows: Sequence[Row]) -> str:
    """Return the longest processor time and the largest memory of all cases."""
    slowest = max(rows, key=lambda row: row.seconds)
    largest = max(rows, key=lambda row: row.megabytes)
    return (
        f"most processor time {slowest.seconds:.1f} s ({slowest.key}), "
        f"most memory {largest.megabytes:,.0f} MB ({largest.key})"
    )


def fill(page: Path, table: str) -> None:
    """Put a table between the two marks of a page."""
    text = page.read_text("utf-8")
    pattern = re.compile(f"{re.escape(START)}.*?{re.escape(END)}", re.DOTALL)
    if not pattern.search(text):
        raise ValueError(f"{page} has no place for the table: {START} … {END}")
    page.write_text(pattern.sub(lambda _: f"{START}\n{table}\n{END}", text), "utf-8")
