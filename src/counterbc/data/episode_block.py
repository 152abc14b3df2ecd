"""Consecutive episodes as one array, so that a check of short episodes is one call for many."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from counterbc.data.arrays import Array
from counterbc.data.raw_episode import RawEpisode

ROWS = 4096
"""Rows from which on a block is complete, so that memory does not grow with the data."""


@dataclass(frozen=True, eq=False)
class EpisodeBlock:
    """Episodes of the same shapes in sequence; images are never copied into a block."""

    episodes: Sequence[RawEpisode]
    obs: Array  # (T, S), or (T, H, W, C)
    action: Array  # (T, A)
    begins: Array  # (E,): the first row of each episode
    follows: Array  # (T - 1,): whether the next row belongs to the same episode

    @staticmethod
    def of(episodes: Sequence[RawEpisode]) -> EpisodeBlock:
        """Return the block of these episodes."""
        lengths = np.array([len(e.action) for e in episodes])
        begins = np.cumsum(lengths) - lengths
        follows = np.ones(max(int(lengths.sum()) - 1, 0), bool)
        follows[begins[1:] - 1] = False
        if len(episodes) == 1:
            obs, action = episodes[0].obs, episodes[0].action
        else:
            obs = np.concatenate([e.obs for e in episodes])
            action = np.concatenate([e.action for e in episodes])
        return EpisodeBlock(episodes, obs, action, begins, follows)

    def place(self, row: int) -> tuple[RawEpisode, int]:
        """Return the episode of a row, and its number there."""
        i = int(np.searchsorted(self.begins, row, side="right")) - 1
        return self.episodes[i], row - int(self.begins[i])


class BlockBuilder:
    """Collects episodes until they make a block."""

    def __init__(self) -> None:
        self._waiting: list[RawEpisode] = []
        self._rows = 0

    def add(self, episode: RawEpisode) -> Iterator[EpisodeBlock]:
        """Add an episode, and yield a block if it is complete."""
        self._waiting.append(episode)
        self._rows += len(episode.action)
        if self._rows >= ROWS or episode.obs.ndim > 2:
            yield from self.rest()

    def rest(self) -> Iterator[EpisodeBlock]:
        """Yield the block of the episodes that wait, if there are any."""
        if self._waiting:
            block = EpisodeBlock.of(self._waiting)
            self._waiting, self._rows = [], 0
            yield block


def blocks(episodes: Iterable[RawEpisode]) -> Iterator[EpisodeBlock]:
    """Yield all episodes in blocks."""
    builder = BlockBuilder()
    for episode in episodes:
        yield from builder.add(episode)
    yield from builder.rest()
