"""The look of the paper's figures: panels, bands, captions, titles."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from counterbc.envs import WORLDS
from counterbc.files import aside

TEACHER_LABELS = {"gaussian": "Gaussian", "epsilon-greedy": "ε-greedy"}
"""Teachers whose label differs from their name."""
WIDTH = 3.5  # inches, a column of a paper, so that letters stay readable in print


def title(world: str, teacher: str = "") -> str:
    """Return a title such as "Intersection, ε-greedy"; a place that is no world is capitalized."""
    label = WORLDS[world].label if world in WORLDS else world.capitalize()
    return ", ".join(filter(None, (label, TEACHER_LABELS.get(teacher, teacher))))


def radius_used(rows: Any) -> str:
    """Return the Δ of Counter-BC's rows for a caption, or nothing where there is none."""
    radii = sorted(rows["radius"].dropna().unique())
    return f", Counter-BC's Δ {' or '.join(f'{r:g}' for r in radii)}" if radii else ""


def new_figure(rows: int, columns: int, height: float, width: float = WIDTH) -> tuple[Any, Any]:
    """Return a figure and its (rows, columns) panels; sizes are in inches."""
    figure = Figure(figsize=(width, height))
    axes = figure.subplots(rows, columns, squeeze=False)
    for axis in axes.flat:
        _style(axis)
    return figure, axes


def new_mosaic(layout: Any, height: float, width: float = WIDTH) -> tuple[Any, dict[Any, Any]]:
    """Return a figure and its panels by name; a name fills its cells of the layout."""
    figure = Figure(figsize=(width, height))
    axes = figure.subplot_mosaic(layout)
    for axis in axes.values():
        _style(axis)
    return figure, axes


def _style(axis: Any) -> None:
    axis.tick_params(labelsize=6.5, length=2, pad=2)
    axis.xaxis.label.set_size(7)
    axis.yaxis.label.set_size(7)
    axis.xaxis.labelpad = axis.yaxis.labelpad = 2
    axis.locator_params(axis="y", nbins=4)
    axis.spines[["top", "right"]].set_visible(False)
    axis.grid(axis="y", color="0.92")
    axis.set_axisbelow(True)


def label_below(axes: Any, label: str) -> None:
    """Label the x-axis of the lowest visible panel of each column, and keep numbers only there."""
    for column in axes.T:
        *above, lowest = [axis for axis in column if axis.get_visible()]
        lowest.set_xlabel(label)
        for axis in above:
            axis.tick_params(labelbottom=False)


def band(
    axis: Any, x: Any, mean: Any, half: Any, color: str, label: str | None = None, marker: str = ""
) -> None:
    """Draw a line with a band of `half` on either side."""
    axis.fill_between(x, mean - half, mean + half, color=color, alpha=0.2, lw=0)
    size = 5 if marker == "*" else 3  # a star looks smaller than other markers
    axis.plot(x, mean, color=color, marker=marker, ms=size, mew=0, lw=1.1, label=label)


def save(
    figure: Any, folder: Path, name: str, caption: str, legend: bool = False, bar: Any = None
) -> Path:
    """Write a PNG file with the caption below the panels.

    Above them there is room for a legend, or for a colour bar: contours and their label.
    """
    width, height = (float(inches) for inches in figure.get_size_inches())
    letters = int(22 * width)  # at 6 points, 24 letters fit into an inch
    lines = textwrap.wrap(caption, letters, break_on_hyphens=False)
    room, inch = 0.11 * len(lines) + 0.06, 1 / height
    text = "\n".join(lines)
    figure.text(0.02, 0.04 * inch, text, fontsize=6, va="bottom", ha="left", color="0.25")
    rect = (0, room * inch, 1, 1 - (0.32 * inch if legend or bar else 0))
    figure.tight_layout(rect=rect, pad=0.4, h_pad=0.6, w_pad=0.8)
    if bar:  # after the layout, which places panels only
        _colour_bar(figure, *bar)
    path = folder / f"{name}.png"
    with aside(path, replace=True) as temporary:
        figure.savefig(temporary, dpi=240)
    return path


def legend(figure: Any, panel: Any, columns: int) -> None:
    """Put the legend of all panels above them."""
    handles, labels = panel.get_legend_handles_labels()
    figure.legend(
        handles, labels, loc="upper center", ncols=columns, fontsize=6.5, frameon=False,
        borderaxespad=0.1, columnspacing=1.2, handlelength=1.6,
    )  # fmt: skip


def _colour_bar(figure: Any, contours: Any, label: str) -> None:
    """Put the colour bar of all panels above them."""
    inch = 1 / figure.get_size_inches()[1]
    axis = figure.add_axes((0.25, 1 - 0.14 * inch, 0.65, 0.08 * inch))
    figure.colorbar(contours, cax=axis, orientation="horizontal", drawedges=True)
    axis.tick_params(labelsize=6.5, length=2, pad=1)
    axis.text(-0.04, 0.5, label, transform=axis.transAxes, fontsize=7, ha="right", va="center")
