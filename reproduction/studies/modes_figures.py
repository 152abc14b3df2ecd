"""The pictures of docs/modes.md."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure
from matplotlib.patches import Circle
from numpy.typing import NDArray

from counterbc.acting.act import Act
from counterbc.envs.fork import GOAL, GOAL_RADIUS, OBSTACLE

Array = NDArray[Any]
CASE_COLOURS = ("#000000", "#D55E00", "#0072B2", "#009E73")
"""One per policy, from the palette of Okabe and Ito."""


def draw_line(
    actions: Mapping[str, Array], intended_action: float, noise: float, path: Path
) -> None:
    """Draw the density of each policy's sampled actions over all seeds."""
    figure = Figure(figsize=(9.0, 2.3))
    axes = figure.subplots(1, len(actions), sharex=True, sharey=True)
    for axis, colour, (case, values) in zip(axes, CASE_COLOURS, actions.items(), strict=True):
        for middle in (-intended_action, intended_action):
            axis.axvspan(middle - noise, middle + noise, color="0.92", lw=0)
            axis.axvline(middle, color="0.4", lw=0.8, ls="--")
        axis.hist(values.ravel(), bins=100, range=(-1.2, 1.2), density=True, color=colour)
        axis.set_title(case, fontsize=9, color=colour, loc="left")
        axis.set_xlabel("sampled action")
        axis.spines[["top", "right"]].set_visible(False)
    axes[0].set_ylabel("density")
    _save(figure, path)


def draw_fork(paths: Mapping[str, Mapping[Act, list[Array]]], path: Path) -> None:
    """Draw the paths of one member of each policy, by mean and by sampled actions."""
    figure = Figure(figsize=(9.0, 4.6))
    axes = figure.subplots(2, len(paths), sharex=True, sharey=True)
    columns = zip(axes.T, CASE_COLOURS, paths.items(), strict=True)
    for i, (column, colour, (case, by_act)) in enumerate(columns):
        for axis, (act, member_paths) in zip(column, by_act.items(), strict=True):
            axis.add_patch(Circle((0, 0), OBSTACLE, color="0.6", lw=0))
            axis.add_patch(Circle((GOAL, 0), GOAL_RADIUS, color="#009E73", alpha=0.3, lw=0))
            for steps in member_paths:
                axis.plot(*steps.T, color=colour, lw=0.8, alpha=0.7)
                axis.plot(*steps[-1], "o", color=colour, ms=2)
            axis.set_aspect("equal")
            axis.set(xlim=(-1.1, 1.25), ylim=(-1.0, 1.0), xticks=[], yticks=[])
            axis.set_ylabel(f"by {act}" if i == 0 else "")
        column[0].set_title(case, fontsize=9, color=colour, loc="left")
    _save(figure, path)


def _save(figure: Figure, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.tight_layout()
    figure.savefig(path, dpi=160)
