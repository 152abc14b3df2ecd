"""A figure of the held-out error against Δ, with the radius that it chooses."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

import numpy as np

from counterbc.data.arrays import Array
from counterbc.errors import OptionError
from counterbc.files import aside

_CURVE, _MARK = "#0072B2", "#D55E00"  # of the palette of Okabe and Ito
KINDS = (".png", ".svg")


class ErrorCurve(Protocol):
    """What the figure reads of a `RadiusChoice`."""

    @property
    def radius(self) -> float: ...
    @property
    def radii(self) -> tuple[float, ...]: ...
    @property
    def error(self) -> tuple[float, ...]: ...
    @property
    def difference_se(self) -> tuple[float, ...]: ...
    @property
    def plateau(self) -> tuple[float, ...]: ...
    @property
    def protocol(self) -> str: ...
    @property
    def mean_action_error(self) -> float: ...


def check_kind(path: Path) -> None:
    """Refuse a kind of picture that cannot be drawn, before any work is done for it."""
    if path.suffix not in KINDS:
        raise OptionError(f"cannot draw {path.name}; allowed: {', '.join(KINDS)}")


def percent_above(choice: ErrorCurve) -> tuple[Array, Array, float]:
    """Return errors above that of Δ = 0 in percent of it, with standard errors, (G,) each, and the
    same of the mean action.

    If policies with Δ = 0 diverged, the least error takes its place.
    """
    error = np.array(choice.error)
    first = error[0] if np.isfinite(error[0]) else np.nanmin(error)
    values = error - first, np.array(choice.difference_se), choice.mean_action_error - first
    part, se, mean_action = (100 * x / first for x in values)
    return part, np.nan_to_num(se), float(mean_action)


def radius_figure(choice: ErrorCurve, path: Path) -> None:
    """Draw the error in percent of that at Δ = 0, with one standard error of the difference."""
    from matplotlib.figure import Figure  # training needs no matplotlib

    check_kind(path)
    radii = np.array(choice.radii)
    part, se, mean_action = percent_above(choice)
    figure = Figure(figsize=(3.5, 2.6))
    axis = figure.subplots()
    axis.axhline(0, color="0.6", lw=0.8)
    axis.axvspan(choice.plateau[0] - 0.01, choice.plateau[-1] + 0.01, color="0.92", lw=0)
    axis.fill_between(radii, part - se, part + se, color=_CURVE, alpha=0.2, lw=0)
    axis.plot(radii, part, "o-", color=_CURVE, lw=1.4, ms=3.5)
    axis.axvline(choice.radius, color=_MARK, lw=1.4, ls=(0, (4, 2)))
    axis.annotate(
        f"Δ {choice.radius:g}", (choice.radius, 1), (3, -2), xycoords=("data", "axes fraction"),
        textcoords="offset points", color=_MARK, fontsize=9, va="top",
    )  # fmt: skip
    low, high = axis.get_ylim()
    if low < mean_action < high:
        axis.axhline(mean_action, color="0.4", lw=0.8, ls=":")
    axis.set_xlabel("radius Δ", fontsize=9)
    axis.set_ylabel("held-out error above Δ = 0 (%)", fontsize=9)
    axis.tick_params(labelsize=8)
    axis.spines[["top", "right"]].set_visible(False)
    axis.set_title(f"{choice.protocol};\nband: 1 standard error, grey: as good as the best; "
                   f"mean action: {mean_action:+.0f} %",
                   fontsize=6.5, loc="left", color="0.3")  # fmt: skip
    figure.tight_layout()
    with aside(path, replace=True) as temporary:
        figure.savefig(temporary, dpi=200)
