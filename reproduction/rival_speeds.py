"""The tables of `benchmarks/rivals`, for its page of the docs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from reproduction.markdown import markdown_table
from reproduction.options import DOCS
from reproduction.records import Record, read

SPEEDS = DOCS.parent / "benchmarks" / "results" / "rivals.json"
LABELS = {"bc": "BC", "counter-bc": "Counter-BC", "weighted-bc": "Weighted-BC", "bc-rnn": "BC-RNN"}
TRAINING = 10_000
"""Steps of the training whose seconds are stated."""


def sections(path: Path = SPEEDS) -> dict[str, dict[str, str]]:
    """Return the tables by page and mark; they say so where nothing was measured."""
    run: dict[str, Any] = read(path) if path.exists() else {"rows": []}
    names = {"rivals": steps_table, "rivals-training": training_table, "rivals-run": run_sentence}
    return {"benchmarks": {name: make(run) for name, make in names.items()}}


def steps_table(run: dict[str, Any]) -> str:
    """Return wall and processor time per model and step, one column for each method."""
    return _table(run, _step)


def training_table(run: dict[str, Any]) -> str:
    """Return the seconds of a training of all members, with everything that comes before it."""
    return _table(run, lambda row: _training(row, run["members"]))


def run_sentence(run: dict[str, Any]) -> str:
    """Return on what machine and with which versions the run was made."""
    if not run["rows"]:
        return "Not run yet."
    machine, names = run["machine"], {"torch", "jax", "imitation", "robomimic", "numba"}
    versions = {k: v for e in run["versions"].values() for k, v in e.items() if k in names}
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


def _training(row: Record, members: int) -> str:
    """Return wall seconds: preparing, then all steps; the first use on a machine in brackets."""
    if "wall µs" not in row:
        return "failed" if row else "–"
    steps = row["wall µs"][0] * 1e-6 * TRAINING * members
    text = _digits(row["prepare"]["wall"] + steps)
    first = row.get("first use", {}).get("wall")
    return text if first is None else f"{text} ({_digits(first + steps)})"


def _digits(value: float) -> str:
    """Return a number with three digits, and no fewer than its whole part."""
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"
