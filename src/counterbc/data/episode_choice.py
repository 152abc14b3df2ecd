"""Which episodes of a dataset are used."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from counterbc.data.demonstrations import Demonstrations
from counterbc.data.names import shorten
from counterbc.data.raw_episode import RawEpisode
from counterbc.errors import DataError, unknown


@dataclass(frozen=True, kw_only=True)
class EpisodeChoice:
    """The conditions that an episode must meet."""

    mask: str | None = None
    operators: tuple[str, ...] = ()
    success: bool = False
    """Whether only episodes that succeeded are used."""
    exclude: tuple[str, ...] = ()
    """Names of episodes, or their numbers from 0."""

    @property
    def is_all(self) -> bool:
        """Whether every episode is used."""
        return self == EpisodeChoice()

    def of(self, demos: Demonstrations) -> Demonstrations:
        """Return a dataset with the episodes that are used."""
        if self.is_all:
            return demos
        names = [e.name for e in demos.episodes]
        excluded = {i for i, name in enumerate(names) if self._excludes(name, i)}
        self._check_exclude(names)
        return demos.subset(
            [i for i in range(len(demos)) if i not in excluded],
            operator=self.operators or None,
            success=True if self.success else None,
            mask=self.mask,
        )

    def filter(self, raw_episodes: Iterator[RawEpisode], source: str) -> Iterator[RawEpisode]:
        """Yield the episodes of a file that are used, whatever its masks say.

        Those that cannot be read are yielded too, unless they are excluded.
        """
        names, is_empty = [], True
        for i, raw in enumerate(raw_episodes):
            names.append(raw.name)
            is_unfit = (self.operators and raw.operator not in self.operators) or (
                self.success and not raw.success
            )
            if self._excludes(raw.name, i) or (is_unfit and raw.error is None):
                continue
            is_empty = False
            yield raw
        self._check_exclude(names)
        if is_empty:
            raise DataError(f"{source}: no episode passes these conditions; loosen them")

    def _excludes(self, name: str, number: int) -> bool:
        return name in self.exclude or str(number) in self.exclude

    def _check_exclude(self, names: list[str]) -> None:
        for entry in self.exclude:
            is_number = entry.isdecimal() and int(entry) < len(names)
            if entry not in names and not is_number:
                raise unknown("episode", entry, [shorten(names)])
