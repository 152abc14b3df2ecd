"""Episodes as a file holds them."""

from __future__ import annotations

import numpy as np
import pytest

from counterbc.data.demonstrations import Demonstrations
from counterbc.data.episode import Episode
from counterbc.data.raw_episode import Header, RawEpisode, raw_episodes, selection
from counterbc.errors import DataError


def test_a_dataset_survives_the_way_through_its_header_and_raw_episodes() -> None:
    rng = np.random.default_rng(0)
    demos = Demonstrations(
        tuple(
            Episode(rng.normal(size=(n, 2)), rng.normal(size=(n, 1)), operator=f"op {n}")
            for n in (3, 4)
        ),
        action_low=np.array([-2.0]), action_high=np.array([2.0]), rate=5.0,
        masks={"good": ("demo_1",)}, source="memory", selected=np.array([1, 4, 5]),
    )  # fmt: skip
    raw = list(raw_episodes(demos))
    assert [None if r.selected is None else r.selected.tolist() for r in raw] == [
        [False, True, False],
        [False, True, True, False],
    ]
    lengths = [len(r.action) for r in raw]
    pairs = selection(lengths, [r.selected for r in raw])
    copy = Header.of(demos).with_episodes([r.episode() for r in raw], pairs)
    assert copy.fingerprint() == demos.fingerprint()
    assert (copy.masks, copy.rate, copy.source) == (demos.masks, demos.rate, demos.source)


def test_selection_takes_all_pairs_of_an_episode_that_does_not_say() -> None:
    assert selection([2, 3], [None, None]) is None
    pairs = selection([2, 3], [None, np.array([0, 1, 0])])
    assert pairs is not None
    assert pairs.tolist() == [0, 1, 3]


def test_a_selection_of_another_length_is_refused() -> None:
    raw = RawEpisode(np.zeros((3, 1)), np.zeros((3, 1)), name="a", selected=np.ones(2, bool))
    with pytest.raises(DataError, match=r"selected of episode 'a' has shape \(2,\)"):
        raw.episode()
