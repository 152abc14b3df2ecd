"""Figure 7: air hockey, by the paper's three measures and one of ours."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
from matplotlib.ticker import LogLocator

from counterbc.acting.actor import ACTS
from counterbc.envs.air_hockey.table import RATE
from counterbc.experiments.plots import (
    COLORS,
    LABELS,
    MARKERS,
    band,
    label_below,
    legend,
    new_figure,
    radius_used,
    save,
)
from reproduction.anova import ALPHA, as_json, by_subject, post_hoc

MEASURES = {
    "hits": "hits per start",
    "distance_per_hit": "distance per hit (m)",
    "time_per_hit": "time per hit (s)",
    "hits_per_minute": "hits per minute",
}
LOG = ("distance_per_hit", "time_per_hit")
"""Where one method is so far off that the others would lie on top of each other."""
SUBJECT = ("pairs", "seed")
"""A subject is a dataset: one size and one run."""


def draw(rows: pd.DataFrame, folder: Path) -> tuple[dict[str, Any], list[Path]]:
    """One figure per way of acting, with the statistics of each measure."""
    rows = rows.assign(hits_per_minute=hits_per_minute(rows))
    tests = [
        {"act": act, "measure": measure, **as_json(wide), "means": wide.mean().to_dict()}
        for act in ACTS
        for measure in MEASURES
        for wide in [_wide(rows, act, measure)]
    ]
    files = [file for act in ACTS for file in _figure(rows[rows["act"] == act], act, folder)]
    return {"statistics": tests}, files


def hits_per_minute(rows: pd.DataFrame) -> pd.Series[float]:
    """All hits of a run over all the time it played; rows have means over its starts of both.

    The paper's time per hit is of one start, so whoever loses the puck at once looks quick; not
    here. Upside down, it would be infinite for runs without a hit.
    """
    seconds = rows["length"] / RATE
    return 60 * rows["hits"] / seconds


def _wide(rows: pd.DataFrame, act: str, measure: str) -> pd.DataFrame:
    return by_subject(rows[rows["act"] == act], measure, SUBJECT)


def _figure(rows: pd.DataFrame, act: str, folder: Path) -> list[Path]:
    figure, axes = new_figure(len(MEASURES), 2, 6.1)
    for (measure, label), (left, right) in zip(MEASURES.items(), axes, strict=True):
        right.sharey(left)
        _by_size(left, rows, measure)
        _averages(right, _wide(rows, act, measure))
        for axis in (left, right):
            axis.set_ylabel(label)
        _scale(left, measure)
    label_below(axes, "")
    axes[-1][0].set_xlabel("state–action pairs")
    legend(figure, axes[0][0], columns=4)
    return save(figure, folder, f"figure7-{act}", _caption(rows, act), legend=True)


def _by_size(axis: Any, rows: pd.DataFrame, measure: str) -> None:
    for method in dict.fromkeys(rows["method"]):
        grouped = rows[rows["method"] == method].groupby("pairs")[measure]
        x, mean, sem = grouped.mean().index, grouped.mean(), grouped.sem()
        band(axis, x, mean, sem, COLORS[method], LABELS[method], MARKERS[method])
    axis.set_xscale("log", base=2)
    sizes = sorted(rows["pairs"].unique())
    axis.set_xticks(sizes, [str(s) for s in sizes])
    axis.minorticks_off()


def _averages(axis: Any, wide: pd.DataFrame) -> None:
    """Means over all datasets; above a baseline, where Counter-BC lies if it differs."""
    methods = list(wide.columns)
    for x, method in enumerate(methods):
        axis.errorbar(x, wide[method].mean(), wide[method].sem(), capsize=4, lw=1.0,
                      color=COLORS[method], marker=MARKERS[method],
                      ms=4 if MARKERS[method] == "*" else 2.5)  # fmt: skip
    axis.set_xticks(range(len(methods)), [LABELS[m] for m in methods], rotation=25, ha="right")
    axis.set_xlim(-0.5, len(methods) - 0.5)
    for test in post_hoc(wide):
        if test.method == "counter-bc" and test.p < ALPHA:
            mark = "▲" if test.difference.mean > 0 else "▼"
            axis.text(methods.index(test.other), 1.0, mark, transform=axis.get_xaxis_transform(),
                      ha="center", va="bottom", fontsize=6)  # fmt: skip


def _scale(axis: Any, measure: str) -> None:
    if measure in LOG:
        axis.set_yscale("log")
        axis.yaxis.set_major_locator(LogLocator(subs=(1, 2, 3, 5)))
        axis.yaxis.set_major_formatter("{x:g}")
        axis.yaxis.set_minor_locator(LogLocator(subs=()))
    else:
        axis.set_ylim(bottom=0)


def _caption(rows: pd.DataFrame, act: str) -> str:
    first, subjects = rows.iloc[0], len(rows[list(SUBJECT)].drop_duplicates())
    return (
        f"Air hockey, {first['teacher']}, act={act}. Left: n = {first['seeds']} runs × "
        f"{first['episodes']} starts; right: all {subjects} datasets; ± standard error. "
        "▲ Counter-BC is above this baseline, ▼ below it, p < .05 (Bonferroni). Distance and time "
        "per hit: of a start, over max(hits,\u00a01). Hits per minute: all hits of a run over all "
        "its time. "
        f"Preset {first['preset']}{radius_used(rows)}, {first['steps']:,} gradient steps."
    )
