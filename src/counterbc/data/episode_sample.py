"""A few stretches of episodes, kept while all of them are read once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np

from counterbc.data.demonstrations import Demonstrations
from counterbc.data.episode import Episode
from counterbc.data.raw_episode import Header, RawEpisode
from counterbc.errors import DataError

_EPISODES, _STEPS = 40, 120  # kept at most


class EpisodeSample:
    """Random stretches of random episodes, of bounded size whatever passes by."""

    def __init__(self, seed: int = 0) -> None:
        self._rng = np.random.default_rng(seed)
        self._kept: list[RawEpisode] = []
        self._count = 0

    def watch(self, raw_episodes: Iterable[RawEpisode]) -> Iterator[RawEpisode]:
        """Yield the same episodes, and keep some of those that can be read (reservoir sampling)."""
        for raw in raw_episodes:
            if raw.error is not None:
                yield raw
                continue
            place = self._count if self._count < _EPISODES else self._rng.integers(self._count + 1)
            self._count += 1
            if place < _EPISODES:
                self._kept[place : place + 1] = [self._stretch(raw)]
            yield raw

    def _stretch(self, raw: RawEpisode) -> RawEpisode:
        """Return a stretch of the episode, copied so that the rest can be freed."""
        first = int(self._rng.integers(max(len(raw.action) - _STEPS, 0) + 1))
        rows = slice(first, first + _STEPS)
        obs, action = raw.obs[rows].copy(), raw.action[rows].copy()
        images = {name: image[rows].copy() for name, image in raw.images.items()}
        return replace(raw, obs=obs, action=action, reward=None, selected=None, images=images)

    def demonstrations(self, header: Header) -> Demonstrations | None:
        """Return the stretches without those that have problems; None if none is left."""
        episodes = [e for raw in self._kept if (e := _checked(raw)) is not None]
        try:
            return replace(header, masks={}).with_episodes(episodes) if episodes else None
        except DataError:
            return None


def _checked(raw: RawEpisode) -> Episode | None:
    try:
        return replace(raw.episode(), name="")
    except DataError:
        return None
