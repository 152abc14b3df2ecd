"""Episodes as a file holds them, before they are checked, and what the file says of all of them.

Formats read these, and `Inspection` looks at them; `Episode` and `Demonstrations` are what they
become once they are checked.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from counterbc.data.demonstrations import ActionSet, Demonstrations
from counterbc.data.episode import Array, Episode
from counterbc.errors import DataError


@dataclass(frozen=True, eq=False)
class RawEpisode:
    """One episode as its file has it: numbers of any type, not yet checked."""

    obs: Array
    """(T, S), or (T, H, W, C) images."""
    action: Array
    """(T, A)"""
    reward: Array | None = None
    operator: str | None = None
    success: bool | None = None
    name: str = ""
    selected: Array | None = None
    """(T,) whether each pair is learned from; None: all are."""

    def episode(self) -> Episode:
        """The checked episode; raises a `DataError` on the first thing that is wrong."""
        shape = (len(self.action),)
        if self.selected is not None and self.selected.shape != shape:
            raise DataError(
                f"selected of episode {self.name!r} has shape {self.selected.shape}; "
                f"expected {shape}"
            )
        return Episode(
            self.obs, self.action, self.reward, self.operator, self.success, self.name
        )  # fmt: skip


@dataclass(frozen=True, eq=False, kw_only=True)
class Header:
    """All that a dataset knows besides its episodes; fields are those of `Demonstrations`."""

    action_low: Array | None = None
    action_high: Array | None = None
    action_set: ActionSet = "box"
    action_names: tuple[str, ...] = ()
    obs_names: tuple[str, ...] = ()
    obs_keys: tuple[tuple[str, int], ...] = ()
    rate: float | None = None
    env_args: dict[str, Any] = field(default_factory=dict)
    masks: dict[str, tuple[str, ...]] = field(default_factory=dict)
    source: str = ""
    operators: tuple[str, ...] = ()
    """Operators that the file names, also those of whom it holds no episode."""
    left_out: tuple[str, ...] = ()
    """What the file holds and was not read, a few words each."""

    @classmethod
    def of(cls, demos: Demonstrations, **others: Any) -> Header:
        shared = {f.name for f in fields(cls)} & {f.name for f in fields(demos)}
        return cls(**{name: getattr(demos, name) for name in shared}, **others)

    def joined(self, episodes: Iterable[Episode], selected: Array | None = None) -> Demonstrations:
        """A dataset with these episodes."""
        own = {f.name: getattr(self, f.name) for f in fields(self)}
        del own["operators"], own["left_out"]
        return Demonstrations(tuple(episodes), selected=selected, **own)


def selection(lengths: Sequence[int], chosen: Sequence[Array | None]) -> Array | None:
    """Indices of the pairs that are learned from; None where no recording says."""
    if all(c is None for c in chosen):
        return None
    both = zip(lengths, chosen, strict=True)
    whole = [np.ones(n, bool) if c is None else c.astype(bool) for n, c in both]
    return np.flatnonzero(np.concatenate(whole))


def raw_episodes(demos: Demonstrations) -> Iterator[RawEpisode]:
    """Yield the episodes of a dataset in memory, as a file of them would."""
    total = sum(map(len, demos.episodes))
    chosen = np.isin(np.arange(total), demos.learned) if demos.selected is not None else None
    end = 0
    for e in demos.episodes:
        part = None if chosen is None else chosen[end : end + len(e)]
        end += len(e)
        yield RawEpisode(e.obs, e.action, e.reward, e.operator, e.success, e.name, part)
