"""Everything that the page shows about a dataset; a stage that fails leaves its reason."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeVar

import numpy as np

from counterbc.data.demonstrations import Demonstrations
from counterbc.data.inspection import Inspection
from counterbc.data.inspection_report import InspectionReport
from counterbc.data.merge import merge
from counterbc.data.radii import Radius
from counterbc.data.raw_episode import Header, raw_episodes
from counterbc.diagnosis.exclusion import LEAST_RANKED, find_outliers, followed_measures
from counterbc.diagnosis.intents import Intents, find_intents
from counterbc.diagnosis.meaning import Meaning, meaning
from counterbc.diagnosis.scores import Score
from counterbc.errors import CounterBCError, InfeasibleActions, OptionError
from counterbc.selection.explained import explain_if_possible
from counterbc.selection.held_out import HeldOut
from counterbc.selection.radius import RadiusSearch, choose_radius
from counterbc.selection.radius_choice import RadiusChoice
from counterbc.selection.shares import Explained
from counterbc.settings import Settings

T = TypeVar("T")
Watch = Callable[[str], AbstractContextManager[Any]]


@dataclass(frozen=True, kw_only=True)
class ReportOptions:
    """What the report covers, and how thoroughly."""

    radius: Radius | None = None
    """Δ; None: chosen from the data."""
    held_out: HeldOut = field(default_factory=HeldOut)
    """How the held-out policies are trained."""
    scores: bool = True
    """Score episodes and operators, which takes longest."""
    intents: bool = True
    """Look for groups of episodes with different goals."""
    device: str | None = None
    kernel: str = Settings.kernel
    """What computes the training steps."""
    search: RadiusSearch | None = None
    """How Δ is chosen."""
    force: bool = False
    """Rank episodes even if too little of the actions is explained."""


@dataclass(frozen=True)
class Source:
    """One of the datasets that were merged."""

    path: str
    episodes: tuple[str, ...]
    """The names of its episodes, as its file has them."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Findings:
    """Everything on the page; a stage without a result is None and has a reason."""

    demos: Demonstrations
    sources: tuple[Source, ...]
    inspection: InspectionReport
    options: ReportOptions
    explained: Explained | None
    """How much of the actions is explained; None for data that are too few."""
    choice: RadiusChoice | None
    meaning: Meaning | None
    intents: Intents | None
    reasons: dict[str, str]
    """Why a stage has no result: radius, scores or intents."""
    outliers: tuple[int, ...] = ()
    """The episodes that `counterbc score` excludes, in file order."""
    unranked: tuple[Score, ...] = ()
    """The episodes in file order where nothing can be ranked; only their movements are known."""

    @property
    def radius(self) -> tuple[float, ...] | None:
        """Δ of the scores, or the one that was chosen."""
        if self.meaning is not None:
            return self.meaning.radius
        return None if self.choice is None else (self.choice.radius,)

    @property
    def distance(self) -> float | None:
        """RMS over all pairs of demonstrated minus predicted actions, in units in which actions
        span [−1, 1], without the error of the held-out policies."""
        if self.meaning is None:
            return None
        squares = [s.distance**2 for s in self.meaning.episodes]
        return float(np.sqrt(np.average(squares, weights=[s.pairs for s in self.meaning.episodes])))

    @cached_property
    def ranking(self) -> list[int]:
        """The episodes by distance, largest first; empty without scores."""
        if self.meaning is None:
            return []
        scores = self.meaning.episodes
        return sorted(range(len(scores)), key=lambda i: -scores[i].distance)

    @property
    def why_no_outliers(self) -> str | None:
        """Why no episode can stand out, as a sentence; None if the scores decide."""
        if self.meaning is None or len(self.meaning.episodes) < LEAST_RANKED:
            return "There are too few episodes to detect outliers."
        measures = followed_measures(self.meaning.episodes)
        if self.options.force or not measures:
            return None
        return (
            f"The ranking follows {' and '.join(measures)}, which alone does not make a "
            "demonstration bad. So no episode is called an outlier."
        )

    @property
    def recommends_radius(self) -> bool:
        """Whether Δ was given, or chosen and better than plain BC."""
        is_flat = self.choice is not None and self.choice.is_flat
        return self.radius is not None and not (is_flat or self.is_radius_a_guess)

    @property
    def why_guessed(self) -> str | None:
        """Why the chosen Δ is a guess, as a clause; None if it was given or the data can tell."""
        if self.choice is None or self.explained is None or self.explained.tells:
            return None
        return self.explained.obstacle

    @property
    def is_radius_a_guess(self) -> bool:
        """Whether Δ was chosen although the data cannot tell."""
        return self.why_guessed is not None

    @property
    def several_modes(self) -> str | None:
        """The doubt of the radius choice that demonstrators mean one action per state."""
        doubts = () if self.choice is None else self.choice.doubts
        return next((doubt.text for doubt in doubts if doubt.kind == "several modes"), None)


