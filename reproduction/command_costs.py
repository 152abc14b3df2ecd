"""What each command costs, for its page of the docs; `benchmarks/commands.py` measures it."""

from __future__ import annotations

from reproduction.markdown import markdown_table
from reproduction.options import DOCS
from reproduction.records import Record, read

COSTS = DOCS.parent / "benchmarks" / "results" / "commands.json"
PAGES = {
    "formats": "inspect",
    "radius": "radius",
    "tune": "tune",
    "scores": "score",
    "clean": "clean",
    "intents": "intents",
    "influence": "influence",
    "report": "report",
}
"""The command that each page is about."""


def sections() -> dict[str, dict[str, str]]:
    """Return the table of all commands, and a sentence for the page of each."""
    rows: list[Record] = read(COSTS)
    by_command = {row["command"]: row for row in rows}
    pages = {page: {"cost": sentence(by_command[name])} for page, name in PAGES.items()}
    return {"benchmarks": {"commands": table(rows)}, **pages}


def table(rows: list[Record]) -> str:
    """Return processor time and memory of each command."""
    lines = [[f"`{r['command']}`", f"{r['processor']:.0f} s", f"{r['megabytes']} MB"] for r in rows]
    return markdown_table(["command", "processor time", "memory"], lines)


def sentence(row: Record) -> str:
    """Return what a command costs."""
    return (
        f"`{row['command']}` takes {row['processor']:.0f} s of one core and {row['megabytes']} MB "
        f"for {row['pairs']} pairs in {row['episodes']} episodes"
    )
