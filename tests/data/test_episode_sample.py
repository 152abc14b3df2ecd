"""Stretches of episodes that are kept while all are read."""

from __future__ import annotations

import numpy as np

from counterbc.data.episode_sample import EpisodeSample
from counterbc.data.raw_episode import Header, RawEpisode


def raw(number: int, length: int = 300) -> RawEpisode:
    values = number + np.arange(length, dtype=np.float32)[:, None] / 1000
    return RawEpisode(values, values, name=f"e{number}")


def test_all_episodes_pass_and_a_bounded_number_of_stretches_is_kept() -> None:
    sample = EpisodeSample()
    names = [e.name for e in sample.watch(raw(i) for i in range(100))]
    assert names == [f"e{i}" for i in range(100)]
    demos = sample.demonstrations(Header())
    assert demos is not None
    assert len(demos) == 40
    assert {len(e) for e in demos.episodes} == {120}
    steps = np.concatenate([np.diff(e.obs[:, 0]) for e in demos.episodes])
    np.testing.assert_allclose(steps, 0.001, rtol=0.05)
    assert max(e.obs[0, 0] for e in demos.episodes) > 50


def test_episodes_with_problems_are_left_out() -> None:
    bad = raw(1, 10)
    bad.obs[3] = np.nan
    sample = EpisodeSample()
    list(sample.watch([raw(0, 10), bad, raw(2, 10)]))
    demos = sample.demonstrations(Header())
    assert demos is not None
    assert len(demos) == 2
    empty = EpisodeSample()
    list(empty.watch([bad]))
    assert empty.demonstrations(Header()) is None
