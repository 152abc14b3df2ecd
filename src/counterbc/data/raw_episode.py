"""Episodes as they are in a file, before any check, and the facts that all of them share.

Formats produce them and `Inspection` examines them. Checked, they become an `Episode` and
`Demonstrations`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from counterbc.data.arrays import Array
from counterbc.data.censoring import ActionsAre
from counterbc.data.demonstrations import ActionSet, Demonstrations
from counterbc.data.episode import Episode
from counterbc.errors import CounterBCError, DataError
from counterbc.files import boundary


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
    images: Mapping[str, Array] = field(default_factory=dict)
    """What cameras saw beside `obs`, by name: (T, H, W, C) each."""
    error: CounterBCError | None = None
    """Why this episode cannot be read, while others of its file can; it has no rows then."""
    begin: int = 0
    """The row of the episode that the arrays begin with, where only some rows were asked for."""

    def take(self, rows: slice) -> RawEpisode:
        """Return some rows of an episode that was read from its first row on."""
        if rows == slice(0, len(self.action)):
            return self
        return replace(
            self,
            obs=self.obs[rows],
            action=self.action[rows],
            reward=None if self.reward is None else self.reward[rows],
            selected=None if self.selected is None else self.selected[rows],
            images={name: image[rows] for name, image in self.images.items()},
            begin=rows.start,
        )

    def episode(self) -> Episode:
        """Return the checked episode; raise a `DataError` at the first problem."""
        if self.error is not None:
            raise self.error
        shape = (len(self.action),)
        if self.selected is not None and self.selected.shape != shape:
            raise DataError(
                f"selected of episode {self.name!r} has shape {self.selected.shape}; "
                f"expected {shape}"
            )
        return Episode(
            self.obs, self.action, self.reward, self.operator, self.success, self.name,
            images=self.images,
        )  # fmt: skip


def read_episode(name: str, source: Path, read: Callable[[], RawEpisode]) -> RawEpisode:
    """Return what `read` returns, or an episode without rows that says why it cannot be read."""
    try:
        with boundary(source):
            return read()
    except CounterBCError as error:
        return unreadable(name, error)


def unreadable(name: str, error: CounterBCError) -> RawEpisode:
    """Return an episode that cannot be read."""
    return RawEpisode(np.empty((0, 0)), np.empty((0, 0)), name=name, error=error)


STREAM_FIELDS = ("operators", "left_out", "environment_keys")
"""The fields of a `Header` that `Demonstrations` do not have."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Header:
    """The facts that all episodes of a dataset share; the fields are those of `Demonstrations`."""

    action_low: Array | None = None
    action_high: Array | None = None
    action_set: ActionSet = "box"
    actions_are: ActionsAre | None = None
    relative: str | None = None
    angles: tuple[str, ...] = ()
    action_names: tuple[str, ...] = ()
    obs_names: tuple[str, ...] = ()
    obs_keys: tuple[tuple[str, int], ...] = ()
    camera: str = ""
    blind_to: tuple[str, ...] = ()
    image_size: tuple[int, ...] = ()
    rate: float | None = None
    env_args: dict[str, Any] = field(default_factory=dict)
    masks: dict[str, tuple[str, ...]] = field(default_factory=dict)
    source: str = ""
    operators: tuple[str, ...] = ()
    """Operators that the file names, also those without an episode."""
    left_out: tuple[str, ...] = ()
    """Contents of the file that were not read, a few words each."""
    environment_keys: tuple[str, ...] = ()
    """Observation keys that describe the environment and not the robot, for LeRobot."""

    @classmethod
    def of(cls, demos: Demonstrations, **additions: Any) -> Header:
        """Return the header of a dataset; `additions` are fields that a dataset does not have."""
        names = {f.name for f in fields(cls)} & {f.name for f in fields(demos)}
        return cls(**{name: getattr(demos, name) for name in names}, **additions)

    def with_episodes(
        self, episodes: Iterable[Episode], pairs: Array | None = None
    ) -> Demonstrations:
        """Return a dataset with these episodes; `pairs` are those that are learned from."""
        values = {f.name: getattr(self, f.name) for f in fields(self)}
        for name in STREAM_FIELDS:
            del values[name]
        return Demonstrations(tuple(episodes), selected=pairs, **values)


def selection(lengths: Sequence[int], flags: Sequence[Array | None]) -> Array | None:
    """Return the indices of the pairs that are learned from, from one flag per pair of each
    episode; None if no episode has flags."""
    if all(f is None for f in flags):
        return None
    episodes = zip(lengths, flags, strict=True)
    filled = [np.ones(n, bool) if f is None else f.astype(bool) for n, f in episodes]
    return np.flatnonzero(np.concatenate(filled))


def raw_episodes(demos: Demonstrations) -> Iterator[RawEpisode]:
    """Yield the episodes of a dataset as if they came from a file."""
    total = sum(map(len, demos.episodes))
    flags = np.isin(np.arange(total), demos.learned) if demos.selected is not None else None
    end = 0
    for e in demos.episodes:
        selected = None if flags is None else flags[end : end + len(e)]
        end += len(e)
        yield RawEpisode(
            e.obs, e.action, reward=e.reward, operator=e.operator, success=e.success, name=e.name,
            selected=selected, images=e.images,
        )  # fmt: skip


def as_float32(r: RawEpisode) -> RawEpisode:
    """Return the arrays as an `Episode` stores them, unchecked."""
    if all(x is None or x.dtype == np.float32 for x in (r.obs, r.action, r.reward)):
        return r
    with np.errstate(over="ignore"):
        return replace(
            r, obs=_number_array(r.obs), action=_number_array(r.action),
            reward=None if r.reward is None else _number_array(r.reward),
        )  # fmt: skip


def _number_array(values: Array) -> Array:
    return (
        values
        if values.dtype == np.uint8 and values.ndim == 4
        else values.astype(np.float32, copy=False)
    )
