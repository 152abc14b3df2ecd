"""Figure 3: what is learned of |s| − 0.5 as Δ grows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from counterbc.data.arrays import Array
from counterbc.experiments.styles import method_style
from reproduction.figure_numbers import Figure3, RecoveryRow, Spread
from reproduction.plots import band, new_mosaic, save
from reproduction.recovery import AT, NOISE, examples, intended_action, variation

OF_MEAN = "variation_of_mean"
VARIATION, TO_EXAMPLES, TO_MEANT = "total variation", "RMS to the examples", "RMS to |s| − 0.5"
PANELS: dict[str, dict[str, str | None]] = {
    VARIATION: {OF_MEAN: "of the mean curve", "variation": "mean over single runs"},
    TO_EXAMPLES: {"to_examples": None},
    TO_MEANT: {"to_meant": None},
}
LOOKS = {
    OF_MEAN: ("s-", "#0072B2"),
    "variation": ("o--", "#CC79A7"),
    "to_examples": ("o-", "0.3"),
    "to_meant": ("o-", "0.3"),
}


def draw(rows: pd.DataFrame, folder: Path) -> Figure3:
    """Draw a panel for BC and for each Δ, then the measures against Δ with BC at 0."""
    radii = [None, *sorted(rows["radius"].dropna().unique())]
    layout = _layout([_title(r) for r in radii])
    figure, axes = new_mosaic(layout, 1.15 * len(layout) + 0.6)
    for i, radius in enumerate(radii):
        axis = axes[_title(radius)]
        _curves(axis, _of(rows, radius))
        axis.set_title(_title(radius), fontsize=7.5, pad=3)
        lowest, leftmost = i >= len(radii) - 3, i % 3 == 0
        axis.set(xlabel="state s" if lowest else "", ylabel="action a" if leftmost else "")
        axis.tick_params(labelbottom=lowest, labelleft=leftmost)
    summaries = [_summary(_of(rows, r), r) for r in radii]
    for label, measures in PANELS.items():
        _against_radius(axes[label], summaries, label, measures)
    save(figure, folder, "figure3", _caption(rows.iloc[0]))
    return Figure3(tuple(summaries))


def _title(radius: float | None) -> str:
    return "BC" if radius is None else f"Δ = {radius:g}"


def _layout(curves: list[str]) -> list[list[str]]:
    """Return lines of six cells: three curves each, then the variation, then both distances."""
    cells = [name for name in curves for _ in range(2)]
    cells += [VARIATION] * (6 - len(cells) % 6)
    cells += [TO_EXAMPLES] * 3 + [TO_MEANT] * 3
    return [cells[i : i + 6] for i in range(0, len(cells), 6)]


def _caption(first: Any) -> str:
    return (
        f"BC, and Counter-BC at growing Δ: mean of n = {first['seeds']} runs, act=mean; bands: "
        f"standard deviation. Dashed: what was meant. Dots: the {first['pairs']} examples of run "
        f"0, noise U(−{NOISE}, {NOISE}). "
        "Last three panels: bars are standard errors (the mean curve's by the jackknife). "
        f"Preset {first['preset']}, {first['steps']:,} gradient steps."
    )


def _of(rows: pd.DataFrame, radius: float | None) -> pd.DataFrame:
    return rows[rows["radius"].isna() if radius is None else rows["radius"] == radius]


def _curves(axis: Any, rows: pd.DataFrame) -> None:
    curves = np.stack(rows["action"].to_list())  # (runs, states)
    data = examples(int(rows["pairs"].iloc[0]), 0)
    axis.plot(data.obs[:, 0], data.action[:, 0], ".", ms=1.5, color="0.7", rasterized=True)
    axis.plot(AT, intended_action(AT), "k--", lw=0.8)
    method = "bc" if rows["radius"].isna().all() else "counter-bc"
    mean, sd = curves.mean(0), curves.std(0, ddof=1)
    band(axis, AT[::4], mean[::4], sd[::4], method_style(method).colour)
    axis.set(ylim=(-1.05, 1.05), xticks=[-1, 0, 1])


def _against_radius(
    axis: Any, summaries: list[RecoveryRow], label: str, measures: dict[str, str | None]
) -> None:
    x = [row.radius or 0.0 for row in summaries]
    for key, name in measures.items():
        look, color = LOOKS[key]
        spreads: list[Spread] = [getattr(row, key) for row in summaries]
        values = [spread.mean for spread in spreads]
        errors = [s.sd / row.runs**0.5 for s, row in zip(spreads, summaries, strict=True)]
        axis.errorbar(x, values, errors, fmt=look, ms=2.5, lw=1, capsize=2, color=color, label=name)
    axis.set_ylabel(label)
    axis.set_xlabel("Δ (BC at 0)")
    if len(measures) > 1:
        axis.set_ylim(0, 1.1 * axis.get_ylim()[1])
        axis.legend(fontsize=6, frameon=False, loc="upper right", borderpad=0, labelspacing=0.2,
                    handlelength=1.6)  # fmt: skip


def _summary(rows: pd.DataFrame, radius: float | None) -> RecoveryRow:
    return RecoveryRow(
        radius=radius,
        runs=len(rows),
        variation=_spread(rows["variation"]),
        to_examples=_spread(rows["to_examples"]),
        to_meant=_spread(rows["to_meant"]),
        variation_of_mean=variation_of_mean(np.stack(rows["action"].to_list())),
    )


def _spread(values: pd.Series[float]) -> Spread:
    return Spread(mean=values.mean(), sd=values.std(ddof=1))


def variation_of_mean(curves: Array) -> Spread:
    """Return the variation of the mean of curves (runs, states), and the sd of its pseudo-values.

    There is one mean curve, so its spread is the jackknife's: pseudo-value i is n T − (n − 1) T₋ᵢ,
    where T₋ᵢ leaves out run i; their sd over √n is the standard error, as for a mean of runs.
    """
    n = len(curves)
    whole = variation(curves.mean(0))
    without = [variation(np.delete(curves, i, axis=0).mean(0)) for i in range(n)]
    pseudo = n * whole - (n - 1) * np.array(without)
    return Spread(mean=whole, sd=float(pseudo.std(ddof=1)))
