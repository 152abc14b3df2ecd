"""Which differences between methods a number of runs can resolve."""

from __future__ import annotations

import math

import pandas as pd

from reproduction.anova import by_subject, resolvable, spread
from reproduction.catalog import FIGURES
from reproduction.figure_options import FigureOptions


def resolution(name: str, options: FigureOptions, sd: float | None = None) -> str | None:
    """Return a sentence on the differences between methods that a figure's runs can resolve."""
    if name in ("figure2", "figure3"):
        return None
    cells = FIGURES[name](options)
    runs = int(cells[0].about["seeds"])
    methods = len({cell.about["method"] for cell in cells})
    smallest = resolvable(runs, methods=methods)
    if not math.isfinite(smallest):
        return f"{name}: {runs} runs per point are too few to tell methods apart"
    text = (
        f"{name}: {runs} paired runs per point find differences of {smallest:.2f} sd (power 0.8, "
        f"p < .05 after Bonferroni over {math.comb(methods, 2)} pairs of methods)"
    )
    return text if sd is None else f"{text}, {smallest * sd:.3g} with an sd of {sd:g}"


def resolved(name: str, rows: pd.DataFrame) -> list[str]:
    """Return a sentence on the smallest differences that the rows resolve, by their largest sd."""
    if name not in ("figure4", "figure5", "figure6", "figure7"):
        return []
    smallest = []
    for world, part in rows.groupby("world", sort=False):
        runs, methods = int(part["seeds"].iloc[0]), part["method"].nunique()
        smallest.append(f"{resolvable(runs, methods=methods) * _spread(part):.3g} in {world}")
    return [f"by their largest sd, the runs resolve differences of {', '.join(smallest)}"]


def _spread(rows: pd.DataFrame) -> float:
    """Return the largest sd over a figure's points; the first radius stands for Counter-BC."""
    sampled_rows = rows[rows["act"] == "sample"]
    points = sampled_rows.groupby(["teacher", "sigma", "pairs"], dropna=False)
    once = (point.drop_duplicates(["method", "seed"]) for _, point in points)
    return max(spread(by_subject(point, "return", ("seed",))) for point in once)
