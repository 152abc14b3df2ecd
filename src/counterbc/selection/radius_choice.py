"""The chosen Δ with the evidence for it."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from counterbc.selection.doubts import Doubt
from counterbc.selection.radius_figure import radius_figure
from counterbc.selection.shares import Explained

RULE_OF_THUMB = "The paper's rule of thumb is 0.2 for experts to 0.5 for novices."


@dataclass(frozen=True, eq=False)
class RadiusChoice:
    """The chosen Δ with its evidence; G radii were tried for A action dimensions."""

    radius: float
    per_dimension: tuple[float, ...]
    """(A,): the radius that each dimension would choose for itself."""
    radii: tuple[float, ...]
    error: tuple[float, ...]
    """(G,): mean squared error of the held-out actions, summed over dimensions."""
    error_se: tuple[float, ...]
    """(G,): its standard error over folds."""
    difference: tuple[float, ...]
    """(G,): error above that of Δ = 0, fold by fold."""
    difference_se: tuple[float, ...]
    plateau: tuple[float, ...]
    """The radii whose error is above the least by no more than one standard error, fold by fold; Δ
    leans to the largest of them."""
    dimension_error: tuple[tuple[float, ...], ...]
    """(A, G): the error of each dimension."""
    action_names: tuple[str, ...]
    folds: int
    folds_by: str
    """episodes, or blocks."""
    gap: int
    """Steps left out on either side of a block."""
    repeats: int
    steps: int
    pairs: int
    pairs_used: int
    doubts: tuple[Doubt, ...]
    mean_action_error: float
    """The error of the mean action, which policies must beat."""
    explained: Explained
    """How much of the actions' variance policies with the best radius explain."""

    def with_shares(self, explained: Explained) -> RadiusChoice:
        """Return the choice with what observations before the present one explain as well, without
        doubts about a radius that is a guess."""
        doubts = self.doubts
        if not explained.tells:
            doubts = tuple(d for d in doubts if d.kind not in ("zero is best", "largest is best"))
        return replace(self, explained=explained, doubts=doubts)

    @property
    def is_flat(self) -> bool:
        """Whether plain BC is as good within one standard error, so no radius is recommended."""
        return 0.0 in self.plateau

    @property
    def explanation(self) -> str:
        """The reason for this radius, in two sentences."""
        g = int(np.nanargmin(self.error))
        part = 100 * np.array([self.difference[g], self.difference_se[g]]) / self.error[0]
        if self.explained.may_only_repeat:
            finding = "policies may only repeat the previous action, so this one is a guess"
        elif not self.explained.tells:
            finding = "held-out actions are hardly predicted at any radius, so this one is a guess"
        elif g == 0:
            finding = "no radius predicts held-out actions better than 0, which is plain BC"
        else:
            below = f"{-part[0]:.1f} ± {part[1]:.1f} % below that of Δ = 0"
            if np.isnan(self.error[0]):
                below = "while policies with Δ = 0 diverged"
            finding = f"the held-out squared error is least at Δ {self.radii[g]:g}, {below}"
        if self.is_flat and self.explained.tells:
            flat = f"at most Δ {self.radius:g} does no harm" if self.radius else "Δ 0 is BC"
            return (
                f"No radius is recommended, plain BC is as good: {finding}; {flat} "
                f"({self.protocol}). {RULE_OF_THUMB}"
            )
        alike = ", ".join(f"{r:g}" for r in self.plateau)
        leans = ", towards which Δ leans" if self.radius > max(self.radii[g], 0.0) else ""
        return (
            f"Δ {self.radius:g}: {finding}; within one standard error of the best: {alike}{leans} "
            f"({self.protocol}). {RULE_OF_THUMB}"
        )

    @property
    def protocol(self) -> str:
        """The protocol of the measurement."""
        kind = "whole episodes" if self.folds_by == "episodes" else f"blocks, gap {self.gap} steps"
        size = f"{self.pairs_used} pairs" + (
            f" of {self.pairs}" if self.pairs_used < self.pairs else ""
        )
        repeats = f", {self.repeats} repeats" if self.repeats > 1 else ""
        return f"{self.folds} folds of {kind}{repeats}, {size}, {self.steps} steps"

    @property
    def warnings(self) -> tuple[str, ...]:
        """The doubts as texts."""
        return tuple(doubt.text for doubt in self.doubts)

    def as_dict(self) -> dict[str, Any]:
        """Return the choice as JSON has it."""
        values = asdict(self) | {"explained": self.explained.as_dict()}
        del values["doubts"]
        return values | {"warnings": self.warnings, "explanation": self.explanation}

    def __repr__(self) -> str:
        return self.explanation

    def plot(self, path: str | Path) -> None:
        """Draw the curve as .png or .svg."""
        radius_figure(self, Path(path))
