"""A sample is spread evenly over all episodes, and within its bounds."""

from __future__ import annotations

import numpy as np
import pytest

from counterbc.data.episode import Episode
from counterbc.studio.even_sample import EvenSample


def episode(number: int, length: int = 10) -> Episode:
    return Episode(np.full((length, 1), number), np.zeros((length, 1)), name=str(number))


@pytest.mark.parametrize(
    ("count", "kept_numbers"),
    [(3, [0, 1, 2]), (4, [0, 2]), (6, [0, 2, 4]), (7, [0, 4]), (20, [0, 8, 16]), (25, [0, 16])],
)
def test_every_second_then_every_fourth_episode_is_kept(
    count: int, kept_numbers: list[int]
) -> None:
    for sample in (EvenSample(pairs=30), EvenSample(largest=30 * 8)):
        for i in range(count):
            sample.add(episode(i))
        assert [int(e.name) for e in sample.episodes] == kept_numbers


def test_an_episode_that_is_too_long_by_itself_leaves_nothing_of_the_first() -> None:
    sample = EvenSample(pairs=30)
    sample.add(episode(0, 31))
    assert sample.episodes == []
