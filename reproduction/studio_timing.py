"""The table of the docs about the studio's timing while the page in a browser records."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from reproduction.markdown import markdown_table
from reproduction.options import DOCS
from reproduction.plots import title
from reproduction.records import read

TIMES = DOCS.parent / "benchmarks" / "results" / "studio-browser.json"
NONE = "Not measured yet."
COLUMNS = {"jitter": ".2f", "latency": ".1f", "draw": ".1f", "disk": ".0f"}


def browser_table(path: Path = TIMES) -> str:
    """Return jitter, latency, drawing and time to the disk in each world, in milliseconds."""
    if not path.exists():
        return NONE
    content: dict[str, Any] = read(path)
    lines = [
        [
            title(row["world"]), str(row["rate"]), str(row["steps"]),
            *(f"{row[f'{name}_{q}']:{digits}}" for name, digits in COLUMNS.items()
              for q in ("p50", "p99")),
            f"{row['disk_max']:.0f}",
        ]
        for row in content["rows"]
    ]  # fmt: skip
    columns = (
        "world", "steps a second", "steps", "jitter p50", "jitter p99", "latency p50",
        "latency p99", "drawing p50", "drawing p99", "to the disk p50", "to the disk p99",
        "largest",
    )  # fmt: skip
    return f"{markdown_table(columns, lines)}\n\nLoad of the machine: {content['load']:.1f}."
