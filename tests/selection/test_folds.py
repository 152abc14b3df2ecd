"""Folds: every pair is held out once, and nothing near it is learned from."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from counterbc.errors import OptionError
from counterbc.selection.folds import some_episodes, split_folds, split_operators
from tests.fixture_types import Make
from tests.selection.datasets import joined, late_demos


def test_no_episode_is_both_learned_from_and_held_out(make_demos: Make) -> None:
    demos = make_demos(episodes=13, length=7)
    folds = split_folds(demos, 5, seed=3)
    assert (folds.kind, folds.gap, len(folds)) == ("episodes", 0, 5)
    for held_out, train_rows in zip(folds.held_out, folds.learned, strict=True):
        assert not set(demos.starts[held_out]) & set(demos.starts[train_rows])
        assert sorted([*held_out, *train_rows]) == list(range(13 * 7))
    assert sorted(np.concatenate(folds.held_out)) == list(range(13 * 7))
    sizes = [len(h) for h in folds.held_out]
    assert max(sizes) - min(sizes) <= 7
    second = split_folds(demos, 5, seed=4)
    assert any(not np.array_equal(*x) for x in zip(folds.held_out, second.held_out, strict=True))


def test_few_episodes_are_cut_into_blocks_with_a_gap(make_demos: Make) -> None:
    demos = make_demos(episodes=2, length=100)
    folds = split_folds(demos, 5, seed=0)
    assert (folds.kind, folds.gap) == ("blocks", 10)
    assert sorted(np.concatenate(folds.held_out)) == list(range(200))
    for held_out, train_rows in zip(folds.held_out, folds.learned, strict=True):
        assert list(held_out) == list(range(held_out[0], held_out[-1] + 1))
        for pair in train_rows:
            together = held_out[demos.starts[held_out] == demos.starts[pair]]
            assert not len(together) or np.abs(together - pair).min() > 10
    assert set(range(100)) <= set(folds.learned[4])  # the other episode stays whole


def test_folds_deal_only_the_pairs_that_are_learned_from(make_demos: Make) -> None:
    for demos in (make_demos(episodes=12), make_demos(episodes=3, length=40)):
        sixty_pairs = demos.sample_pairs(60, seed=1)
        folds = split_folds(sixty_pairs, 5, seed=0)
        assert sorted(np.concatenate(folds.held_out)) == sixty_pairs.learned.tolist()
        assert set(np.concatenate(folds.learned)) <= set(sixty_pairs.learned)


def test_long_episodes_are_cut_so_that_the_number_of_pairs_is_bounded() -> None:
    demos = late_demos(2, episodes=20)  # 600 pairs
    assert some_episodes(demos, 600, 0) is demos
    assert some_episodes(demos, 200, 0).pairs == 180  # six whole episodes
    long = replace(demos, episodes=(joined(demos),), masks={})
    assert some_episodes(long, 200, 0).pairs == 200
    assert len(some_episodes(demos, 100, 0, least=5)) == 5


def test_folds_of_operators_hold_out_everything_and_learn_from_selected_pairs(
    make_demos: Make,
) -> None:
    demos = make_demos(episodes=12, length=9)
    names = ["eve", "ann", "bob", "dan", "cid", "ann"]
    episodes = [replace(e, operator=names[i % 6]) for i, e in enumerate(demos.episodes)]
    every = replace(demos, episodes=tuple(episodes))
    some = every.sample_pairs(70, seed=1)
    folds, selected = split_operators(every, 5, seed=2), split_operators(some, 5, seed=2)
    operator = np.repeat([str(e.operator) for e in episodes], 9)
    for k in range(5):
        np.testing.assert_array_equal(folds.held_out[k], selected.held_out[k])
        assert sorted([*folds.held_out[k], *folds.learned[k]]) == list(range(12 * 9))
        assert not set(operator[folds.held_out[k]]) & set(operator[folds.learned[k]])
        expected = np.intersect1d(folds.learned[k], some.learned)
        np.testing.assert_array_equal(selected.learned[k], expected)


def test_more_folds_than_pairs_are_refused(make_demos: Make) -> None:
    demos = make_demos(episodes=3, length=20)
    with pytest.raises(OptionError, match="folds is 61, but there are 60 pairs; give fewer folds"):
        split_folds(demos, 61, 0)
