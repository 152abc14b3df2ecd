"""A dataset to look at: a row for every episode, and the contents of as many as fit in memory."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from counterbc.data.arrays import Array
from counterbc.data.demonstrations import Demonstrations
from counterbc.data.episode import Episode
from counterbc.envs import WORLDS, find_id
from counterbc.errors import CounterBCError, DataError, OptionError
from counterbc.formats import detect, open_stream

LARGEST = 2**29
"""Bytes of observations and actions that are kept; later episodes are only listed."""


@dataclass(frozen=True, eq=False)
class DatasetView:
    """What a page shows of a dataset."""

    path: Path
    format: str
    demos: Demonstrations
    """The episodes that were kept, from the first on."""
    rows: tuple[dict[str, Any], ...]
    """Name, operator, success, length and return of every episode."""

    @classmethod
    def open(cls, path: Path, largest: int = LARGEST) -> DatasetView:
        """Read a dataset of any size; episodes that cannot be read are left out."""
        format = detect(path)
        stream = open_stream(path, format=format)
        rows, kept, size = list[dict[str, Any]](), list[Episode](), 0
        for raw in stream.raw_episodes:
            try:
                episode = raw.episode()
            except CounterBCError:
                continue
            size += episode.obs.nbytes + episode.action.nbytes
            is_shown = size <= largest or not kept
            if is_shown:
                kept.append(episode)
            rows.append(_row(episode, is_shown))
        if not kept:
            raise DataError(f"{path.name} has no episode that can be read; inspect it first")
        demos = stream.header.with_episodes(kept)
        return cls(path, format, demos, tuple(rows))

    @property
    def world(self) -> str | None:
        """The name of the world that the data come from, if it is one of ours."""
        env = self.demos.env_args.get("env_name")
        if not isinstance(env, str):
            return None
        env_id = find_id(env)
        return next((name for name, world in WORLDS.items() if world.id == env_id), None)

    def describe(self) -> dict[str, Any]:
        """Return the facts of the dataset as JSON values."""
        demos = self.demos
        bounds = (demos.action_low, demos.action_high)
        low, high = (None if bound is None else bound.tolist() for bound in bounds)
        return {
            "name": self.path.name, "format": self.format, "world": self.world,
            "rows": list(self.rows), "shown": len(demos.episodes), "rate": demos.rate,
            "obs_names": list(demos.obs_names), "action_names": list(demos.action_names),
            "low": low, "high": high, "images": len(demos.obs_shape) > 1,
        }  # fmt: skip

    def index(self, name: str) -> int:
        """Return the number of an episode whose contents were kept."""
        for i, episode in enumerate(self.demos.episodes):
            if episode.name == name:
                return i
        raise OptionError(f"the episode {name!r:.60} is not shown; choose one of the table")

    def pairs(self, index: int) -> slice:
        """Return where the pairs of an episode are among all pairs."""
        lengths = [len(e) for e in self.demos.episodes]
        begin = sum(lengths[:index])
        return slice(begin, begin + lengths[index])

    def contents(self, name: str) -> dict[str, Any]:
        """Return an episode as JSON values; images are sent one by one."""
        episode = self.demos.episodes[self.index(name)]
        is_image = episode.obs.ndim > 2
        reward = None if episode.reward is None else episode.reward.tolist()
        return {
            "name": name, "obs": None if is_image else episode.obs.tolist(),
            "action": episode.action.tolist(), "reward": reward, "operator": episode.operator,
        }  # fmt: skip

    def image(self, name: str, t: int) -> Array:
        """Return the image of a step."""
        episode = self.demos.episodes[self.index(name)]
        if episode.obs.ndim < 3 or not 0 <= t < len(episode):
            raise OptionError(f"step {t} of {name!r:.60} has no image; choose another step")
        return np.asarray(episode.obs[t])


def _row(episode: Episode, is_shown: bool) -> dict[str, Any]:
    total = None if episode.reward is None else float(episode.reward.sum())
    return {
        "name": episode.name, "operator": episode.operator, "success": episode.success,
        "length": len(episode), "total": total, "shown": is_shown,
    }  # fmt: skip
