"""A ranking of episodes as text, or why there is none."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np

from counterbc.data.names import shorten
from counterbc.diagnosis.scores import Score
from counterbc.errors import CannotTell
from counterbc.selection.shares import Explained


def ranking_lines(
    explained: Explained, episodes: Sequence[Score], operators: Sequence[Score]
) -> list[str]:
    """Return the worst episodes and the operators; where the data cannot tell, why and what to do.

    The lines are indented, as those of a summary are.
    """
    if not explained.tells:
        return [f"  {sentence}" for sentence in explained.verdict]
    worst = sorted(episodes, key=lambda s: -np.nan_to_num(s.distance))
    return [
        f"  worst      {_distances(worst)}",
        f"  operators  {_distances(operators) or 'not recorded'}",
    ]


def _distances(scores: Sequence[Score]) -> str:
    return shorten([f"{s.name} {s.distance:.3f}" for s in scores])


def warn_if_untold(explained: Explained, consequence: str) -> None:
    """Warn the caller of a function or property where the data cannot tell good from bad."""
    if not explained.tells:
        text = f"{explained.obstacle}, so {consequence}; Meaning.explained says what to do"
        warnings.warn(text, CannotTell, stacklevel=3)
