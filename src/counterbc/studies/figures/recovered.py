"""Figure 3: what is learned of |s| − 0.5 as Δ grows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from counterbc.studies.plots import COLORS, band, label_below, new_figure, save
from counterbc.studies.recovery import AT, NOISE, examples, meant

MEASURES = {
    "variation": "total variation",
    "to_examples": "RMS to the examples",
    "to_meant": "RMS to |s| − 0.5",
}


def draw(rows: pd.DataFrame, folder: Path) -> tuple[dict[str, Any], list[Path]]:
    """A panel for BC and for each Δ, then the measures against Δ, BC standing at 0."""
    radii = [None, *sorted(rows["radius"].dropna().unique())]
    lines = -(-(len(radii) + 1) // 2)
    figure, axes = new_figure(lines, 2, 1.2 * lines + 0.6)
    for axis, radius in zip(axes.flat, radii, strict=False):
        _curves(axis, _of(rows, radius), radius)
    said = {"by radius": [_summary(_of(rows, r), r) for r in radii]}
    last = axes.flat[len(radii)]
    looks = zip(MEASURES.items(), "os^", ("#0072B2", "#CC79A7", "0.4"), strict=True)
    for (key, label), marker, color in looks:
        values = [row[key]["mean"] for row in said["by radius"]]
        x = [r or 0.0 for r in radii]
        last.plot(x, values, marker=marker, ms=3, lw=1, label=label, color=color)
    for axis in axes.flat[len(radii) + 1 :]:
        axis.set_visible(False)
    label_below(axes, "state s")
    last.set_xlabel("Δ (BC at 0)")
    for axis in axes.flat[: len(radii) : 2]:
        axis.set_ylabel("action a")
    last.set_ylim(0, 1.9 * last.get_ylim()[1])  # room for the legend
    last.set_title("against Δ", fontsize=7.5, pad=3)
    last.legend(fontsize=6, frameon=False, loc="upper left", borderpad=0, labelspacing=0.2)
    first = rows.iloc[0]
    caption = (
        f"Lines: mean of {first['seeds']} runs, act=mean; bands: standard deviation. Dashed: what "
        f"was meant. Dots: the {first['pairs']} examples of run 0, noise U(−{NOISE}, {NOISE}); "
        f"{first['steps']:,} steps, preset {first['preset']}."
    )
    return said, save(figure, folder, "figure3", caption)


def _of(rows: pd.DataFrame, radius: float | None) -> pd.DataFrame:
    return rows[rows["radius"].isna() if radius is None else rows["radius"] == radius]


def _curves(axis: Any, rows: pd.DataFrame, radius: float | None) -> None:
    learned = np.stack(rows["action"].to_list())  # (runs, states)
    data = examples(int(rows["pairs"].iloc[0]), 0)
    axis.plot(data.obs[:, 0], data.action[:, 0], ".", ms=1.5, color="0.7", rasterized=True)
    axis.plot(AT, meant(AT), "k--", lw=0.8)
    color = COLORS["bc" if radius is None else "counter-bc"]
    mean, sd = learned.mean(0), learned.std(0, ddof=1)
    band(axis, AT[::4], mean[::4], sd[::4], color)  # looks the same, in a smaller file
    axis.set_title("BC" if radius is None else f"Counter-BC, Δ = {radius:g}", fontsize=7.5, pad=3)
    axis.set_ylim(-1.05, 1.05)
    axis.set_xticks([-1, 0, 1])


def _summary(rows: pd.DataFrame, radius: float | None) -> dict[str, Any]:
    numbers: dict[str, Any] = {
        k: {"mean": rows[k].mean(), "sd": rows[k].std(ddof=1)} for k in MEASURES
    }
    mean_curve = np.stack(rows["action"].to_list()).mean(0)
    numbers["variation of the mean curve"] = float(np.abs(np.diff(mean_curve)).sum())
    return {"radius": radius, "runs": len(rows), **numbers}
