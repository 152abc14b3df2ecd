"""Small datasets whose rows can be counted by hand, and raw episodes without a problem."""

from __future__ import annotations

from typing import Any

import numpy as np

from counterbc.data.demonstrations import Demonstrations, Episode
from counterbc.data.inspection import Inspection
from counterbc.data.raw_episode import Header, RawEpisode


def episode(length: int = 3, start: float = 0.0, **fields: Any) -> Episode:
    """Return an episode whose observations count up from `start`."""
    obs = start + np.arange(length * 2).reshape(length, 2)
    return Episode(obs=obs, action=np.full((length, 1), start), **fields)


def three_episodes() -> Demonstrations:
    """Return pairs 0-2 by ann, 3-4 by bob, 5-8 by ann."""
    return Demonstrations(
        episodes=(
            episode(3, 0, operator="ann", success=True),
            episode(2, 10, operator="bob", success=False),
            episode(4, 20, operator="ann", success=True),
        ),
        masks={"train": ("demo_0", "demo_1"), "valid": ("demo_2",)},
        source="three.hdf5",
    )


def raw_episodes(count: int = 5, length: int = 20) -> list[RawEpisode]:
    """Return episodes in which nothing is wrong."""
    rng = np.random.default_rng(0)
    return [
        RawEpisode(
            rng.uniform(-1, 1, (length, 3)).astype(np.float32),
            rng.uniform(-0.9, 0.9, (length, 2)).astype(np.float32),
            name=f"demo_{i}",
        )
        for i in range(count)
    ]


def inspect(episodes: list[RawEpisode], idle: int | None = None, **header: Any) -> Inspection:
    """Return the inspection of these episodes, with action bounds of ±1 by default."""
    bounds = {"action_low": -np.ones(2), "action_high": np.ones(2)}
    inspection = Inspection(idle)
    inspection.add(Header(**(bounds | {"source": "made"} | header)), episodes)
    return inspection