def find(
    datasets: Sequence[Demonstrations], options: ReportOptions, watch: Watch | None = None
) -> Findings:
    """Examine datasets as one; `watch` gets the title of each stage without a progress bar."""
    demos, stages = merge(datasets), _Stages()
    progress, titles = watch is not None, watch or (lambda _: nullcontext())
    with titles("looking for problems"):
        inspection = Inspection()
        inspection.add(Header.of(demos), raw_episodes(demos))
    choice = stages.attempt(
        "radius", lambda: _choose(demos, options, progress), _why_no_choice(options.radius)
    )
    scores = stages.attempt(
        "scores", lambda: _score(demos, choice, options, progress), _why_no_scores(options, choice)
    )
    with titles("looking at what can be predicted"):
        explained = explain_if_possible(demos) if scores is None else scores.explained
    unranked: tuple[Score, ...] = ()
    if scores is not None and not (scores.explained.tells or options.force):
        stages.reasons["scores"] = f"{scores.explained.obstacle}, so episodes are not ranked"
        unranked, scores = scores.episodes, None
    outliers = () if scores is None else _outliers(scores, options, progress)
    with titles("looking for goals") if options.intents else nullcontext():
        intents = stages.attempt(
            "intents", lambda: find_intents(demos),
            None if options.intents else "goals were not asked for",
        )  # fmt: skip
    return Findings(
        demos=demos,
        sources=tuple(Source(d.source, tuple(e.name for e in d.episodes)) for d in datasets),
        inspection=inspection.report(),
        options=options,
        explained=explained,
        choice=choice,
        meaning=scores,
        intents=intents,
        reasons=stages.reasons,
        outliers=outliers,
        unranked=unranked,
    )


class _Stages:
    """Work that may be impossible with some data; the reason is kept."""

    def __init__(self) -> None:
        self.reasons: dict[str, str] = {}

    def attempt(self, name: str, work: Callable[[], T], obstacle: str | None) -> T | None:
        """Return the result of the work, or None if there is an obstacle or an error."""
        try:
            if obstacle is None:
                return work()
        except OptionError:  # the options are wrong, not the data
            raise
        except CounterBCError as error:
            obstacle = str(error)
        self.reasons[name] = obstacle
        return None


def _why_no_choice(radius: Radius | None) -> str | None:
    return None if radius is None else "Δ was given, so it was not chosen from the data"


def _why_no_scores(options: ReportOptions, choice: RadiusChoice | None) -> str | None:
    if not options.scores:
        return "scores were not asked for"
    if options.radius is None and choice is None:
        return "scores need Δ, which could not be chosen; give it with --radius"
    return None


def _choose(demos: Demonstrations, options: ReportOptions, progress: bool) -> RadiusChoice:
    with warnings.catch_warnings():
        # The page counts infeasible actions among the problems.
        warnings.simplefilter("ignore", InfeasibleActions)
        return choose_radius(
            demos,
            search=options.search,
            device=options.device,
            progress=progress,
            kernel=options.kernel,
        )


def _score(
    demos: Demonstrations, choice: RadiusChoice | None, options: ReportOptions, progress: bool
) -> Meaning:
    radius = options.radius if choice is None else choice.radius
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InfeasibleActions)
        return meaning(
            demos,
            radius=radius,
            held_out=options.held_out,
            lag=0.0,  # a late operator is far from the prediction, and the page says so
            offsets="none",  # so is one who errs to one side
            device=options.device,
            progress=progress,
            kernel=options.kernel,
        )


def _outliers(estimate: Meaning, options: ReportOptions, progress: bool) -> tuple[int, ...]:
    """Return the episodes that `counterbc score` would exclude."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InfeasibleActions)
        episodes = find_outliers(
            estimate, options.held_out, force=options.force, device=options.device,
            kernel=options.kernel, progress=progress,
        )  # fmt: skip
    return tuple(episodes)
