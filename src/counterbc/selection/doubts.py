"""Reasons to doubt what was chosen from the data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from counterbc.selection.shares import Explained
from counterbc.selection.unimodality import FALSE_ALARMS

LEAST_STEPS = 500
"""With fewer gradient steps, errors of the policies say nothing about the demonstrators."""


@dataclass(frozen=True)
class Doubt:
    """A reason to doubt a choice, and what to do about it."""

    kind: Literal[
        "few steps",
        "several modes",
        "zero is best",
        "largest is best",
        "most steps",
        "history",
        "nothing predicted",
        "one episode",
    ]
    text: str


def few_steps(steps: int) -> Doubt:
    """Return the doubt about policies that were trained too briefly."""
    return Doubt(
        "few steps",
        f"{steps} training steps are too few to look for several modes, or for a Δ of 0; "
        f"search with {LEAST_STEPS} steps or more",
    )


def several_modes(dimensions: Sequence[str]) -> Doubt:
    """Return the doubt about action dimensions whose errors have more than one peak."""
    return Doubt(
        "several modes",
        f"the errors of {', '.join(dimensions)} have more than one peak (at most "
        f"{FALSE_ALARMS:.0%} of data with one look so): demonstrators may mean different actions "
        "at the same state, which one Gaussian averages; look at operators and goals separately, "
        "or use a mixture policy",
    )


def zero_is_best() -> Doubt:
    """Return the doubt about counterfactuals as such."""
    return Doubt(
        "zero is best",
        "Δ = 0 predicts best: the demonstrators err too little for counterfactuals to help, or all "
        "to one side; plain bc may do as well",
    )


def nothing_predicted(explained: Explained) -> Doubt:
    """Return the doubt about every radius where policies predict too little."""
    return Doubt("nothing predicted", f"{explained.refusal}. {explained.remedy}")


def largest_is_best(radius: float) -> Doubt:
    """Return the doubt about a search that ended at its last radius."""
    return Doubt(
        "largest is best",
        f"Δ {radius:g} predicts best, the largest radius tried; try larger ones",
    )


def most_steps_are_best(steps: int) -> Doubt:
    """Return the doubt about a search that ended at its largest number of steps."""
    return Doubt(
        "most steps",
        f"{steps:,} steps predict best, the largest number tried; try more",
    )


def one_episode() -> Doubt:
    """Return the doubt about choices that no other episode can confirm."""
    return Doubt(
        "one episode",
        "cannot tell whether radius, steps and ensemble suit other episodes: there is one episode, "
        "and they were chosen on blocks of it; record 5 or more",
    )


def reads_history() -> Doubt:
    """Return the doubt about a lag beside a policy that reads past observations."""
    return Doubt(
        "history",
        "the policy reads past observations, so it predicts late actions without a lag too, and "
        "would learn to be late; the lag was therefore chosen with one observation",
    )
