from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from counterbc.data.demonstrations import Demonstrations, Episode
from counterbc.formats import (
    load,
    save,
)


def test_numpy_reads_what_we_write(tmp_path: Path) -> None:
    episodes = [
        Episode(np.full((2, 3), i), np.full((2, 1), i), operator=operator)
        for i, operator in enumerate(("ann", None, "bob"))
    ]
    save(Demonstrations(tuple(episodes)), tmp_path / "a.npz")
    with np.load(tmp_path / "a.npz", allow_pickle=False) as arrays:
        assert sorted(arrays) == ["action", "counterbc", "episode_ends", "obs", "operator"]
        assert arrays["episode_ends"].tolist() == [2, 4, 6]
        assert arrays["operator"].tolist() == ["ann", "", "bob"]
        assert arrays["obs"].dtype == np.float32
        assert arrays["obs"][:, 0].tolist() == [0, 0, 1, 1, 2, 2]


def test_rewards_of_some_episodes_alone_are_kept_apart(tmp_path: Path) -> None:
    rewards: list[Any] = [None, [1.0, 2.0], None]
    episodes = [Episode(np.zeros((2, 1)), np.zeros((2, 1)), reward=r) for r in rewards]
    save(Demonstrations(tuple(episodes)), tmp_path / "a.npz")
    back = [e.reward for e in load(tmp_path / "a.npz").episodes]
    assert [None if r is None else r.tolist() for r in back] == rewards
