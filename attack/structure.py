"""What a damaged file must not change silently: episodes, columns, and numbers with checksums."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import numpy as np

from counterbc import Demonstrations


@dataclass(frozen=True)
class Structure:
    """The episodes and columns of a dataset, and digests of their numbers."""

    lengths: tuple[int, ...]
    widths: tuple[tuple[int, ...], int]
    obs_names: tuple[str, ...]
    action_names: tuple[str, ...]
    episodes: tuple[str, ...]
    """A digest of the actions of each episode."""
    columns: tuple[str, ...]
    """A digest of each column of observations and actions; one for all of an image."""
    labels: tuple[object, ...]
    bounds: tuple[list[float], list[float]] | None

    @classmethod
    def of(cls, demos: Demonstrations) -> Structure:
        """Return the structure of a dataset."""
        obs = [demos.obs] if len(demos.obs_shape) > 1 else list(demos.obs.T)
        return cls(
            lengths=tuple(len(episode) for episode in demos.episodes),
            widths=(demos.obs_shape, demos.action_size),
            obs_names=demos.obs_names,
            action_names=demos.action_names,
            episodes=tuple(_digest(episode.action) for episode in demos.episodes),
            columns=tuple(_digest(column) for column in (*obs, *demos.action.T)),
            labels=tuple((e.name, e.operator, e.success) for e in demos.episodes),
            bounds=_bounds(demos),
        )

    def differences(self, damaged: Structure) -> list[str]:
        """Return what differs after damage, the worst first."""
        differences = []
        if self.lengths != damaged.lengths or self.widths != damaged.widths:
            differences.append("structure")
        elif _exchanged(self.columns, damaged.columns):
            differences.append("columns exchanged")
        elif _exchanged(self.episodes, damaged.episodes):
            differences.append("episodes exchanged")
        elif self.columns != damaged.columns:
            differences.append("numbers")
        if damaged.bounds and self.bounds != damaged.bounds:
            differences.append("bounds")
        for name in ("obs_names", "action_names", "labels"):
            if getattr(self, name) != getattr(damaged, name):
                differences.append(name)
        return differences


def _bounds(demos: Demonstrations) -> tuple[list[float], list[float]] | None:
    if demos.action_low is None or demos.action_high is None:
        return None
    return demos.action_low.tolist(), demos.action_high.tolist()


def _exchanged(before: tuple[str, ...], after: tuple[str, ...]) -> bool:
    """Return whether known digests stand in the places of others."""
    return any(a != b and b in before for a, b in zip(before, after, strict=True))


def _digest(values: np.ndarray[tuple[int, ...], np.dtype[np.generic]]) -> str:
    return hashlib.sha256(np.ascontiguousarray(values).tobytes()).hexdigest()[:16]
