"""Pictures: one colour per method across the project, safe for the colour-blind."""

from __future__ import annotations

import textwrap
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
TEACHERS = {"gaussian": "Gaussian", "epsilon-greedy": "ε-greedy"}
"""Where the name of a teacher is not its title."""
UNITS = {
    "intersection": "reward", "cartpole": "steps survived", "cartpole-hard": "steps survived",
    "car-racing": "tiles visited", "push-t": "best coverage", "can": "success",
}  # fmt: skip
"""Of an episode's performance, where "return" says too little."""
MEASURES = {"car-racing": "tiles", "push-t": "best_coverage", "can": "success"}
"""What counts in place of the return: the paper's distance travelled, and success."""
WIDTH = 3.5  # inches, a column of a paper: nothing need be shrunk, so letters stay readable


def title(world: str, teacher: str = "") -> str:
    """Intersection, ε-greedy."""
    name = "Push-T" if world == "push-t" else world.replace("-", " ").capitalize()
    return ", ".join(filter(None, (name, TEACHERS.get(teacher, teacher))))


def radius_used(rows: Any) -> str:
    """For a caption: the Δ of Counter-BC's rows, where one stands there."""
    found = sorted(rows["radius"].dropna().unique())
    return f", Counter-BC's Δ {' or '.join(f'{r:g}' for r in found)}" if found else ""


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


def new_figure(rows: int, columns: int, height: float, width: float = WIDTH) -> tuple[Any, Any]:
    """A figure and its (rows, columns) panels, in the project's style; inches."""
    figure = Figure(figsize=(width, height))
    axes = figure.subplots(rows, columns, squeeze=False)
    for axis in axes.flat:
        _dress(axis)
    return figure, axes


def new_mosaic(layout: Any, height: float, width: float = WIDTH) -> tuple[Any, dict[Any, Any]]:
    """A figure of panels of several sizes and the panels by name; a name fills its cells."""
    figure = Figure(figsize=(width, height))
    axes = figure.subplot_mosaic(layout)
    for axis in axes.values():
        _dress(axis)
    return figure, axes


def _dress(axis: Any) -> None:
    axis.tick_params(labelsize=6.5, length=2, pad=2)
    axis.xaxis.label.set_size(7)
    axis.yaxis.label.set_size(7)
    axis.xaxis.labelpad = axis.yaxis.labelpad = 2
    axis.locator_params(axis="y", nbins=4)
    axis.spines[["top", "right"]].set_visible(False)
    axis.grid(axis="y", color="0.92")
    axis.set_axisbelow(True)


def label_below(axes: Any, label: str) -> None:
    """The x-axis in words under the lowest visible panel of each column, and numbers only there."""
    for column in axes.T:
        *above, lowest = [axis for axis in column if axis.get_visible()]
        lowest.set_xlabel(label)
        for axis in above:
            axis.tick_params(labelbottom=False)


def band(
    axis: Any, x: Any, mean: Any, half: Any, color: str, label: str | None = None, marker: str = ""
) -> None:
    """A line with a band of `half` on either side."""
    axis.fill_between(x, mean - half, mean + half, color=color, alpha=0.2, lw=0)
    size = 5 if marker == "*" else 3  # a star is small for its size
    axis.plot(x, mean, color=color, marker=marker, ms=size, mew=0, lw=1.1, label=label)


def save(
    figure: Any, folder: Path, name: str, caption: str, legend: bool = False, bar: Any = None
) -> list[Path]:
    """Write SVG and PNG, the caption below the panels and room for a legend above them, or a bar
    of the colours of what was shown, given with its label."""
    width, height = (float(inches) for inches in figure.get_size_inches())
    letters = int(22 * width)  # at 6 points there are some 24 to the inch
    lines = textwrap.wrap(caption, letters, break_on_hyphens=False)
    room, inch = 0.11 * len(lines) + 0.06, 1 / height
    text = "\n".join(lines)
    figure.text(0.02, 0.04 * inch, text, fontsize=6, va="bottom", ha="left", color="0.25")
    rect = (0, room * inch, 1, 1 - (0.32 * inch if legend or bar else 0))
    figure.tight_layout(rect=rect, pad=0.4, h_pad=0.6, w_pad=0.8)
    if bar:  # after the layout, which knows of panels alone
        _colour_bar(figure, *bar)
    return save_files(figure, folder, name, dpi=240)


def legend(figure: Any, panel: Any, columns: int) -> None:
    """Of all panels, above them."""
    handles, labels = panel.get_legend_handles_labels()
    figure.legend(
        handles, labels, loc="upper center", ncols=columns, fontsize=6.5, frameon=False,
        borderaxespad=0.1, columnspacing=1.2, handlelength=1.6,
    )  # fmt: skip


def _colour_bar(figure: Any, shown: Any, label: str) -> None:
    """Of what all panels show, above them."""
    inch = 1 / figure.get_size_inches()[1]
    axis = figure.add_axes((0.25, 1 - 0.14 * inch, 0.65, 0.08 * inch))
    figure.colorbar(shown, cax=axis, orientation="horizontal", drawedges=True)
    axis.tick_params(labelsize=6.5, length=2, pad=1)
    axis.text(-0.04, 0.5, label, transform=axis.transAxes, fontsize=7, ha="right", va="center")


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
