"""Findings in sentences."""

from __future__ import annotations

import numpy as np

from counterbc.acting.policies import radius_text
from counterbc.report.findings import Findings

SCALE = "on a scale where each action dimension runs from −1 to 1"


def some(count: int, noun: str) -> str:
    """A number with its noun."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def headline(found: Findings) -> list[str]:
    """What a reader in a hurry should know, a sentence each."""
    said = [_counts(found)]
    if found.distance is not None:
        said.append(
            f"What was shown lies {found.distance:.2f} from what policies believe that did "
            f"not see it, {SCALE} (root mean square)."
        )
    if found.radius is not None:
        said.append(_radius(found))
    if found.fence is not None:
        count = len(found.outstanding)
        who = some(count, "episode") if count else "No episode"
        said.append(f"{who} {'stands' if count < 2 else 'stand'} out.")
    if found.intents is not None and found.intents.groups > 1:
        said.append(f"The episodes pursue {found.intents.groups} different goals.")
    if found.peaks is not None:
        said.append("At some states different actions may be meant.")
    return said


def _counts(found: Findings) -> str:
    demos, report = found.demos, found.inspection
    people = len(demos.operators)
    by = f" by {some(people, 'operator')}" if people else ""
    rate = f" at {report.rate:g} Hz" if report.rate else ""
    return f"{some(len(demos), 'episode')}{by}, {some(demos.pairs, 'pair')}{rate}."


def _radius(found: Findings) -> str:
    choice = found.choice
    if choice is None:
        return f"Δ = {radius_text(found.radius or ())} was given."
    if choice.radius == 0:
        return "Δ = 0: no counterfactuals predict held-out actions better than plain BC."
    least = choice.radii[choice.error.index(min(choice.error))]
    alike = ", ".join(f"{r:g}" for r in choice.plateau)
    return (
        f"Δ = {choice.radius:g} was chosen: held-out actions are predicted best at {least:g}, and "
        f"within one standard error of that at {alike}."
    )


def names(found: Findings, episodes: list[int], most: int = 12) -> str:
    """Some episodes by name."""
    shown = [found.demos.episodes[i].name for i in episodes]
    more = f" and {len(shown) - most} more" if len(shown) > most else ""
    return ", ".join(shown[:most]) + more


def length(found: Findings, pairs: float) -> str:
    """So many pairs, in seconds too where the rate is known."""
    rate = found.inspection.rate
    return some(round(pairs), "pair") + (f" ({pairs / rate:.3g} s)" if rate else "")


def lengths(found: Findings) -> str:
    """From the shortest to the longest episode."""
    each = [len(e) for e in found.demos.episodes]
    if min(each) == max(each):
        return f"{length(found, each[0])} each"
    low, middle, high = (length(found, float(f(each))) for f in (min, np.median, max))
    return f"{low} to {high}, median {middle}"
