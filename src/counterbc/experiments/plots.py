"""Figures as PNG and SVG files, and the figure of a training's loss."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib
from matplotlib.figure import Figure

from counterbc.acting.policies import Curve
from counterbc.files import aside


def loss_figure(curve: Curve, title: str, folder: Path, name: str) -> list[Path]:
    """Write the loss of a training against its steps, and beside it the error of held-out actions
    if there is one, which can be compared between methods."""
    panels = [(curve.loss, "loss of the training batch (eq. M1)", "#000000")]
    if curve.held_out is not None:
        panels.append((curve.held_out, "squared error of held-out actions", "#D55E00"))
    figure = Figure(figsize=(4.6 * len(panels), 3.2))
    axes = figure.subplots(1, len(panels), squeeze=False)[0]
    for axis, (values, label, color) in zip(axes, panels, strict=True):
        axis.plot(curve.steps, values, color=color, lw=0.6, alpha=0.25)
        axis.plot(curve.steps, values.nanmean(1), color=color, lw=1.6)
        axis.set_xlabel("gradient step")
        axis.set_ylabel(label, fontsize=9)
        axis.spines[["top", "right"]].set_visible(False)
    if curve.held_out is not None:
        axes[1].set_ylim(bottom=0)
    figure.suptitle(title, fontsize=9)
    figure.tight_layout()
    return save_files(figure, folder, name)


def save_files(figure: Any, folder: Path, name: str, dpi: int = 160) -> list[Path]:
    """Write a figure as PNG and SVG."""
    paths = [folder / f"{name}.{kind}" for kind in ("png", "svg")]
    for path in paths:
        vector = path.suffix == ".svg"  # few things in it are made of dots
        # The hash salt makes the same figure the same file.
        with (
            aside(path, replace=True) as temporary,
            matplotlib.rc_context({"svg.hashsalt": "counterbc"}),
        ):
            figure.savefig(
                temporary, dpi=120 if vector else dpi, metadata={"Date": None} if vector else None
            )
    return paths
