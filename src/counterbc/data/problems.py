"""Checks for problems in raw episodes, each a small class.

A check sees every episode in order and then lists its problems. `Shapes` is asked first; the other
checks only see episodes whose arrays have the shapes of the first one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from counterbc.data.affine import scale
from counterbc.data.arrays import Array
from counterbc.data.censoring import bound_sides
from counterbc.data.demonstrations import Demonstrations
from counterbc.data.episode_block import EpisodeBlock
from counterbc.data.inspection_report import (
    ConstantPlace,
    DominatedPlace,
    DuplicatePlace,
    EpisodePlace,
    IdlePlace,
    NotFinitePlace,
    OutsidePlace,
    Place,
    Problem,
    SaturatedPlace,
    ShapePlace,
    ShortPlace,
    UnreadablePlace,
)
from counterbc.data.moments import Moments
from counterbc.data.raw_episode import RawEpisode

SHORT = 0.2  # of the median length
SATURATED = 0.05  # of the pairs
RESTS = 0.95  # of the pairs at one value: rarely used, not saturated
PLACES = 20  # places that a problem lists; it counts all of them


@dataclass
class Places:
    """A count of everything, and the first few places."""

    count: int = 0
    examples: list[Place] = field(default_factory=list)

    def add(self, place: Place, count: int = 1) -> None:
        self.count += count
        if len(self.examples) < PLACES:
            self.examples.append(place)

    def problem(self, kind: str, noun: str, text: str) -> Iterator[Problem]:
        if self.count:
            yield Problem(
                kind=kind,
                count=self.count,
                text=f"{_count(self.count, noun)} {text}",
                places=tuple(self.examples),
            )


class Unreadable:
    """Episodes that cannot be read, while others of their file can."""

    def __init__(self) -> None:
        self._places = Places()

    def see(self, r: RawEpisode) -> None:
        self._places.add(UnreadablePlace(episode=r.name, reason=str(r.error)))

    @property
    def faulty(self) -> bool:
        return self._places.count > 0

    def problems(self) -> Iterator[Problem]:
        yield from self._places.problem("unreadable", "episode", "that cannot be read")


class Shapes:
    """Episodes that are empty, or whose arrays have other shapes than those of the first one."""

    def __init__(self, model: Demonstrations) -> None:
        self._obs, self._action = model.obs_shape, (model.action_size,)
        self._images = {name: x.shape[1:] for name, x in model.images.items()}
        self._empty, self._misfits = Places(), Places()

    def fits(self, r: RawEpisode) -> bool:
        if len(r.action) == 0:
            self._empty.add(EpisodePlace(episode=r.name))
            return False
        length = (len(r.action),)
        arrays: list[tuple[str, Array | None, tuple[int, ...]]] = [
            ("obs", r.obs, length + self._obs),
            ("action", r.action, length + self._action),
            ("reward", r.reward, length),
            ("selected", r.selected, length),
            *((name, r.images.get(name), length + x) for name, x in self._images.items()),
        ]
        for key, values, shape in arrays:
            if values is not None and values.shape != shape:
                place = ShapePlace(episode=r.name, array=key, shape=values.shape, expected=shape)
                self._misfits.add(place)
                return False
        return True

    @property
    def faulty(self) -> bool:
        return bool(self._empty.count or self._misfits.count)

    def problems(self) -> Iterator[Problem]:
        yield from self._empty.problem("empty", "episode", "without pairs")
        yield from self._misfits.problem("shape", "episode", "with an array of another shape")


class NotFinite:
    """Values that are NaN or infinite."""

    def __init__(self, model: Demonstrations) -> None:
        self._names = {"obs": model.obs_names, "action": model.action_names, "reward": ("reward",)}
        self._places = Places()

    def see(self, block: EpisodeBlock) -> None:
        rewards = [r.reward for r in block.episodes if r.reward is not None]
        arrays = [block.obs, block.action, np.concatenate([*rewards, np.zeros(0)])]
        if not all(x.ndim > 2 or np.isfinite(x).all() for x in arrays):
            for r in block.episodes:
                self._see_episode(r)

    def _see_episode(self, r: RawEpisode) -> None:
        for key, values in (("obs", r.obs), ("action", r.action), ("reward", r.reward)):
            if values is None or values.ndim > 2:
                continue
            bad = ~np.isfinite(values.reshape(len(values), -1))  # (T, D)
            for i in np.flatnonzero(bad.any(axis=0)).tolist():
                place = NotFinitePlace(
                    episode=r.name, dimension=f"{key} {self._names[key][i]}",
                    row=int(bad[:, i].argmax()), values=int(bad[:, i].sum()),
                )  # fmt: skip
                self._places.add(place, place.values)

    @property
    def faulty(self) -> bool:
        return self._places.count > 0

    def problems(self) -> Iterator[Problem]:
        yield from self._places.problem("not finite", "value", "NaN or infinite")


class Outside:
    """Actions outside the declared bounds, by dimension; in a ball, all dimensions together."""

    def __init__(self, model: Demonstrations) -> None:
        self._model = model
        self._counts = np.zeros(model.action_size, int)
        self._first: dict[int, str] = {}
        self.pairs = 0

    def see(self, block: EpisodeBlock) -> None:
        low, high = self._model.action_low, self._model.action_high
        if low is None or high is None:
            return
        scaled_action = np.abs(scale(block.action.astype(np.float32), low, high))  # (T, A)
        is_outside = scaled_action > 1 + 1e-5
        if self._model.action_set == "ball":
            self.pairs += int((np.linalg.norm(scaled_action, axis=1) > 1 + 1e-5).sum())
        else:
            self.pairs += int(is_outside.any(axis=1).sum())
        self._counts += is_outside.sum(axis=0)
        for i in np.flatnonzero(is_outside.any(axis=0)).tolist():
            self._first.setdefault(i, block.place(int(is_outside[:, i].argmax()))[0].name)

    def problems(self) -> Iterator[Problem]:
        names, places = self._model.action_names, Places(self.pairs)
        for i, first in sorted(self._first.items()):
            place = OutsidePlace(dimension=names[i], pairs=int(self._counts[i]), episode=first)
            places.add(place, 0)
        yield from places.problem("outside", "action", "outside the bounds")


class Idle:
    """Long runs of the same action, zero or not."""

    def __init__(self, pairs: int) -> None:
        self.after = pairs
        self._places, self._pairs = Places(), 0

    def see(self, block: EpisodeBlock) -> None:
        action = block.action
        begins_run = (action[1:] != action[:-1]).any(axis=1) | ~block.follows
        starts = np.concatenate([[0], np.flatnonzero(begins_run) + 1])
        lengths = np.diff(np.append(starts, len(action)))
        for i in np.flatnonzero(lengths >= self.after).tolist():
            r, row = block.place(int(starts[i]))
            pairs, zero = int(lengths[i]), not action[starts[i]].any()
            self._pairs += pairs
            self._places.add(IdlePlace(episode=r.name, row=row, pairs=pairs, action_is_zero=zero))

    def problems(self) -> Iterator[Problem]:
        text = f"of {self.after} pairs or more with one action, {self._pairs} pairs in all"
        yield from self._places.problem("idle", "stretch", text)


class Duplicates:
    """Episodes with the same observations and actions as an earlier one."""

    def __init__(self) -> None:
        self._names: dict[bytes, str] = {}
        self._places = Places()

    def see(self, r: RawEpisode, digest: bytes) -> None:
        if digest in self._names:
            self._places.add(DuplicatePlace(episode=r.name, same_as=self._names[digest]))
        self._names.setdefault(digest, r.name)

    def problems(self) -> Iterator[Problem]:
        yield from self._places.problem("duplicate", "episode", "the same as an earlier one")


class Short:
    """Episodes far shorter than the others."""

    def __init__(self) -> None:
        self._lengths: list[tuple[int, str]] = []

    def see(self, r: RawEpisode) -> None:
        self._lengths.append((len(r.action), r.name))

    def problems(self) -> Iterator[Problem]:
        median = float(np.median([n for n, _ in self._lengths])) if self._lengths else 0.0
        places = Places()
        for length, name in self._lengths:
            if length < SHORT * median:
                places.add(ShortPlace(episode=name, pairs=length))
        text = f"shorter than a fifth of the median of {median:g} pairs"
        yield from places.problem("short", "episode", text)


def constant(kind: str, names: Sequence[str], moments: Moments) -> Iterator[Problem]:
    """Yield the problem of dimensions that never change."""
    places, still = Places(), (moments.low == moments.high) & (moments.rows >= 2)
    for i in np.flatnonzero(still).tolist():
        places.add(ConstantPlace(dimension=names[i], value=float(moments.low[i])))
    yield from places.problem(f"constant {kind}", "dimension", "in which nothing changes")


def dominated(kind: str, names: Sequence[str], moments: Moments) -> Iterator[Problem]:
    """Yield the problem of dimensions in which one value or an offset hides all others."""
    places = Places()
    columns = (moments.low, moments.high, moments.std)
    for i in np.flatnonzero(moments.dominated).tolist():
        low, high, std = (float(x[i]) for x in columns)
        places.add(DominatedPlace(dimension=names[i], low=low, high=high, std=std))
    text = "in which one value or an offset is so large that the others hardly differ"
    yield from places.problem(f"dominated {kind}", "dimension", text)


class Saturated:
    """Action dimensions that are often at a bound, or at their extremes if the bounds are unknown.

    A dimension that only takes its two extremes is a switch, such as a gripper, and not saturated.
    """

    def __init__(self, model: Demonstrations, moments: Moments) -> None:
        self._model, self._moments = model, moments
        self._low, self._high = np.zeros((2, model.action_size), int)

    def see(self, block: EpisodeBlock) -> None:
        low, high = self._model.action_low, self._model.action_high
        if low is not None and high is not None:
            side = bound_sides(block.action, low, high)
            self._low += (side < 0).sum(axis=0)
            self._high += (side > 0).sum(axis=0)

    @property
    def counts(self) -> list[tuple[int, int]] | None:
        """How many pairs lie on the lower and on the upper bound of each dimension."""
        if self._model.action_low is None:
            return None
        return list(zip(self._low.tolist(), self._high.tolist(), strict=True))

    def problems(self) -> Iterator[Problem]:
        has_bounds, moments = self._model.action_low is not None, self._moments
        low, high = (self._low, self._high) if has_bounds else (moments.at_low, moments.at_high)
        often = np.maximum(low, high) >= max(SATURATED * moments.rows, 2)
        names, places = self._model.action_names, Places()
        # Without bounds, a dimension that is nearly always at one end rests there.
        rests = np.maximum(low, high) >= RESTS * moments.rows if not has_bounds else False
        for i in np.flatnonzero(often & (low + high < moments.rows) & ~np.asarray(rests)).tolist():
            places.add(SaturatedPlace(dimension=names[i], low=int(low[i]), high=int(high[i])))
        end = "a bound" if has_bounds else "the lowest or highest value"
        text = f"at {end} in {SATURATED:.0%} of the pairs or more"
        yield from places.problem("saturated", "dimension", text)


def _count(count: int, noun: str) -> str:
    plural = "es" if noun.endswith("ch") else "s"
    return f"{count} {noun}{plural if count != 1 else ''}"
