"""A dataset of any size to look at: a row for every episode, and a sample of them in memory.

Opening reads the dataset once, one episode at a time. Episodes outside the sample are read again
when somebody asks for them. Cameras are read by `CameraFilm` alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from counterbc.data.demonstrations import Demonstrations
from counterbc.data.episode import Episode
from counterbc.data.raw_episode import Header
from counterbc.envs import WORLDS, find_id
from counterbc.errors import CounterBCError, DataError, OptionError
from counterbc.formats import detect, open_stream
from counterbc.formats.asked import AskedPart
from counterbc.studio.even_sample import EvenSample

STEPS = 5000
"""Steps of an episode that a page gets; of longer ones it gets every second, third, … step."""
_REPORT_EVERY = 100  # episodes


@dataclass(frozen=True, eq=False)
class DatasetView:
    """What a page shows of a dataset."""

    path: Path
    format: str
    keys: tuple[str, ...] | None
    """The observations that are read; None: those that the format reads by default."""
    model: Demonstrations
    """The first pair of the dataset, with the facts that all episodes share."""
    sample: Demonstrations | None
    """The episodes in memory, spread evenly; None for images, and where even one is too long."""
    rows: tuple[dict[str, Any], ...]
    """Name, operator, success, length and return of every episode."""

    @classmethod
    def open(
        cls, path: Path, sample: EvenSample | None = None,
        report: Callable[[int], None] = lambda count: None,
    ) -> DatasetView:  # fmt: skip
        """Read a dataset of any size; episodes that cannot be read are left out.

        `report` gets the number of episodes so far, from time to time.
        """
        format, in_memory = detect(path), sample or EvenSample()
        keys, header = _vectors_or_camera(path, format)
        rows, first = list[dict[str, Any]](), None
        for raw in open_stream(path, keys, format=format).raw_episodes:
            try:
                episode = replace(raw, name=raw.name or f"demo_{len(rows)}").episode()
            except CounterBCError:
                continue
            first = first or episode.rows(slice(0, 1))
            rows.append(_row(episode))
            if episode.obs.ndim == 2:
                in_memory.add(episode)
            if len(rows) % _REPORT_EVERY == 0:
                report(len(rows))
        if first is None:
            raise DataError(f"{path.name} has no episode that can be read; inspect it first")
        model, episodes = header.with_episodes([first]), in_memory.episodes
        demos = header.with_episodes(episodes) if episodes else None
        return cls(path, format, keys, model, demos, tuple(rows))

    @property
    def world(self) -> str | None:
        """The name of the world that the data come from, if it is one of ours."""
        env = self.model.env_args.get("env_name")
        if not isinstance(env, str):
            return None
        env_id = find_id(env)
        return next((name for name, world in WORLDS.items() if world.id == env_id), None)

    @property
    def cameras(self) -> tuple[str, ...]:
        """The names of all cameras, whether there is a vector beside them or not."""
        return (*([self.model.camera] if self.model.camera else []), *self.model.blind_to)

    @property
    def is_whole(self) -> bool:
        """Whether every episode is in the sample."""
        return self.sample is not None and len(self.sample.episodes) == len(self.rows)

    def describe(self) -> dict[str, Any]:
        """Return the facts of the dataset as JSON values."""
        model = self.model
        bounds = (model.action_low, model.action_high)
        low, high = (None if bound is None else bound.tolist() for bound in bounds)
        return {
            "name": self.path.name, "format": self.format, "world": self.world,
            "rows": list(self.rows), "rate": model.rate, "cameras": list(self.cameras),
            "obs_names": list(model.obs_names), "action_names": list(model.action_names),
            "low": low, "high": high, "images": len(model.obs_shape) > 1,
            "sampled": 0 if self.sample is None else len(self.sample.episodes),
        }  # fmt: skip

    def length(self, name: str) -> int:
        """Return the number of steps of an episode."""
        for row in self.rows:
            if row["name"] == name:
                return int(row["length"])
        raise OptionError(f"there is no episode {name!r:.60}; choose one of the table")

    def pairs(self, name: str) -> slice:
        """Return where the pairs of an episode are among all pairs of the sample."""
        begin = 0
        for episode in () if self.sample is None else self.sample.episodes:
            if episode.name == name:
                return slice(begin, begin + len(episode))
            begin += len(episode)
        raise OptionError(f"{name!r:.60} is not in the sample with meant actions; add it first")

    def episode(self, name: str) -> Episode:
        """Return an episode: from memory, or read again."""
        for episode in () if self.sample is None else self.sample.episodes:
            if episode.name == name:
                return episode
        self.length(name)  # it exists
        return read_episodes(self.path, self.format, self.keys, [name]).episodes[0]

    def with_episode(self, name: str) -> DatasetView:
        """Return this view with an episode added to the sample."""
        if self.sample is None:
            raise OptionError("these episodes are too long for this page; use counterbc score")
        by_name = {e.name: e for e in (*self.sample.episodes, self.episode(name))}
        in_order = [by_name[row["name"]] for row in self.rows if row["name"] in by_name]
        return replace(self, sample=replace(self.sample, episodes=tuple(in_order)))

    def contents(self, name: str) -> dict[str, Any]:
        """Return an episode as JSON values, with every n-th step where it is long."""
        episode, stride = self.episode(name), thinning(self.length(name))
        is_image = episode.obs.ndim > 2
        return {
            "name": name, "obs": None if is_image else episode.obs[::stride].tolist(),
            "action": episode.action[::stride].tolist(), "operator": episode.operator,
            "length": len(episode), "every": stride,
        }  # fmt: skip


def thinning(length: int) -> int:
    """Return n, where a page gets every n-th step of an episode of this length."""
    return max(1, -(-length // STEPS))


def read_episodes(
    path: Path, format: str, keys: Sequence[str] | None, names: Sequence[str]
) -> Demonstrations:
    """Read some episodes of a dataset, in the order of the file."""
    stream = open_stream(path, keys, format=format, part=AskedPart(frozenset(names)))
    episodes = [raw.episode() for raw in stream.raw_episodes]
    if len(episodes) < len(names):
        raise DataError(f"{path.name} has changed since it was opened; open it again")
    return stream.header.with_episodes(episodes)


def _vectors_or_camera(path: Path, format: str) -> tuple[tuple[str, ...] | None, Header]:
    """Return which observations to read so that no camera is read beside another observation."""
    stream = open_stream(path, format=format)
    header = stream.header
    first = next((raw for raw in stream.raw_episodes if raw.error is None), None)
    if first is None or not first.images:
        return None, header
    keys = (header.camera,) if header.camera else tuple(key for key, _ in header.obs_keys)
    return keys, open_stream(path, keys, format=format).header


def _row(episode: Episode) -> dict[str, Any]:
    total = None if episode.reward is None else float(episode.reward.sum())
    return {
        "name": episode.name, "operator": episode.operator, "success": episode.success,
        "length": len(episode), "total": total,
    }  # fmt: skip
