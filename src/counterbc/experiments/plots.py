"""Figures as PNG and SVG files, and the figure of a training's loss."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib
from matplotlib.figure import Figure

from counterbc.acting.policies import Curve
from counterbc.files import aside


def loss_figure(curve: Curve, title: str, folder: Path, name: str) -> list[Path]:
    """Write the loss of a training against its steps, with the held-out loss if there is one."""
    figure = Figure(figsize=(5.0, 3.2))
    axis = figure.subplots()
    for values, label, color in (
        (curve.loss, "training batch", "#000000"),
        (curve.held_out, "held-out episodes", "#D55E00"),
    ):
        if values is not None:
            axis.plot(curve.steps, values, color=color, lw=0.6, alpha=0.25)
            axis.plot(curve.steps, values.nanmean(1), color=color, lw=1.6, label=label)
    axis.set_xlabel("gradient step")
    axis.set_ylabel("loss (eq. M1)")
    axis.set_title(title, fontsize=9)
    axis.legend(frameon=False, fontsize=8)
    axis.spines[["top", "right"]].set_visible(False)
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
