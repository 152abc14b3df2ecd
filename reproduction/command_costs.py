"""What each command costs, for its page of the docs.

`benchmarks/commands.py`, `large.py`, `starting.py` and `first_commands.py` measure it.
"""

from __future__ import annotations

from reproduction.markdown import markdown_table
from reproduction.options import DOCS
from reproduction.records import Record, read

COSTS = DOCS.parent / "benchmarks" / "results" / "commands.json"
LARGE, STARTING = COSTS.with_name("large.json"), COSTS.with_name("starting.json")
FIRST_COMMANDS = COSTS.with_name("first-commands.json")
RECORDED = COSTS.with_name("commands-large.json")
"""What commands cost on a recording of 25,650 pairs; `score` is on its page."""
FIRST_USE = "first use"
"""The end of the name of a row in which native code is compiled."""
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
    recording_costs = {row["command"]: row for row in read(RECORDED)}
    pages["scores"]["cost on a recording"] = recorded_sentence(recording_costs["score"])
    large: list[Record] = read(LARGE) if LARGE.exists() else []
    starting = read(STARTING) if STARTING.exists() else {}
    tables = {"commands": table(rows)}
    tables |= {"large": large_table(large), "large-run": large_sentence(large)}
    tables |= {"starting": starting_table(starting.get("rows", []))}
    tables |= {"starting-run": starting_sentence(starting)}
    first = read(FIRST_COMMANDS) if FIRST_COMMANDS.exists() else {}
    tables |= {"first-commands": first_commands_table(first.get("rows", []))}
    return {"benchmarks": tables, **pages}


def table(rows: list[Record]) -> str:
    """Return processor time and memory of each command."""
    lines = [[f"`{r['command']}`", f"{r['processor']:.0f} s", f"{r['megabytes']} MB"] for r in rows]
    return markdown_table(["command", "processor time", "memory"], lines)


def large_table(rows: list[Record]) -> str:
    """Return processor time and memory of each command on large data, before and now."""
    head = ["command", "pairs", "before", "now", "before / now", "memory before", "memory now"]
    return markdown_table(head, [_large_line(row) for row in rows])


def large_sentence(rows: list[Record]) -> str:
    """Return the commits that the rows on large data compare, and their numbers of runs."""
    if not rows:
        return "Not run yet."
    texts = []
    for side in ("before", "now"):
        measured = [row for row in rows if side in row]
        commits = sorted({row.get(f"{side}, commit", "not named") for row in measured})
        texts += [f"{side}: {', '.join(commits)}"] if commits else []
    by_size: dict[int, set[int]] = {}
    for row in rows:
        rounds = {row[k] for k in ("before, rounds", "now, rounds") if k in row}
        by_size.setdefault(row["pairs"], set()).update(rounds)
    counts = [f"{'/'.join(map(str, sorted(n)))} of {size:,} pairs" for size, n in by_size.items()]
    return "; ".join([*texts, f"medians of runs: {', '.join(counts)}"])


def starting_table(rows: list[Record]) -> str:
    """Return wall and processor time of starting and of the demo, and how busy the machine was."""
    head = ["", "runs", "wall time", "least", "processor time", "other programs"]
    return markdown_table(head, [_starting_line(row) for row in rows])


def first_commands_table(rows: list[Record]) -> str:
    """Return the seconds of the first commands, idle and busy, and their ratio."""
    lines = [
        [
            f"`counterbc {r['what']}`", f"{r['rounds']}",
            f"{r['idle']:.1f} s", f"{r['busy']:.1f} s", f"{r['ratio']:.2f}",
            f"{r['idle, processor']:.1f} / {r['busy, processor']:.1f} s",
            f"{r['other programs']:.0%} of the cores",
        ]
        for r in rows
    ]  # fmt: skip
    times = ["idle", "busy", "busy / idle", "processor time", "other programs, idle"]
    return markdown_table(["command", "rounds", *times], lines)


def starting_sentence(run: Record) -> str:
    """Return on what machine the start was measured, and whether without compiled code too."""
    if not run:
        return "Not run yet."
    has_first_use = any(FIRST_USE in row["what"] for row in run["rows"])
    first_use = "" if has_first_use else "; the first use of the demo has not been measured yet"
    return f"{run['cores']} cores, load {run['load before']:g} before the run{first_use}"


def _starting_line(row: Record) -> list[str]:
    times = [f"{row[name]:.3g} s" for name in ("wall", "least wall", "processor")]
    return [row["what"], f"{row['runs']}", *times, f"{row['other programs']:.0%} of the cores"]


def _large_line(row: Record) -> list[str]:
    sides = ("before", "now")
    times = [f"{row[side]:.1f} s" if side in row else "–" for side in sides]
    ratio = f"{row['before'] / row['now']:.1f}" if "before" in row and "now" in row else "–"
    memory = [row.get(f"{side}, megabytes") for side in sides]
    memories = ["–" if m is None else f"{m:,} MB" for m in memory]
    return [row["command"], f"{row['pairs']:,}", *times, ratio, *memories]


def sentence(row: Record) -> str:
    """Return what a command costs."""
    return (
        f"`{row['command']}` takes {row['processor']:.0f} s of one core and {row['megabytes']} MB "
        f"for {row['pairs']} pairs in {row['episodes']} episodes"
    )


def recorded_sentence(row: Record) -> str:
    """Return what a command costs on a recording."""
    return (
        f"on {row['pairs']:,} pairs of people in {row['episodes']} episodes (`{row['file']}`) it "
        f"takes {row['processor']:.0f} s of processor time and {row['megabytes']} MB"
    )
