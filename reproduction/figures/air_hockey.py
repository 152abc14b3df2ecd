"""Figure 7: air hockey by the paper's three measures and one of ours."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
from matplotlib.ticker import LogLocator

from counterbc.acting.act import ACTS
from counterbc.envs import WORLDS
from counterbc.experiments.styles import method_styles
from reproduction.anova import ALPHA, by_subject, method_test, post_hoc
from reproduction.figure_numbers import Figure7
from reproduction.plots import (
    band,
    label_below,
    legend,
    new_figure,
    radius_used,
    save,
)

HOCKEY_MEASURES = {
    "hits": "hits per start",
    "distance_per_hit": "distance per hit (m)",
    "time_per_hit": "time per hit (s)",
    "hits_per_minute": "hits per minute",
}
LOG_MEASURES = ("distance_per_hit", "time_per_hit")
"""Measures in which one method is so far off that the others would overlap on a linear axis."""
SUBJECT = ("pairs", "seed")
"""A subject is a dataset: one size and one run."""


def draw(rows: pd.DataFrame, folder: Path) -> Figure7:
    """Draw one figure per way of acting, and return the statistics of each measure."""
    rows = rows.assign(hits_per_minute=hits_per_minute(rows))
    tests = tuple(
        replace(method_test(wide, act=act, measure=measure), means=wide.mean().to_dict())
        for act in ACTS
        for measure in HOCKEY_MEASURES
        for wide in [_wide(rows, act, measure)]
    )
    for act in ACTS:
        _draw_act(rows[rows["act"] == act], act, folder)
    return Figure7(statistics=tests)


def hits_per_minute(rows: pd.DataFrame) -> pd.Series[float]:
    """Return all hits of a run over all the time it played; rows hold means of both over starts.

    The paper's time per hit is that of one start, so a policy that loses the puck at once looks
    quick; this measure does not have that flaw. Its inverse would be infinite without a hit.
    """
    seconds = rows["length"] / WORLDS["air-hockey"].rate
    return 60 * rows["hits"] / seconds


def _wide(rows: pd.DataFrame, act: str, measure: str) -> pd.DataFrame:
    return by_subject(rows[rows["act"] == act], measure, SUBJECT)


def _draw_act(rows: pd.DataFrame, act: str, folder: Path) -> None:
    figure, axes = new_figure(len(HOCKEY_MEASURES), 2, 6.1)
    for (measure, label), (left_axis, right) in zip(HOCKEY_MEASURES.items(), axes, strict=True):
        right.sharey(left_axis)
        _by_size(left_axis, rows, measure)
        _averages(right, _wide(rows, act, measure))
        for axis in (left_axis, right):
            axis.set_ylabel(label)
        _scale(left_axis, measure)
    label_below(axes, "")
    axes[-1][0].set_xlabel("state–action pairs")
    legend(figure, axes[0][0], columns=4)
    save(figure, folder, f"figure7-{act}", _caption(rows, act), legend=True)


def _by_size(axis: Any, rows: pd.DataFrame, measure: str) -> None:
    for method, style in method_styles(dict.fromkeys(rows["method"])).items():
        groups = rows[rows["method"] == method].groupby("pairs")[measure]
        x, mean, sem = groups.mean().index, groups.mean(), groups.sem()
        band(axis, x, mean, sem, style.colour, label=style.label, marker=style.marker)
    axis.set_xscale("log", base=2)
    sizes = sorted(rows["pairs"].unique())
    axis.set_xticks(sizes, [str(s) for s in sizes])
    axis.minorticks_off()


def _averages(axis: Any, wide: pd.DataFrame) -> None:
    """Draw means over all datasets; a mark over a baseline says where Counter-BC differs."""
    methods, styles = list(wide.columns), method_styles(wide.columns)
    for x, (method, style) in enumerate(styles.items()):
        axis.errorbar(x, wide[method].mean(), wide[method].sem(), capsize=4, lw=1.0,
                      color=style.colour, marker=style.marker,
                      ms=4 if style.marker == "*" else 2.5)  # fmt: skip
    labels = [style.label for style in styles.values()]
    axis.set_xticks(range(len(methods)), labels, rotation=25, ha="right")
    axis.set_xlim(-0.5, len(methods) - 0.5)
    for test in post_hoc(wide):
        if test.method == "counter-bc" and test.p < ALPHA:
            mark = "▲" if test.difference.mean > 0 else "▼"
            axis.text(methods.index(test.other), 1.0, mark, transform=axis.get_xaxis_transform(),
                      ha="center", va="bottom", fontsize=6)  # fmt: skip


def _scale(axis: Any, measure: str) -> None:
    if measure in LOG_MEASURES:
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
