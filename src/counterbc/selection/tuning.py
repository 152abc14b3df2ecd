"""What a joint choice of lag, offsets, Δ, steps and ensemble found, with the evidence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from counterbc.acting.member import radius_text
from counterbc.data.field_checks import check_fields, field_from, limited_field
from counterbc.data.lags import lag_text, steps_are_one
from counterbc.selection.clusters import Estimate
from counterbc.selection.doubts import Doubt
from counterbc.selection.folds import LEAST_PAIRS
from counterbc.selection.lag_choice import LagChoice
from counterbc.selection.offsets import OffsetChoice
from counterbc.selection.plateaus import (
    lag_plateau,
    radius_plateau,
    range_text,
    step_plateau,
)
from counterbc.selection.shares import NEEDED, Explained, Share
from counterbc.selection.tuning_figure import tuning_figure


def _rising_field(least: int, default: tuple[float, ...]) -> Any:
    """Return a dataclass field of numbers that rise, from `least` on."""

    def is_rising(values: Sequence[float]) -> bool:
        return len(values) > 0 and values[0] >= least and all(a < b for a, b in pairwise(values))

    return limited_field(default, f"one or more, {least} or above, rising", is_rising)


@dataclass(frozen=True)
class TuneSearch:
    """How Δ, steps and ensemble are searched."""

    radii: tuple[float, ...] = _rising_field(0, (0.0, 0.1, 0.2, 0.3, 0.4, 0.5))
    """The radii tried, in units in which each action dimension spans [-1, 1]."""
    step_counts: tuple[int, ...] = _rising_field(1, (200, 400, 800, 1600, 3200, 6400))
    """The numbers of gradient steps tried. No policy is trained for more than the largest."""
    ensembles: tuple[int, ...] = _rising_field(1, (1, 4))
    """The sizes of ensembles tried."""
    folds: int = field_from(2, 5)
    """Number of folds; policies trained on the other folds predict each."""
    pairs: int = field_from(LEAST_PAIRS, 2000)
    """Larger datasets are subsampled at random to this many pairs."""
    seed: int = 0
    """Seed of the random split into folds, and of the subsample."""

    def __post_init__(self) -> None:
        check_fields(self)


@dataclass(frozen=True)
class Trial:
    """One combination that was tried, with its held-out error."""

    radius: float
    steps: int
    error: Estimate
    above: Estimate
    """Error above that of the chosen combination, action by action."""


@dataclass(frozen=True)
class Tuning:
    """What was chosen for one dataset, with the evidence."""

    lag: LagChoice
    radius: float | tuple[float, ...]
    steps: int
    ensemble: int = 1
    trials: tuple[Trial, ...] = ()
    ensemble_gain: Estimate | None = None
    """How far the error of the largest ensemble is below that of one network; None where only one
    size was tried."""
    explained: Share | None = None
    """Share of the actions' variance that the chosen combination explains."""
    per_dimension: tuple[Share, ...] = ()
    """The same of each action dimension, by policies with the first Δ that was tried."""
    doubts: tuple[Doubt, ...] = ()
    protocol: str = ""
    """How the errors were measured."""
    offsets: OffsetChoice = OffsetChoice()
    """Constant offsets of operators; removed before anything but the lag was chosen."""
    shares: Explained | None = None
    """How much of the actions can be predicted at all, and from what."""
    no_radius: str = ""
    """Why the radius is 0 without a search; empty where it was searched or given."""

    @property
    def tells(self) -> bool:
        """Whether held-out policies explain enough for a conclusion, and do more than repeat the
        previous action."""
        if self.shares is not None:
            return self.shares.tells
        return self.explained is None or self.explained.is_enough

    @property
    def sentences(self) -> tuple[str, ...]:
        """What was found, in the user's words."""
        share = self.explained
        networks = f"{self.ensemble} networks" if self.ensemble > 1 else "one network"
        if share is not None and not self.tells:
            return (
                f"Cannot tell: policies explain {share} of the variance of held-out actions, and "
                f"{NEEDED}. Other observation keys, "
                "velocities, a history or more demonstrations may help; until then these numbers "
                f"are a guess: {self.summary}",
            )
        average = f"average {networks}" if self.ensemble > 1 else networks
        steps = f"Stop after {self.steps:,} steps; {average} {self._ensemble_text()}".rstrip()
        if not self.trials:
            steps = f"Train for {self.steps:,} steps, which were not searched; {average}"
        texts = (self.lag.explanation, *self.offsets.sentences, self._radius_text(), steps)
        return (*texts, plateau) if (plateau := self._plateau_text()) else texts

    @property
    def summary(self) -> str:
        """The numbers alone."""
        networks = f"{self.ensemble} networks" if self.ensemble > 1 else "one network"
        lag, radius = lag_text(self.lag.lag, self.lag.rate), radius_text(as_tuple(self.radius))
        return f"lag {lag}, Δ {radius}, {self.steps:,} steps, {networks}"

    @property
    def as_good(self) -> dict[str, list[float]]:
        """The lags, radii and numbers of steps whose held-out error is within one standard error of
        the chosen one's; empty where they were not searched."""
        radius = max(as_tuple(self.radius))
        return {
            "lag": lag_plateau(self.lag),
            "radius": radius_plateau(self.trials) if len(self._radii) > 1 else [],
            "steps": step_plateau(self.trials, radius) if len(self._counts) > 1 else [],
        }

    @property
    def _radii(self) -> list[float]:
        return sorted({t.radius for t in self.trials})

    @property
    def _counts(self) -> list[int]:
        return sorted({t.steps for t in self.trials})

    def _plateau_text(self) -> str:
        """Return what is as good as the choice, in words."""
        lags, radii, counts = self.as_good.values()
        texts = []
        if lags:
            seconds = [lag / self.lag.rate for lag in (lags[0], lags[-1])] if self.lag.rate else []
            words = (
                f" ({'–'.join(f'{s:.3g}' for s in dict.fromkeys(seconds))} s)" if seconds else ""
            )
            noun = "step" if steps_are_one(lags) else "steps"
            texts.append(f"a lag of {range_text(lags, self.lag.lags)} {noun}{words}")
        if radii:
            texts.append(f"Δ {range_text(radii, self._radii)}")
        if counts:
            texts.append(f"{range_text(counts, self._counts)} training steps")
        return f"As good within one standard error: {'; '.join(texts)}" if texts else ""

    def _radius_text(self) -> str:
        """Return what is known about the size of the errors."""
        if self.no_radius:
            return self.no_radius
        if len({t.radius for t in self.trials}) <= 1:
            return f"Δ {radius_text(as_tuple(self.radius))}, as given"
        if self.radius == 0:
            return "No radius is better than plain BC by more than one standard error: Δ 0"
        text = f"Errors are about ±{radius_text(as_tuple(self.radius))}"
        plain = [t for t in self.trials if t.radius == 0]
        if not plain:
            return text
        bc = min(plain, key=lambda t: t.error.value)
        return f"{text}: held-out error {_percent(bc.above, bc.error.value)} below plain BC's"

    def _ensemble_text(self) -> str:
        """Return what averaging saves of the error of one network."""
        gain, radius = self.ensemble_gain, max(as_tuple(self.radius))
        one = [t.error.value for t in self.trials if (t.radius, t.steps) == (radius, self.steps)]
        if gain is None or not one:
            return ""
        return f"(averaging several lowers the held-out error by {_percent(gain, one[0])})"

    def plot(self, path: str | Path) -> None:
        """Draw the errors by lag, and by Δ and steps, as .png or .svg."""
        tuning_figure(self, Path(path))

    def as_dict(self) -> dict[str, Any]:
        """Return the choice as JSON has it."""
        choices: dict[str, Any] = {"lag": self.lag.as_dict(), "offsets": self.offsets.as_dict()}
        choices |= {"shares": None if self.shares is None else self.shares.as_dict()}
        facts: dict[str, Any] = {"sentences": self.sentences, "as_good": self.as_good}
        facts |= {"doubts": [doubt.text for doubt in self.doubts]}
        return asdict(self) | choices | facts


def as_tuple(radius: float | tuple[float, ...]) -> tuple[float, ...]:
    """Return one radius, or one per dimension, as a tuple."""
    return radius if isinstance(radius, tuple) else (radius,)


def _percent(gain: Estimate, error: float) -> str:
    return f"{100 * gain.value / error:.1f} ± {100 * gain.se / error:.1f} %"
