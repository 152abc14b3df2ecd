"""Folds: parts of a dataset that are held out in turn."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from counterbc.data.demonstrations import Array, Demonstrations
from counterbc.errors import DataError, OptionError

LEAST_PAIRS = 20
"""With fewer pairs a fold would hold out fewer than four."""
_GAP = 10  # steps, at most
_GOLDEN = 0.618034
_OPERATORS = 3  # at least: with two, each would be predicted from the habits of the other alone
_LEAST_SHARE = 0.5  # of the selected pairs, at least, for every fold to learn from


@dataclass(frozen=True, eq=False)
class Folds:
    """The pairs that each fold holds out and learns from, as indices into all pairs."""

    kind: Literal["episodes", "blocks"]
    gap: int
    """Steps on either side of a held-out block that no fold learns from; 0 between episodes."""
    held_out: tuple[Array, ...]
    learned: tuple[Array, ...]

    def __len__(self) -> int:
        return len(self.held_out)


def some_episodes(demos: Demonstrations, pairs: int, seed: int, least: int = 1) -> Demonstrations:
    """Return random whole episodes with about this many pairs, but no fewer than `least` episodes.

    Longer episodes are cut, so that the number of pairs is bounded.
    """
    if demos.pairs <= pairs:
        return demos
    order = np.random.default_rng(seed).permutation(len(demos))
    lengths = np.array([len(e) for e in demos.episodes])[order]
    count = max(int(np.searchsorted(lengths.cumsum(), pairs)), min(least, len(order)))
    chosen = demos.subset(sorted(order[:count].tolist()))
    if chosen.pairs <= 2 * pairs:
        return chosen
    end = pairs // count
    episodes = [replace(e.rows(slice(end)), reward=None, success=None) for e in chosen.episodes]
    return replace(chosen, episodes=tuple(episodes))


def split_folds(demos: Demonstrations, count: int, seed: int, gap: int | None = None) -> Folds:
    """Hold out whole episodes if there are at least `count` of them, otherwise blocks of steps.

    Blocks have `gap` steps around them that no fold learns from; by default a twentieth of all
    steps, at most 10.
    """
    if demos.pairs < LEAST_PAIRS:
        raise DataError(
            f"cross-validation needs {LEAST_PAIRS} pairs or more; there are {demos.pairs}; "
            "record more, or give the radius yourself: 0.2 (experts) to 0.5 (novices)"
        )
    pairs, episode = demos.learned, demos.starts[demos.learned]
    if len(np.unique(episode)) < count:
        return _blocks(demos, count, seed, gap)
    fold = _deal(episode, count, seed)
    held_out = tuple(pairs[fold == k] for k in range(count))
    return Folds("episodes", 0, held_out, tuple(pairs[fold != k] for k in range(count)))


def split_operators(demos: Demonstrations, count: int, seed: int) -> Folds:
    """Hold out whole operators where possible; all pairs are held out, selected ones are learned.

    A policy that learned from other episodes of a person would predict that person's habits. So
    operators are held out whole if there are three or more and half of the selected pairs remain;
    otherwise `split_folds` decides.
    """
    whole = replace(demos, selected=None)
    if len(demos.operators) >= _OPERATORS and all(e.operator for e in demos.episodes):
        folds = _select(_by_operator(whole, count, seed), demos)
        if _fewest(folds) >= _LEAST_SHARE * demos.pairs:
            return folds
    folds = _select(split_folds(whole, count, seed), demos)
    if not _fewest(folds):
        raise DataError(
            "a fold leaves no selected pair to learn from; select pairs of more episodes"
        )
    return folds


def _deal(group: Array, count: int, seed: int) -> Array:
    """Return the fold of each pair: groups in random order, large first, to the emptiest fold."""
    names, inverse, sizes = np.unique(group, return_inverse=True, return_counts=True)
    order = np.random.default_rng(seed).permutation(len(names))
    fold, load = np.zeros(len(names), int), np.zeros(count, int)
    for e in order[np.argsort(-sizes[order], kind="stable")]:
        fold[e] = load.argmin()
        load[fold[e]] += sizes[e]
    return np.asarray(fold[inverse])


def _by_operator(demos: Demonstrations, count: int, seed: int) -> Folds:
    """Hold out whole operators, in at most as many folds as there are operators."""
    _, number = np.unique([str(e.operator) for e in demos.episodes], return_inverse=True)
    count = min(count, len(demos.operators))
    fold = _deal(np.repeat(number, [len(e) for e in demos.episodes]), count, seed)
    held_out = tuple(np.flatnonzero(fold == k) for k in range(count))
    return Folds("episodes", 0, held_out, tuple(np.flatnonzero(fold != k) for k in range(count)))


def _select(folds: Folds, demos: Demonstrations) -> Folds:
    """Return the folds with the selected pairs alone among those that they learn from."""
    if demos.selected is None:
        return folds
    is_selected = np.zeros(sum(map(len, demos.episodes)), bool)
    is_selected[demos.selected] = True
    return replace(folds, learned=tuple(x[is_selected[x]] for x in folds.learned))


def _fewest(folds: Folds) -> int:
    return min(map(len, folds.learned))


def _blocks(demos: Demonstrations, count: int, seed: int, gap: int | None) -> Folds:
    """Hold out contiguous blocks with a gap around each, since neighbouring steps are alike.

    Another seed shifts the blocks; the last one then wraps around to the first pair.
    """
    pairs, starts = demos.learned, demos.starts
    if count > len(pairs):
        raise OptionError(f"folds is {count}, but there are {len(pairs)} pairs; give fewer folds")
    if gap is None:
        gap = int(np.clip(len(starts) // 20, 1, _GAP))
    shift = int(_GOLDEN * seed % 1 * len(pairs) / count)  # seeds fill a block evenly
    held_out = tuple(np.array_split(np.roll(pairs, -shift), count))
    learned = []
    for block in held_out:
        near = _steps_to(block, pairs) <= gap  # (n,)
        together = np.isin(starts[pairs], starts[block])
        learned.append(pairs[~(near & together) & ~np.isin(pairs, block)])
    if min(map(len, learned)) < LEAST_PAIRS // 2:
        raise DataError(
            f"blocks with a gap of {gap} steps leave {min(map(len, learned))} pairs to learn from; "
            f"record {count} episodes or more, or give the radius yourself"
        )
    return Folds("blocks", gap, held_out, tuple(learned))


def _steps_to(block: Array, pairs: Array) -> Array:
    """Return the number of steps from each pair to the nearest pair of the block: (n,)."""
    ends = np.sort(block)
    after = np.searchsorted(ends, pairs)
    before = np.abs(pairs - ends[np.maximum(after - 1, 0)])
    beyond = np.abs(ends[np.minimum(after, len(ends) - 1)] - pairs)
    return np.asarray(np.minimum(before, beyond))
