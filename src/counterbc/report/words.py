"""Findings in sentences."""

from __future__ import annotations

import numpy as np

from counterbc.acting.member import radius_text
from counterbc.data.names import shorten
from counterbc.report.findings import Findings
from counterbc.selection.shares import Explained

SCALE = "on a scale where each action dimension runs from −1 to 1"


def plural(count: int, noun: str) -> str:
    """Return a number with its noun."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def headline(findings: Findings) -> list[str]:
    """Return what a reader in a hurry should know, one sentence each."""
    sentences = [_counts(findings), *_blindness(findings)]
    if findings.explained is not None:
        sentences += [f"{sentence}." for sentence in _explained(findings.explained)]
    if findings.distance is not None:
        sentences.append(
            f"Demonstrated actions differ by {findings.distance:.2f} (root mean square) from what "
            f"held-out policies predict, {SCALE}."
        )
    if findings.radius is not None and not findings.is_radius_a_guess:
        sentences.append(_radius(findings))
    if findings.meaning is not None and findings.why_no_outliers is None:
        count = len(findings.outliers)
        episodes = plural(count, "episode") if count else "No episode"
        sentences.append(f"{episodes} {'stands' if count < 2 else 'stand'} out.")
    if findings.intents is not None and findings.intents.groups > 1:
        sentences.append(f"The episodes pursue {findings.intents.groups} different goals.")
    if findings.several_modes is not None:
        sentences.append("Demonstrators may mean different actions at the same state.")
    return sentences


def _counts(findings: Findings) -> str:
    demos, rate = findings.demos, findings.inspection.rate
    people = len(demos.operators)
    by = f" by {plural(people, 'operator')}" if people else ""
    at = f" at {rate:g} Hz" if rate else ""
    return f"{plural(len(demos), 'episode')}{by}, {plural(demos.pairs, 'pair')}{at}."


def _blindness(findings: Findings) -> list[str]:
    """Name the cameras that were not read, if there are any."""
    cameras = findings.demos.blind_to
    verb = "was" if len(cameras) == 1 else "were"
    return [f"Policies are blind: {shorten(cameras)} {verb} not read."] if cameras else []


def _explained(explained: Explained) -> list[str]:
    """Return whether the data can tell good from bad, and doubts about it."""
    if not explained.tells:
        return list(explained.verdict)
    share = f"Held-out policies explain {explained.counted} of the variance of the actions"
    return [share, *explained.verdict]


def _radius(findings: Findings) -> str:
    choice = findings.choice
    if choice is None:
        return f"Δ = {radius_text(findings.radius or ())} was given."
    if choice.is_flat and choice.radius:
        return (
            "No Δ is recommended: plain BC predicts held-out actions as well, within one standard "
            f"error; up to {choice.radius:g} does no harm."
        )
    if choice.radius == 0:
        return "Δ = 0: no larger Δ predicts held-out actions better than BC."
    least = choice.radii[choice.error.index(min(choice.error))]
    plateau = ", ".join(f"{r:g}" for r in choice.plateau)
    return (
        f"Δ = {choice.radius:g} was chosen: held-out actions are predicted best at {least:g}, and "
        f"within one standard error of that at {plateau}."
    )


def names(findings: Findings, episodes: list[int], count: int = 12) -> str:
    """Return some episodes by name."""
    texts = [findings.demos.episodes[i].name for i in episodes]
    rest = f" and {len(texts) - count} more" if len(texts) > count else ""
    return ", ".join(texts[:count]) + rest


def length(findings: Findings, pairs: float) -> str:
    """Return a number of pairs, and the seconds if the rate is known."""
    rate = findings.inspection.rate
    return plural(round(pairs), "pair") + (f" ({pairs / rate:.3g} s)" if rate else "")


def lengths(findings: Findings) -> str:
    """Return the lengths of the episodes, from the shortest to the longest."""
    pairs = [len(e) for e in findings.demos.episodes]
    if min(pairs) == max(pairs):
        return f"{length(findings, pairs[0])} each"
    low, middle, high = (length(findings, float(f(pairs))) for f in (min, np.median, max))
    return f"{low} to {high}, median {middle}"
