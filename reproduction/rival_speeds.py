"""The tables of `benchmarks/rivals`, for its page of the docs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from reproduction.markdown import markdown_table
from reproduction.options import DOCS
from reproduction.records import Record, read

SPEEDS = DOCS.parent / "benchmarks" / "results" / "rivals.json"
JAX = SPEEDS.with_name("rivals-jax.json")
LABELS = {"bc": "BC", "counter-bc": "Counter-BC", "weighted-bc": "Weighted-BC", "bc-rnn": "BC-RNN"}
TRAINING = 10_000
"""Steps of the training whose seconds are stated."""


def sections(path: Path = SPEEDS, jax: Path = JAX) -> dict[str, dict[str, str]]:
    """Return the tables by page and mark; they say so where nothing was measured."""
    runs: list[dict[str, Any]] = [
        read(file) if file.exists() else {"rows": []} for file in (path, jax)
    ]
    names = {"rivals": steps_table, "rivals-training": training_table, "rivals-run": run_sentence}
    texts = {name: make(runs[0]) for name, make in names.items()}
    texts |= {name.replace("rivals", "jax"): make(runs[1]) for name, make in names.items()}
    return {"benchmarks": texts}


def steps_table(run: dict[str, Any]) -> str:
    """Return wall and processor time per model and step, one column for each method."""
    return _table(run, _step)


def training_table(run: dict[str, Any]) -> str:
    """Return the seconds of a training of all members, with everything that comes before it.

    They are wall and processor seconds; those of the first use on a machine are in brackets.
    """

    def cell(row: Record) -> str:
        if "wall µs" not in row:
            return "failed" if row else "–"
        both = (_seconds(row, clock, run["members"]) for clock in ("wall", "cpu"))
        return " / ".join(both)

    return _table(run, cell)


def run_sentence(run: dict[str, Any]) -> str:
    """Return on what machine and with which versions the run was made."""
    if not run["rows"]:
        return "Not run yet."
    machine, names = run["machine"], {"torch", "jax", "imitation", "robomimic", "numba"}
    rivals = " ".join(["ours", *(row["rival"].lower() for row in run["rows"])])
    used = [libraries for name, libraries in run["versions"].items() if name in rivals]
    versions = {k: v for libraries in used for k, v in libraries.items() if k in names}
    text = ", ".join(f"{name} {version}" for name, version in sorted(versions.items()))
    return (
        f"{machine['cores']} cores of {machine['cpu']}, load {machine['load before']:g} before the "
        f"run; {run['members']} members, {run['pairs']} pairs, batch {run['batch']}; medians of "
        f"{run['rounds']} rounds of {run['steps']} steps; {text}"
    )


def _table(run: dict[str, Any], cell: Any) -> str:
    rivals = list(dict.fromkeys(row["rival"] for row in run["rows"]))
    by_key = {(row["rival"], row["method"]): row for row in run["rows"]}
    lines = [
        [rival, *(cell(by_key.get((rival, method), {})) for method in LABELS)] for rival in rivals
    ]
    return markdown_table(["", *LABELS.values()], lines)


def _step(row: Record) -> str:
    if "wall µs" not in row:
        return "failed" if row else "–"
    return f"{_digits(row['wall µs'][0])} / {_digits(row['cpu µs'][0])}"


def _seconds(row: Record, clock: str, members: int) -> str:
    """Return the seconds of preparing and of all steps; the first use on a machine in brackets."""
    steps = row[f"{clock} µs"][0] * 1e-6 * TRAINING * members
    text = _digits(row["prepare"][clock] + steps)
    first = row.get("first use", {}).get(clock)
    return text if first is None else f"{text} ({_digits(first + steps)})"


def _digits(value: float) -> str:
    """Return a number with three digits, and no fewer than its whole part."""
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"
