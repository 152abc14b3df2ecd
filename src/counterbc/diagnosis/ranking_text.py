"""A ranking of episodes as text, or why there is none."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence

import numpy as np

from counterbc.data.names import shorten
from counterbc.diagnosis.scores import Score
from counterbc.errors import CannotTell, DataError
from counterbc.selection.shares import Explained

_TOO_FEW = "too few pairs to tell a good demonstration from a bad one"
_TOO_FEW_REMEDY = "Record more episodes, or give a smaller lag"


def if_enough_pairs(measure: Callable[[], Explained]) -> Explained | None:
    """Return the shares that are measured, or None for data that are too few for them."""
    try:
        return measure()
    except DataError:
        return None


def ranking_lines(
    shares: Explained | None, episodes: Sequence[Score], operators: Sequence[Score]
) -> list[str]:
    """Return the worst episodes and the operators; where the data cannot tell, why and what to do.

    The lines are indented, as those of a summary are. There are no shares of too few pairs.
    """
    if shares is None:
        return [f"  Cannot tell: {_TOO_FEW}", f"  {_TOO_FEW_REMEDY}"]
    if not shares.tells:
        return [f"  {sentence}" for sentence in shares.verdict]
    worst = sorted(episodes, key=lambda s: -np.nan_to_num(s.distance))
    return [
        f"  worst      {_distances(worst)}",
        f"  operators  {_distances(operators) or 'not recorded'}",
    ]


def _distances(scores: Sequence[Score]) -> str:
    return shorten([f"{s.name} {s.distance:.3f}" for s in scores])


def warn_if_untold(shares: Explained | None, consequence: str) -> None:
    """Warn the caller of a function or property where the data cannot tell good from bad, and say
    what to do. There are no shares of too few pairs."""
    if shares is not None and shares.tells:
        return
    obstacle, remedy = f"there are {_TOO_FEW}", _TOO_FEW_REMEDY
    if shares is not None:
        obstacle, remedy = shares.obstacle, shares.remedy
    warnings.warn(f"{obstacle}, so {consequence}. {remedy}.", CannotTell, stacklevel=3)
