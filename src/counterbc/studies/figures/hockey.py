"""Figure 7: air hockey, by three measures."""

from __future__ import annotations

from itertools import count
from pathlib import Path
from typing import Any

import pandas as pd

from counterbc.studies.plots import (
    COLORS,
    LABELS,
    MARKERS,
    band,
    label_below,
    legend,
    new_figure,
    save,
)
from counterbc.studies.statistics import ALPHA, as_json, by_subject, post_hoc
from counterbc.trained import ACTS

MEASURES = {
    "hits": "number of hits",
    "distance_per_hit": "distance per hit (m)",
    "time_per_hit": "time per hit (s)",
}
SUBJECT = ("pairs", "seed")
"""A subject is a dataset: one size and one run."""


def draw(rows: pd.DataFrame, folder: Path) -> tuple[dict[str, Any], list[Path]]:
    """One figure per way of acting, with the statistics of each measure."""
    tests = [
        {"act": act, "measure": measure, **as_json(_wide(rows, act, measure)),
         "means": _wide(rows, act, measure).mean().to_dict()}
        for act in ACTS for measure in MEASURES
    ]  # fmt: skip
    files = [file for act in ACTS for file in _figure(rows[rows["act"] == act], act, folder)]
    return {"statistics": tests}, files


def _wide(rows: pd.DataFrame, act: str, measure: str) -> pd.DataFrame:
    return by_subject(rows[rows["act"] == act], measure, SUBJECT)


def _figure(rows: pd.DataFrame, act: str, folder: Path) -> list[Path]:
    figure, axes = new_figure(3, 2, 4.9)
    for (measure, label), (left, right) in zip(MEASURES.items(), axes, strict=True):
        for method in dict.fromkeys(rows["method"]):
            grouped = rows[rows["method"] == method].groupby("pairs")[measure]
            x, mean, sem = grouped.mean().index, grouped.mean(), grouped.sem()
            band(left, x, mean, sem, COLORS[method], LABELS[method], MARKERS[method])
        left.set_xscale("log", base=2)
        sizes = sorted(rows["pairs"].unique())
        left.set_xticks(sizes, [str(s) for s in sizes])
        left.minorticks_off()
        left.set_ylabel(label)
        _bars(right, _wide(rows, act, measure))
    label_below(axes, "")
    axes[-1][0].set_xlabel("state–action pairs")
    legend(figure, axes[0][0], columns=4)
    first, subjects = rows.iloc[0], len(rows[list(SUBJECT)].drop_duplicates())
    caption = (
        f"Air hockey, {first['teacher']}, act={act}; left: n = {first['seeds']} runs × "
        f"{first['episodes']} starts, right: all {subjects} datasets; ± standard error. "
        f"* Counter-BC differs, p < .05 (Bonferroni). Preset {first['preset']}, "
        f"{first['steps']:,} steps."
    )
    return save(figure, folder, f"figure7-{act}", caption, legend=True)


def _bars(axis: Any, wide: pd.DataFrame) -> None:
    """Means over all datasets, and a mark where Counter-BC differs."""
    methods = list(wide.columns)
    mean, sem = wide.mean(), wide.sem()
    axis.bar(range(len(methods)), mean, yerr=sem, capsize=2, color=[COLORS[m] for m in methods],
             alpha=0.85, width=0.7)  # fmt: skip
    axis.set_xticks(range(len(methods)), [LABELS[m] for m in methods], rotation=25, ha="right")
    top, height = float((mean + sem).max()), count(1)
    for test in post_hoc(wide):
        if test.method == "counter-bc" and test.p < ALPHA:
            y = top * (1 + 0.1 * next(height))
            ends = methods.index(test.other), methods.index("counter-bc")
            axis.plot(ends, (y, y), "k-", lw=0.8)
            axis.text(sum(ends) / 2, y, "*", ha="center", va="center", fontsize=9)
