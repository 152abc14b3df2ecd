"""Blocks of episodes: one check of many short episodes instead of many checks."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np
import pytest

from counterbc.data import episode_block
from counterbc.data.episode_block import EpisodeBlock, blocks
from counterbc.data.inspection import Inspection
from counterbc.data.raw_episode import Header, RawEpisode


def short_episodes(count: int = 60) -> list[RawEpisode]:
    """Return episodes of 1 to 30 pairs with everything that inspections notice."""
    rng = np.random.default_rng(1066)
    episodes = []
    for i, length in enumerate(rng.integers(1, 31, count)):
        obs = rng.normal(size=(length, 4)).astype(np.float32)
        obs[:, 1] = np.cumsum(rng.uniform(0, 0.5, length)) % (2 * np.pi)  # an angle that wraps
        obs[:, 2] = 10 * obs[:, 1]
        action = rng.uniform(-1.2, 1.2, (length, 2)).astype(np.float32)  # some outside
        action[:, 1] = np.roll(obs[:, 3], -1)  # the next observation
        if i % 7 == 3:
            action[length // 3 :] = 0  # idle
        if i % 9 == 4:
            obs[length // 2 :] = obs[length // 2]  # frozen
        if i == 11:
            obs[0, 0], action[-1, 0] = np.nan, -np.inf
        if i == 12:
            obs[-1, 3] = np.inf
        episodes.append(RawEpisode(obs, action, reward=np.ones(length), name=f"demo_{i}"))
    episodes[-1] = episodes[-2]  # a duplicate
    return episodes


def inspected(episodes: list[RawEpisode], bounded: bool) -> dict[str, Any]:
    bounds: dict[str, Any] = (
        {"action_low": -np.ones(2), "action_high": np.ones(2)} if bounded else {}
    )
    inspection = Inspection(idle=5)
    inspection.add(Header(source="made", **bounds), episodes)
    return asdict(inspection.report())


def assert_alike(a: Any, b: Any) -> None:
    """Compare numbers up to rounding, and everything else exactly."""
    if isinstance(a, dict):
        assert a.keys() == b.keys()
        a, b = list(a.values()), list(b.values())
    if isinstance(a, list | tuple):
        assert len(a) == len(b)
        for x, y in zip(a, b, strict=True):
            assert_alike(x, y)
    elif isinstance(a, float):
        assert a == pytest.approx(b, rel=1e-9, nan_ok=True)
    else:
        assert a == b


@pytest.mark.parametrize("bounded", [True, False])
def test_blocks_of_many_episodes_find_what_blocks_of_one_episode_find(
    monkeypatch: pytest.MonkeyPatch, bounded: bool
) -> None:
    episodes = short_episodes()
    assert len(list(blocks(episodes))) == 1
    together = inspected(episodes, bounded)
    monkeypatch.setattr(episode_block, "ROWS", 1)
    assert len(list(blocks(episodes))) == len(episodes)
    one_by_one = inspected(episodes, bounded)
    kinds = {problem["kind"] for problem in together["problems"]}
    assert {"not finite", "duplicate", "idle"} <= kinds
    assert ("outside" in kinds) == bounded
    assert together["wrapped_angles"]
    assert together["traps"]
    assert_alike(together, one_by_one)


def test_a_row_of_a_block_is_found_in_its_episode() -> None:
    episodes = short_episodes(5)
    block = EpisodeBlock.of(episodes)
    rows = [(e.name, t) for e in episodes for t in range(len(e.action))]
    places = [block.place(row) for row in range(len(block.action))]
    assert [(e.name, t) for e, t in places] == rows
    last = {int(b) - 1 for b in block.begins[1:]}
    assert set(np.flatnonzero(~block.follows).tolist()) == last


def test_images_are_not_copied_into_blocks() -> None:
    frames = np.zeros((3, 8, 8, 3), np.uint8)
    episodes = [RawEpisode(frames, np.zeros((3, 1)), name=str(i)) for i in range(3)]
    assert [len(b.episodes) for b in blocks(episodes)] == [1, 1, 1]
    assert all(b.obs is frames for b in blocks(episodes))
