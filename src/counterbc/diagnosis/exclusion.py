"""Which episodes to exclude from training: those that clearly differ from what most agree on.

Where many episodes are bad, policies learn from them as well, predict a compromise, and no episode
stands out. So other policies predict all episodes once more (least trimmed squares): each round
learns only from the two thirds of the episodes that were nearest to the predictions before. An
episode is excluded if its distance to these predictions lies more than `OUTLIER_LEVEL` robust
standard deviations above the median and its interval above the median, too: at most half of the
episodes, and none where none stands out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from counterbc.diagnosis.components import robust_score
from counterbc.diagnosis.meaning import Meaning, meaning
from counterbc.diagnosis.ranking_text import warn_if_untold
from counterbc.diagnosis.scores import Score, correlations
from counterbc.selection.held_out import HeldOut

OUTLIER_LEVEL = 2.5
"""Robust standard deviations above the median from which an episode is excluded."""
LEAST_RANKED = 10
"""With fewer episodes, no usual distance can be estimated, and none is excluded."""
_TRIM = 1 / 3
_DISGUISE = 0.3  # rank correlation above which the ranking may be one of speed or length


def find_outliers(
    estimate: Meaning, held_out: HeldOut, *, force: bool = False, **options: Any
) -> list[int]:
    """Return the episodes to exclude, in their order.

    There are none if the data cannot tell a good demonstration from a bad one, of which this warns,
    or if the ranking follows speed or length, unless `force` is set. `options` are those of
    `meaning`, without radius, lag and offsets.
    """
    if len(estimate.episodes) < LEAST_RANKED:
        return []
    if not (estimate.explained.tells or force):
        warn_if_untold(estimate.explained, "no episode is excluded unless force is set")
        return []
    if followed_measures(estimate.episodes) and not force:
        return []
    return outlying(trimmed_scores(estimate, held_out, **options))


def why_none(estimate: Meaning, *, force: bool = False) -> str:
    """Return why `find_outliers` found none, without a full stop."""
    if len(estimate.episodes) < LEAST_RANKED:
        return "Too few episodes to exclude any by default"
    if not (estimate.explained.tells or force):
        obstacle = estimate.explained.obstacle
        return f"{obstacle[0].upper()}{obstacle[1:]}, so none is excluded by default"
    if not force and (measures := followed_measures(estimate.episodes)):
        return f"The ranking follows {' and '.join(measures)}, so none is excluded by default"
    return "No episode clearly differs from the others"


def trimmed_scores(estimate: Meaning, held_out: HeldOut, **options: Any) -> tuple[Score, ...]:
    """Return the scores of all episodes by policies that learn from the two thirds that agree."""
    strict = replace(held_out, repeats=1, rounds=max(held_out.rounds, 2), trim=_TRIM)
    again = meaning(
        estimate.demos, radius=estimate.radius, lag=estimate.lag, offsets="none", held_out=strict,
        **options,
    )  # fmt: skip
    return again.episodes


def outlying(scores: Sequence[Score], level: float = OUTLIER_LEVEL) -> list[int]:
    """Return the scores that lie clearly above the others, as sorted indices.

    The distance lies `level` robust standard deviations above the median, and the lower end of its
    interval lies above the median. At most half are returned, the largest; none of fewer than ten.
    """
    if len(scores) < LEAST_RANKED:
        return []
    distance, low = (np.array([getattr(s, name) for s in scores]) for name in ("distance", "low"))
    clear = (robust_score(distance) > level) & (low > np.nanmedian(distance))
    order = [i for i in np.argsort(-np.nan_to_num(distance), kind="stable").tolist() if clear[i]]
    return sorted(order[: len(scores) // 2])


def followed_measures(episodes: Sequence[Score]) -> list[str]:
    """Return which of speed and length the ranking by distance clearly follows."""
    pairs = correlations(episodes).items()
    return [m for m, c in pairs if c.low > _DISGUISE or c.high < -_DISGUISE]
