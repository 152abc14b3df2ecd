"""A part of a stream of episodes that fits in memory and is spread evenly over all of it."""

from __future__ import annotations

from dataclasses import dataclass, field

from counterbc.data.episode import Episode

BYTES = 2**27
"""Bytes of observations and actions in a sample."""
PAIRS = 100_000
"""Pairs in a sample: held-out policies take about 5 kB of memory for each."""


@dataclass
class EvenSample:
    """All episodes while they fit; after that every second, every fourth, and so on."""

    largest: int = BYTES
    pairs: int = PAIRS
    _stride: int = 1
    _count: int = 0
    _size: int = 0
    _total: int = 0
    _by_number: dict[int, Episode] = field(default_factory=dict)

    def add(self, episode: Episode) -> None:
        """Take the next episode of the stream, or pass it over."""
        if self._count % self._stride == 0:
            self._by_number[self._count] = episode
            self._size += _bytes(episode)
            self._total += len(episode)
        self._count += 1
        while self._is_full and len(self._by_number) > 1:
            self._stride *= 2
            self._by_number = {i: e for i, e in self._by_number.items() if i % self._stride == 0}
            self._size = sum(map(_bytes, self._by_number.values()))
            self._total = sum(map(len, self._by_number.values()))
        if self._is_full:  # the first episode is too long by itself
            self._by_number, self._size, self._total = {}, 0, 0

    @property
    def episodes(self) -> list[Episode]:
        """The episodes of the sample, in order."""
        return list(self._by_number.values())

    @property
    def _is_full(self) -> bool:
        return self._size > self.largest or self._total > self.pairs


def _bytes(episode: Episode) -> int:
    return episode.obs.nbytes + episode.action.nbytes
