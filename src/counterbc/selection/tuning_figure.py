"""A figure of what tuning found: held-out errors by lag, and by Δ and steps."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import numpy as np

from counterbc.files import aside
from counterbc.selection.clusters import Estimate
from counterbc.selection.lag_choice import LagChoice
from counterbc.selection.plateaus import ComparedTrial
from counterbc.selection.radius_figure import check_kind

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_CURVE, _MARK = "#0072B2", "#D55E00"  # of the palette of Okabe and Ito


class _Trial(ComparedTrial, Protocol):
    @property
    def error(self) -> Estimate: ...


class _Tuning(Protocol):
    @property
    def lag(self) -> LagChoice: ...
    @property
    def radius(self) -> float | tuple[float, ...]: ...
    @property
    def steps(self) -> int: ...
    @property
    def trials(self) -> tuple[_Trial, ...]: ...
    @property
    def protocol(self) -> str: ...
    @property
    def as_good(self) -> dict[str, list[float]]: ...


def tuning_figure(tuning: _Tuning, path: Path) -> None:
    """Draw the held-out error of every lag, and of every Δ along the training."""
    from matplotlib.figure import Figure  # training needs no matplotlib

    check_kind(path)
    figure = Figure(figsize=(7.0, 2.7))
    left, right = figure.subplots(1, 2)
    _draw_lags(left, tuning.lag, tuning.as_good["lag"])
    _draw_trials(right, tuning)
    for axis in (left, right):
        axis.tick_params(labelsize=8)
        axis.spines[["top", "right"]].set_visible(False)
    figure.tight_layout()
    with aside(path, replace=True) as temporary:
        figure.savefig(temporary, dpi=200)


def _draw_lags(axis: Axes, choice: LagChoice, as_good: list[float]) -> None:
    if not choice.lags:
        return _say(axis, "no lag was searched")
    lags, seconds = np.array(choice.lags, float), choice.rate is not None
    x = lags / choice.rate if choice.rate is not None else lags
    error, se = np.array(choice.error), np.array(choice.above_se)
    axis.fill_between(x, error - se, error + se, color=_CURVE, alpha=0.2, lw=0)
    axis.plot(x, error, "o-", color=_CURVE, lw=1.4, ms=3, label="state alone")
    if choice.own_past_error:
        axis.plot(x, choice.own_past_error, ":", color="0.5", lw=1.2, label="and own past actions")
    if choice.history_error:
        axis.plot(x, choice.history_error, "--", color="0.7", lw=1.2, label="and past states")
    if choice.verdict != "cannot tell":
        for lag in set(choice.lag):
            at = lag / choice.rate if choice.rate is not None else lag
            axis.axvline(at, color=_MARK, lw=1.4, ls=(0, (4, 2)))
    unit = choice.rate if choice.rate is not None else 1.0
    _shade(axis, [lag / unit for lag in as_good], half_width=0.5 / unit)
    axis.set_ylim(bottom=0)
    axis.legend(fontsize=7, frameon=False)
    axis.set_xlabel("lag (s)" if seconds else "lag (steps)", fontsize=9)
    axis.set_ylabel("held-out squared error", fontsize=9)


def _shade(axis: Axes, values: list[float], *, half_width: float = 0.0) -> None:
    """Shade the range of what is as good as the choice."""
    if values:
        low, high = min(values) - half_width, max(values) + half_width
        axis.axvspan(low, high, color=_MARK, alpha=0.12, lw=0)


def _say(axis: Axes, text: str) -> None:
    axis.text(0.5, 0.5, text, ha="center", transform=axis.transAxes)
    axis.set_axis_off()


def _draw_trials(axis: Axes, tuning: _Tuning) -> None:
    if not tuning.trials:
        return _say(axis, "radius and steps were given")
    radii = sorted({t.radius for t in tuning.trials})
    chosen = float(np.max(tuning.radius))
    for i, radius in enumerate(radii):
        trials = sorted((t for t in tuning.trials if t.radius == radius), key=lambda t: t.steps)
        shade = str(round(0.75 * i / max(len(radii) - 1, 1), 2))
        color = _MARK if radius == chosen else shade
        steps, errors = [t.steps for t in trials], np.array([t.error.value for t in trials])
        se = np.array([t.above.se for t in trials])
        mark = " *" if radius in tuning.as_good["radius"] else ""
        axis.plot(steps, errors, "o-", color=color, lw=1.4, ms=3, label=f"Δ {radius:g}{mark}")
        axis.fill_between(steps, errors - se, errors + se, color=color, alpha=0.15, lw=0)
    axis.axvline(tuning.steps, color=_MARK, lw=1.4, ls=(0, (4, 2)))
    counts = sorted({t.steps for t in tuning.trials})
    axis.set_xscale("log")
    _shade(axis, tuning.as_good["steps"])
    axis.set_xticks(counts, [f"{n:,}" for n in counts])
    axis.minorticks_off()
    axis.legend(fontsize=7, frameon=False, ncols=2)
    axis.set_xlabel("gradient steps", fontsize=9)
    axis.set_ylabel("held-out squared error", fontsize=9)
    axis.set_title(tuning.protocol, fontsize=6.5, loc="left", color="0.3")
