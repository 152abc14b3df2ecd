"""Pictures: one colour per method across the project, safe for the colour-blind."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib
from matplotlib.figure import Figure

from counterbc.acting.policies import Curve
from counterbc.experiments.styles import STYLES
from counterbc.files import aside

COLORS = {name: style.colour for name, style in STYLES.items()}
LABELS = {name: style.label for name, style in STYLES.items()}
MARKERS = {name: style.marker for name, style in STYLES.items()}


def loss_figure(curve: Curve, title: str, folder: Path, name: str) -> list[Path]:
    """The loss of a training against its steps, and the held-out loss where there is one."""
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
        vector = path.suffix == ".svg"  # in which few things are made of dots
        # The hash salt makes the same figure the same file.
        with aside(path) as temporary, matplotlib.rc_context({"svg.hashsalt": "counterbc"}):
            figure.savefig(
                temporary, dpi=120 if vector else dpi, metadata={"Date": None} if vector else None
            )
    return paths
