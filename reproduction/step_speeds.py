"""The tables of `step.py`, `step_phases.py` and `busy.py` in `benchmarks`, for their page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from reproduction.markdown import markdown_table
from reproduction.options import DOCS
from reproduction.records import Record, read

FOLDER = DOCS.parent / "benchmarks" / "results"
LABELS = {"bc": "BC", "counter-bc": "Counter-BC"}
"""Methods whose phases are measured."""
NAMES = LABELS | {
    "weighted-bc": "Weighted-BC", "ileed": "ILEED", "bcnd": "BCND", "bc-rnn": "BC-RNN",
}  # fmt: skip
PRODUCTS = ("forward", "backward")
"""The phases of the step that hold all of its matrix products."""


def sections(folder: Path = FOLDER) -> dict[str, dict[str, str]]:
    """Return the tables by page and mark; they say so where nothing was measured."""
    step, phases, busy = (
        read(path) if path.exists() else {}
        for path in (folder / f"{name}.json" for name in ("step", "step-phases", "busy"))
    )
    texts = {"step": step_table(step), "step-run": step_sentence(step)}
    texts |= {"step-phases": phases_table(phases), "step-rates": rates_table(phases)}
    texts |= {"step-phases-run": phases_sentence(phases)}
    texts |= {"busy": busy_table(busy), "busy-run": busy_sentence(busy)}
    return {"benchmarks": texts}


def step_table(run: dict[str, Any]) -> str:
    """Return the ratios of a run with their quartiles, by wall and by processor time."""
    lines = [
        [row["what"], *(_quartiles(row[clock]) for clock in ("wall", "cpu")), row["goal"] or "–"]
        for row in run.get("ratios", [])
    ]
    return markdown_table(["", "wall time", "processor time", "goal"], lines)


def step_sentence(run: dict[str, Any]) -> str:
    """Return how long the steps took in the run, and how busy the machine was."""
    if not run:
        return "Not run yet."
    wall, cpu = (run["microseconds per network and step"][clock] for clock in ("wall", "cpu"))
    times = ", ".join(f"{name} {wall[name]:g} / {cpu[name]:g}" for name in wall)
    return (
        f"{run['threads']} threads, load {run['load before']:g} before the run, medians of "
        f"{run['rounds']} rounds; µs per network and step, wall / processor time: {times}; "
        f"matrix products reach {run['peak GFLOP/s']['wall']:g} GFLOP/s"
    )


def phases_table(run: dict[str, Any]) -> str:
    """Return what each phase of a step takes, and which share of the step, for each method."""
    times = _phase_times(run)
    phases = list(dict.fromkeys(phase for method, phase in times if method in LABELS))
    lines = [
        [
            "whole step" if phase == "all" else phase,
            *(
                f"{times[method, phase]:.2f} ({times[method, phase] / times[method, 'all']:.0%})"
                for method in LABELS
            ),
        ]
        for phase in phases
    ]
    return markdown_table(["phase", *LABELS.values()], lines)


def rates_table(run: dict[str, Any]) -> str:
    """Return the rate of each step and of BC's matrix products, as shares of both peaks."""
    if not run:
        return markdown_table([], [])
    times, steps = _phase_times(run), run["GFLOP/s"]
    peaks = run["peak GFLOP/s"]
    products_peak, adds_peak = peaks["matrix products"], peaks["multiply-adds"]
    passes = steps["bc"] * times["bc", "all"] / sum(times["bc", phase] for phase in PRODUCTS)
    rates = {"BC's two passes": passes}
    rates |= {f"{NAMES[method]}'s whole step": rate for method, rate in steps.items()}
    rates |= {"large products by torch": products_peak}
    rates |= {"multiply-adds in registers": adds_peak}
    lines = [
        [name, f"{rate:.0f}", f"{rate / products_peak:.2f}", f"{rate / adds_peak:.2f}"]
        for name, rate in rates.items()
    ]
    head = ["", "GFLOP/s", "share of large products", "share of multiply-adds"]
    return markdown_table(head, lines)


def phases_sentence(run: dict[str, Any]) -> str:
    """Return on what machine the phases were measured."""
    if not run:
        return "Not run yet."
    return (
        f"one core of {run['cpu']}, load {run['load before']:g} on {run['cores']} cores before the "
        f"run; {run['members']} members, batch {run['batch']}; medians of {run['rounds']} rounds "
        f"of {run['steps']} steps; vectors of {run['lanes']} numbers{_not_measured(run)}"
    )


def _not_measured(run: dict[str, Any]) -> str:
    """Return which methods the run has no whole step of; empty if it has all."""
    names = [name for method, name in NAMES.items() if method not in run["GFLOP/s"]]
    return f"; not measured yet: {', '.join(names)}" if names else ""


def _phase_times(run: dict[str, Any]) -> dict[tuple[str, str], float]:
    """Return microseconds per network and step, by method and phase."""
    return {(row["method"], row["phase"]): row["microseconds"] for row in run.get("rows", [])}


def busy_table(run: dict[str, Any]) -> str:
    """Return the seconds of each training, idle and busy, and their ratio."""
    head = [
        "method", "kernel", "networks × steps", "idle", "busy", "busy / idle", "processor time",
    ]  # fmt: skip
    return markdown_table(head, [_busy_line(row) for row in run.get("rows", [])])


def busy_sentence(run: dict[str, Any]) -> str:
    """Return on what machine the run was made."""
    if not run:
        return "Not run yet."
    others = [row[f"{kind}, other programs"] for row in run["rows"] for kind in ("idle", "busy")]
    return (
        f"{run['cores']} cores, {run['threads']} threads, load {run['load before']:g} before the "
        f"run, {run['pairs']} pairs, batch {run['batch']}, medians (quartiles) of "
        f"{run['rounds']} rounds; the rest of the machine used {min(others):.0%} to "
        f"{max(others):.0%} of the cores"
    )


def _quartiles(values: list[float]) -> str:
    """Return a median with what lies on both sides."""
    median, low, high = values
    return f"{median:.2f} ({low:.2f} … {high:.2f})"


def _busy_line(row: Record) -> list[str]:
    cpu = f"{row['idle, processor']:.2f} / {row['busy, processor']:.2f} s"
    work = f"{row['networks']} × {row['steps']:,}"
    times = [f"{row['idle']:.2f} s", f"{row['busy']:.2f} s", _quartiles(row["ratios"]), cpu]
    return [row["method"], row["kernel"], work, *times]
