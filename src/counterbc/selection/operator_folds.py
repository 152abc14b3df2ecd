"""Who judges whom: whole operators are held out where that leaves enough, else whole episodes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from counterbc.data.demonstrations import Demonstrations
from counterbc.errors import DataError
from counterbc.selection.folds import Folds, deal, split_folds

_PEOPLE = 3  # at least: of two, each would be judged by the habits of the other alone
_KEPT = 0.5  # of what is selected, at least, for every judge to learn from


def split_judged(demos: Demonstrations, count: int, seed: int) -> Folds:
    """Every pair is held out once; only selected pairs are learned from.

    A policy that learned from other episodes of a person takes that person's habits for meant. So
    operators are held out whole where there are three or more and half of the selected pairs stay.
    """
    whole = replace(demos, selected=None)
    if len(demos.operators) >= _PEOPLE and all(e.operator for e in demos.episodes):
        folds = _selected(_by_operator(whole, count, seed), demos)
        if _fewest(folds) >= _KEPT * demos.pairs:
            return folds
    folds = _selected(split_folds(whole, count, seed), demos)
    if not _fewest(folds):
        raise DataError(
            "a fold leaves no selected pair to learn from; select pairs of more episodes"
        )
    return folds


def _by_operator(demos: Demonstrations, count: int, seed: int) -> Folds:
    """As many folds as there are operators at most."""
    names = np.array([str(e.operator) for e in demos.episodes])
    count = min(count, len(demos.operators))
    fold = deal(np.repeat(names, [len(e) for e in demos.episodes]), count, seed)
    held_out = tuple(np.flatnonzero(fold == k) for k in range(count))
    return Folds("episodes", 0, held_out, tuple(np.flatnonzero(fold != k) for k in range(count)))


def _selected(folds: Folds, demos: Demonstrations) -> Folds:
    return replace(folds, learned=tuple(np.intersect1d(x, demos.learned) for x in folds.learned))


def _fewest(folds: Folds) -> int:
    return min(map(len, folds.learned))
