"""What there is to say about a dataset: each stage is done, or its reason is kept."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

import numpy as np

from counterbc.data.demonstrations import Demonstrations
from counterbc.data.inspection import Inspection
from counterbc.data.inspection_report import InspectionReport
from counterbc.data.merge import merge
from counterbc.data.radii import Radius
from counterbc.data.raw_episode import Header, raw_episodes
from counterbc.diagnosis.intents import Intents, find_intents
from counterbc.diagnosis.meaning import Meaning, meaning
from counterbc.errors import CounterBCError, InfeasibleActions, OptionError, unknown
from counterbc.selection.held_out import HeldOut
from counterbc.selection.radius import RadiusChoice, RadiusSearch, choose_radius

_FEW = 8  # episodes: of fewer, quartiles say little
_FENCE = 1.5  # interquartile ranges above the upper quartile, as in a box plot

T = TypeVar("T")
Watch = Callable[[str], AbstractContextManager[Any]]


@dataclass(frozen=True)
class ReportOptions:
    """What is looked at, and how thoroughly."""

    radius: Radius | None = None
    """Δ where it is known; else it is chosen from the data."""
    judges: HeldOut = HeldOut()
    scores: bool = True
    intents: bool = True
    angles: tuple[str, ...] = ()
    """Observations that are angles in radians, for intents."""
    device: str | None = None
    search: RadiusSearch | None = None
    """How Δ is chosen."""


@dataclass(frozen=True, eq=False)
class Findings:
    """Everything on the page; a stage that could not be done is None and has a reason."""

    demos: Demonstrations
    parts: tuple[tuple[str, tuple[str, ...]], ...]
    """Source of each dataset that was merged, and the names its episodes have there."""
    inspection: InspectionReport
    options: ReportOptions
    choice: RadiusChoice | None
    meaning: Meaning | None
    intents: Intents | None
    reasons: dict[str, str]
    """Why a stage is missing: radius, scores or intents."""

    @property
    def radius(self) -> tuple[float, ...] | None:
        """Δ that actions were judged with, or was chosen."""
        if self.meaning is not None:
            return self.meaning.radius
        return None if self.choice is None else (self.choice.radius,)

    @property
    def distance(self) -> float | None:
        """RMS over all pairs between shown and believed, where actions span [−1, 1], without the
        judges' error."""
        if self.meaning is None:
            return None
        squares = [s.distance**2 for s in self.meaning.episodes]
        return float(np.sqrt(np.average(squares, weights=[s.pairs for s in self.meaning.episodes])))

    @cached_property
    def ranked(self) -> list[int]:
        """The episodes, those furthest from what is believed first; none where not judged."""
        if self.meaning is None:
            return []
        scores = self.meaning.episodes
        return sorted(range(len(scores)), key=lambda i: -scores[i].distance)

    @cached_property
    def fence(self) -> float | None:
        """Episodes with a larger distance stand out: the box plot's rule; None for few episodes."""
        if self.meaning is None or len(self.meaning.episodes) < _FEW:
            return None
        low, high = np.percentile([s.distance for s in self.meaning.episodes], [25, 75])
        return float(high + _FENCE * (high - low))

    @property
    def outstanding(self) -> list[int]:
        """The episodes that stand out, in file order."""
        if self.meaning is None or self.fence is None:
            return []
        return [i for i, s in enumerate(self.meaning.episodes) if s.distance > self.fence]

    @property
    def peaks(self) -> str | None:
        """The doubt about one mode that choosing Δ raised."""
        doubts = () if self.choice is None else self.choice.warnings
        return next((d for d in doubts if "more than one peak" in d), None)


def find(
    datasets: Sequence[Demonstrations], options: ReportOptions, watch: Watch | None = None
) -> Findings:
    """Look at datasets as one; `watch` is told the title of each stage that has no bar."""
    demos, stages = merge(datasets), _Stages()
    bars, shown = watch is not None, watch or (lambda _: nullcontext())
    for name in options.angles:
        if name not in demos.obs_names:
            raise unknown("observation", name, demos.obs_names)
    with shown("looking for problems"):
        inspection = Inspection()
        inspection.add(Header.of(demos), raw_episodes(demos))
    choice = stages.attempt(
        "radius", lambda: _choose(demos, options, bars), _known(options.radius)
    )  # fmt: skip
    judged = stages.attempt(
        "scores", lambda: _judge(demos, choice, options, bars), _unjudged(options, choice)
    )
    with shown("looking for goals") if options.intents else nullcontext():
        intents = stages.attempt(
            "intents", lambda: find_intents(demos, angles=options.angles),
            None if options.intents else "goals were not asked for",
        )  # fmt: skip
    parts = tuple((d.source, tuple(e.name for e in d.episodes)) for d in datasets)
    report = inspection.report()
    return Findings(demos, parts, report, options, choice, judged, intents, stages.reasons)


class _Stages:
    """Work that some data do not allow; then the reason is kept."""

    def __init__(self) -> None:
        self.reasons: dict[str, str] = {}

    def attempt(self, name: str, work: Callable[[], T], against: str | None) -> T | None:
        """None where something speaks against it, or comes up."""
        try:
            if against is None:
                return work()
        except OptionError:  # what was asked for is wrong, not the data
            raise
        except CounterBCError as error:
            against = str(error)
        self.reasons[name] = against
        return None


def _known(radius: Radius | None) -> str | None:
    return None if radius is None else "Δ was given, so it was not looked for in the data"


def _unjudged(options: ReportOptions, choice: RadiusChoice | None) -> str | None:
    if not options.scores:
        return "scores were not asked for"
    if options.radius is None and choice is None:
        return "judging needs Δ, which could not be chosen; give it with --radius"
    return None


def _choose(demos: Demonstrations, options: ReportOptions, progress: bool) -> RadiusChoice:
    with warnings.catch_warnings():
        # The page counts infeasible actions among the problems.
        warnings.simplefilter("ignore", InfeasibleActions)
        return choose_radius(demos, search=options.search, device=options.device, progress=progress)


def _judge(
    demos: Demonstrations, choice: RadiusChoice | None, options: ReportOptions, progress: bool
) -> Meaning:
    radius = options.radius if choice is None else choice.radius
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InfeasibleActions)
        return meaning(
            demos, radius=radius, judges=options.judges, device=options.device, progress=progress
        )
