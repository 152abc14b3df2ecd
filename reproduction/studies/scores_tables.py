"""The tables of docs/scores.md from the rows of the study `scores`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from counterbc.acting.intervals import mean_interval
from counterbc.diagnosis.kinematics import MEASURES
from reproduction.markdown import markdown_table
from reproduction.records import Record

Array = NDArray[Any]
SCORES = {"distance": "distance", "noise": "noise", "lasting": "persistent"}
"""Keys in the file of numbers, and their labels in the table."""
CORRUPTIONS = ("σ × 1.5", "late", "wrong goal")
OFF = 0.3  # bias of the biased operator


def by_operator(row: Record, measure: str, names: list[str]) -> Array:
    """Return a measure of each operator; for measures of episodes, the mean over episodes."""
    if measure in SCORES:
        score = {o["name"]: o[measure] for o in row["operators"]}
        return np.array([score[name] for name in names])
    demonstrator, values = np.array(row["who"]), np.array(row["measures"][measure], float)
    return np.array([np.nanmean(values[demonstrator == name]) for name in names])


def auroc(row: Record, measure: str, kind: str) -> float:
    """Return how often a corrupted episode measures above a good one."""
    demonstrator, values = np.array(row["who"]), np.array(row["measures"][measure], float)
    bad, good = values[demonstrator == kind], values[demonstrator == "good"]
    return float((bad[:, None] > good).mean() + 0.5 * (bad[:, None] == good).mean())


def correlation(row: Record, measure: str, biased: bool = False) -> float:
    """Return the rank correlation with the expected error of six operators, or of all seven."""
    errors = {demonstrator: error for demonstrator, _, error in _cases(row, "operators")}
    names = [name for name in errors if biased or name != "biased"]
    values = by_operator(row, measure, names)
    if np.ptp(values) == 0:
        return 0.0
    return float(stats.spearmanr(values, [errors[name] for name in names]).statistic)


def coverage(rows: list[Record], of: str) -> dict[str, float]:
    """Return the share of 90 % intervals that contain the truth: of all, and by demonstrator."""
    hits: dict[str, list[bool]] = {}
    for row in rows:
        for demonstrator, (low, high), error in _cases(row, of):
            inside = bool(low <= error <= high)
            hits.setdefault("all", []).append(inside)
            hits.setdefault(
                "noise alone" if demonstrator.startswith("σ 0") else demonstrator, []
            ).append(inside)
    return {k: float(np.mean(v)) for k, v in hits.items()}


def _cases(row: Record, of: str) -> list[tuple[str, Any, float]]:
    """Return who, the interval, and the root mean square that it should contain."""
    demonstrator, truth, pairs = (np.array(row[k]) for k in ("who", "truth", "pairs"))
    if of == "episodes":
        return list(zip(row["who"], row["intervals"], np.sqrt(truth).tolist(), strict=True))
    cases = []
    for score in row["operators"]:
        selected_episodes = demonstrator == score["name"]
        error = float(
            np.sqrt(np.average(truth[selected_episodes], weights=pairs[selected_episodes]))
        )
        cases.append((score["name"], (score["low"], score["high"]), error))
    return cases


def markdown(rows: list[Record]) -> dict[str, str]:
    """Return the tables and sentences of one world or several, by their mark in docs/scores.md."""
    people = [r for r in rows if r["study"] == "operators"]
    takes = [r for r in rows if r["study"] == "episodes"]
    world = ", ".join(dict.fromkeys(r["world"] for r in rows))
    missed_high = [
        low > error
        for row in people
        for _, (low, high), error in _cases(row, "operators")
        if not low <= error <= high
    ]
    sentences = [
        f"Of {len(missed_high)} operators' intervals that miss, {sum(missed_high)} are too high."
    ]
    bias = [next(o["bias"][0] for o in r["operators"] if o["name"] == "biased") for r in people]
    if bias:
        sentences.append(f"Bias of the biased operator: {OFF:.2f}, estimated {np.mean(bias):.2f}.")
    return {
        "datasets": f"{world}: {len(people)} datasets of operators, {len(takes)} of episodes",
        "measures": _detection(people, takes),
        "intervals": "\n\n".join(
            [_intervals({"operators": people, "episodes": takes}), *sentences]
        ),
    }


def can_table(numbers: Record) -> str:
    """Return the scores of Can's synthetic operators, from `counterbc score --json`."""
    lines = []
    for s in sorted(numbers["operators"], key=lambda s: float(s["distance"])):
        distance = f"{s['distance']:.3f} [{s['low']:.3f}, {s['high']:.3f}]"
        lines.append([f"`{s['name']}`", distance, f"{s['noise']:.3f}"])
    return markdown_table(["operator", "distance, 90 %", "noise"], lines)


def _detection(people: list[Record], takes: list[Record]) -> str:
    """Return how well each measure finds bad operators and bad episodes."""
    lines = []
    measures = [m for m in MEASURES if all(m in r["measures"] for r in (*people, *takes))]
    for m in (*SCORES, "BC residual", *measures):
        areas = [[auroc(r, m, k) for r in takes] for k in CORRUPTIONS]
        cells = [_text([correlation(r, m, b) for r in people], 0.0) for b in (False, True)]
        cells += [_text(values, 0.5) for values in (*areas, np.mean(areas, axis=0).tolist())]
        lines.append([SCORES.get(m, m), *cells])
    return markdown_table(["measure", "six ranked", "all seven", *CORRUPTIONS, "all three"], lines)


def _intervals(studies: dict[str, list[Record]]) -> str:
    """Return how often intervals contain the truth."""
    lines = []
    for study, rows in studies.items():
        takes = coverage(rows, "episodes")
        for demonstrator, share in coverage(rows, "operators").items():
            name = f"{study}' study, all" if demonstrator == "all" else f"… {demonstrator}"
            lines.append([name, f"{100 * share:.0f} %", f"{100 * takes[demonstrator]:.0f} %"])
    head = ("90 % intervals that contain the expected error", "of an operator", "of an episode")
    return markdown_table(head, lines)


def _text(values: list[float], neutral: float) -> str:
    """Return the mean with its 95 % interval, mirrored at `nothing` where that is better."""
    if not values:
        return "–"
    x = np.array(values)
    mirrored_values = x if x.mean() >= neutral else 2 * neutral - x
    interval = mean_interval(mirrored_values)
    half = "" if interval.n < 2 else f" ± {interval.high - interval.mean:.2f}"
    return f"{interval.mean:.2f}{half}"
