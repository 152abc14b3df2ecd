"""What is as good as what was chosen: everything within one standard error of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from counterbc.selection.clusters import Estimate
from counterbc.selection.lag_choice import LagChoice


class ComparedTrial(Protocol):
    """A combination that was tried, and how far its error is above the chosen one's."""

    @property
    def radius(self) -> float: ...
    @property
    def steps(self) -> int: ...
    @property
    def above(self) -> Estimate: ...


def lag_plateau(choice: LagChoice) -> list[float]:
    """Return the lags whose error is within one standard error of the best one's; none where no
    common lag was chosen."""
    if choice.verdict not in ("late", "not late") or choice.operators:
        return []
    numbers = zip(choice.lags, choice.above, choice.above_se, strict=True)
    return [float(lag) for lag, above, se in numbers if above <= se]


def radius_plateau(trials: Sequence[ComparedTrial]) -> list[float]:
    """Return the radii that are as good as the chosen one for some number of steps."""
    return sorted({t.radius for t in trials if is_as_good(t)})


def step_plateau(trials: Sequence[ComparedTrial], radius: float) -> list[float]:
    """Return the numbers of steps that are as good as the chosen one, for the chosen radius."""
    return sorted(float(t.steps) for t in trials if t.radius == radius and is_as_good(t))


def is_as_good(trial: ComparedTrial) -> bool:
    """Return whether the error of a trial is within one standard error of the chosen one's."""
    return trial.above.value <= trial.above.se


def range_text(values: Sequence[float], tried: Sequence[float]) -> str:
    """Return values as ranges of neighbours among those that were tried.

    >>> range_text([0, 2, 3], [0, 1, 2, 3])
    '0 and 2–3'
    """
    places = sorted(sorted(tried).index(value) for value in values)
    ranges: list[list[int]] = []
    for place in places:
        if ranges and ranges[-1][-1] == place - 1:
            ranges[-1].append(place)
        else:
            ranges.append([place])
    order = sorted(tried)
    texts = [
        f"{order[r[0]]:,g}" if len(r) == 1 else f"{order[r[0]]:,g}–{order[r[-1]]:,g}"
        for r in ranges
    ]
    return " and ".join(texts)
