"""What can be wrong with raw_episodes, one small check each; all see one recording at a time.

A check is given every recording in order, and then tells what it found. Recordings have the shapes
of the first one, `Shapes` apart, which is asked before the others.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from counterbc.data.affine import to_unit
from counterbc.data.demonstrations import Demonstrations
from counterbc.data.moments import Moments
from counterbc.data.raw_episode import RawEpisode

SHORT = 0.2  # of the median length
SATURATED = 0.05  # of the pairs
LISTED = 20  # places that a problem names; it counts all of them


KINDS = (
    "not finite", "shape", "empty", "duplicate", "short", "idle", "outside", "saturated",
    "constant obs", "constant action",
)  # fmt: skip


@dataclass(frozen=True)
class Problem:
    """One kind of problem."""

    kind: str
    count: int
    text: str
    places: tuple[dict[str, Any], ...] = ()
    """Where: episode, row, dimension, and how many; the first few."""

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


@dataclass
class Places:
    """Counts everything and remembers the first few."""

    count: int = 0
    listed: list[dict[str, Any]] = field(default_factory=list)

    def add(self, count: int = 1, **place: Any) -> None:
        self.count += count
        if len(self.listed) < LISTED:
            self.listed.append(place)

    def problem(self, kind: str, noun: str, text: str) -> Iterator[Problem]:
        if self.count:
            yield Problem(kind, self.count, f"{_some(self.count, noun)} {text}", tuple(self.listed))


class Shapes:
    """Episodes that are empty, or whose arrays do not fit the others."""

    def __init__(self, model: Demonstrations) -> None:
        self._obs, self._action = model.obs_shape, (model.action_size,)
        self._empty, self._odd = Places(), Places()

    def fits(self, r: RawEpisode) -> bool:
        if len(r.action) == 0:
            self._empty.add(episode=r.name)
            return False
        length = (len(r.action),)
        found = {"obs": r.obs.shape, "action": r.action.shape}
        expected: dict[str, tuple[int, ...]]
        expected = {"obs": length + self._obs, "action": length + self._action}
        for key, values in (("reward", r.reward), ("selected", r.selected)):
            if values is not None:
                found[key], expected[key] = values.shape, length
        for key, shape in found.items():
            if shape != expected[key]:
                self._odd.add(episode=r.name, array=key, shape=shape, expected=expected[key])
                return False
        return True

    @property
    def faulty(self) -> bool:
        return bool(self._empty.count or self._odd.count)

    def found(self) -> Iterator[Problem]:
        yield from self._empty.problem("empty", "episode", "without pairs")
        yield from self._odd.problem("shape", "episode", "with an array of another shape")


class NotFinite:
    """Values that are NaN or infinite."""

    def __init__(self, model: Demonstrations) -> None:
        self._names = {"obs": model.obs_names, "action": model.action_names, "reward": ("reward",)}
        self._places = Places()

    def see(self, r: RawEpisode) -> None:
        for key, values in (("obs", r.obs), ("action", r.action), ("reward", r.reward)):
            if values is None or values.ndim > 2 or np.isfinite(values.sum()):
                continue
            bad = ~np.isfinite(values.reshape(len(values), -1))  # (T, D)
            for i in np.flatnonzero(bad.any(axis=0)).tolist():
                self._places.add(
                    int(bad[:, i].sum()), episode=r.name, dimension=f"{key} {self._names[key][i]}",
                    row=int(bad[:, i].argmax()), values=int(bad[:, i].sum()),
                )  # fmt: skip

    @property
    def faulty(self) -> bool:
        return self._places.count > 0

    def found(self) -> Iterator[Problem]:
        yield from self._places.problem("not finite", "value", "NaN or infinite")


class Outside:
    """Actions outside the declared bounds, by dimension; in a ball, all dimensions together."""

    def __init__(self, model: Demonstrations) -> None:
        self._model = model
        self._counts = np.zeros(model.action_size, int)
        self._first: dict[int, str] = {}
        self.pairs = 0

    def see(self, r: RawEpisode) -> None:
        low, high = self._model.action_low, self._model.action_high
        if low is None or high is None:
            return
        unit = np.abs(to_unit(r.action.astype(np.float32), low, high))  # (T, A)
        beyond = unit > 1 + 1e-5
        if self._model.action_set == "ball":
            self.pairs += int((np.linalg.norm(unit, axis=1) > 1 + 1e-5).sum())
        else:
            self.pairs += int(beyond.any(axis=1).sum())
        self._counts += beyond.sum(axis=0)
        for i in np.flatnonzero(beyond.any(axis=0)).tolist():
            self._first.setdefault(i, r.name)

    def found(self) -> Iterator[Problem]:
        names = self._model.action_names
        places = tuple(
            {"dimension": names[i], "pairs": int(self._counts[i]), "episode": first}
            for i, first in sorted(self._first.items())[:LISTED]
        )
        if self.pairs:
            text = f"{_some(self.pairs, 'action')} outside the bounds"
            yield Problem("outside", self.pairs, text, places)


class Idle:
    """Long runs of one and the same action, zero or not."""

    def __init__(self, least: int) -> None:
        self.least = least
        self._places, self._pairs = Places(), 0

    def see(self, r: RawEpisode) -> None:
        changes = np.flatnonzero((r.action[1:] != r.action[:-1]).any(axis=1)) + 1
        starts = np.concatenate([[0], changes])
        lengths = np.diff(np.append(starts, len(r.action)))
        for i in np.flatnonzero(lengths >= self.least).tolist():
            self._pairs += int(lengths[i])
            zero = not r.action[starts[i]].any()
            self._places.add(
                episode=r.name, row=int(starts[i]), pairs=int(lengths[i]), action_is_zero=zero
            )

    def found(self) -> Iterator[Problem]:
        text = f"of {self.least} pairs or more with one action, {self._pairs} pairs in all"
        yield from self._places.problem("idle", "stretch", text)


class Duplicates:
    """Episodes with the same observations and actions as an earlier one."""

    def __init__(self) -> None:
        self._seen: dict[bytes, str] = {}
        self._places = Places()

    def see(self, r: RawEpisode, digest: bytes) -> None:
        if digest in self._seen:
            self._places.add(episode=r.name, same_as=self._seen[digest])
        self._seen.setdefault(digest, r.name)

    def found(self) -> Iterator[Problem]:
        yield from self._places.problem("duplicate", "episode", "the same as an earlier one")


class Short:
    """Episodes far shorter than the others."""

    def __init__(self) -> None:
        self._lengths: list[tuple[int, str]] = []

    def see(self, r: RawEpisode) -> None:
        self._lengths.append((len(r.action), r.name))

    def found(self) -> Iterator[Problem]:
        median = float(np.median([n for n, _ in self._lengths])) if self._lengths else 0.0
        places = Places()
        for length, name in self._lengths:
            if length < SHORT * median:
                places.add(episode=name, pairs=length)
        text = f"shorter than a fifth of the median of {median:g} pairs"
        yield from places.problem("short", "episode", text)


def constant(kind: str, names: Sequence[str], moments: Moments) -> Iterator[Problem]:
    """Dimensions in which nothing ever changes."""
    if moments.rows < 2:
        return
    still = np.flatnonzero(moments.low == moments.high).tolist()
    places = tuple({"dimension": names[i], "value": float(moments.low[i])} for i in still[:LISTED])
    if still:
        text = f"{_some(len(still), 'dimension')} in which nothing changes"
        yield Problem(f"constant {kind}", len(still), text, places)


class Saturated:
    """Action dimensions that are often at a bound, or where none is known at their extremes.

    A dimension that is nowhere else is a switch, such as a gripper, and not saturated.
    """

    def __init__(self, model: Demonstrations, moments: Moments) -> None:
        self._model, self._moments = model, moments
        self._low, self._high = np.zeros((2, model.action_size), int)

    def see(self, r: RawEpisode) -> None:
        low, high = self._model.action_low, self._model.action_high
        if low is not None and high is not None:
            near = 1e-6 * (high - low)
            self._low += (np.abs(r.action - low) <= near).sum(axis=0)
            self._high += (np.abs(r.action - high) <= near).sum(axis=0)

    def found(self) -> Iterator[Problem]:
        known, seen = self._model.action_low is not None, self._moments
        low, high = (self._low, self._high) if known else (seen.at_low, seen.at_high)
        often = np.maximum(low, high) >= max(SATURATED * seen.rows, 2)
        which = np.flatnonzero(often & (low + high < seen.rows)).tolist()
        places = tuple(
            {"dimension": self._model.action_names[i], "low": int(low[i]), "high": int(high[i])}
            for i in which[:LISTED]
        )
        if which:
            end = "a bound" if known else "its lowest or highest value"
            text = (
                f"{_some(len(which), 'dimension')} at {end} in {SATURATED:.0%} of the pairs or more"
            )
            yield Problem("saturated", len(which), text, places)


def _some(count: int, noun: str) -> str:
    plural = "es" if noun.endswith("ch") else "s"
    return f"{count} {noun}{plural if count != 1 else ''}"
