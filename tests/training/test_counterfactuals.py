"""Counterfactuals kept in memory and computed again are the same numbers."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

from counterbc.acting.member import Member
from counterbc.data.feasible import Everywhere, Feasible, UnitBall, UnitBox
from counterbc.supports import Ball, Box, Demonstrated, Metric, Support
from counterbc.training import counterfactuals as module
from counterbc.training.counterfactuals import Counterfactuals
from counterbc.training.networks import networks

PAIRS, NETS = 9, 3


def make(support: Support, feasible: Feasible, size: int = 2, **options: Any) -> Counterfactuals:
    members = [Member(seed, (0.4,) * size) for seed in range(NETS)]
    # The pairs of network k are those of the store backwards from k, so positions are not pairs.
    lists = [torch.arange(PAIRS).flip(0).roll(k) for k in range(NETS)]
    nets = networks(members, lists, shards=1)
    generator = torch.Generator().manual_seed(0)
    action = 2 * torch.rand(PAIRS, size, generator=generator) - 1
    action[0] = 1  # a corner
    return Counterfactuals(
        support,
        feasible,
        nets,
        action,
        torch.full((NETS, size), 0.4),
        **({"memory": 1.0} | options),
    )


def at(sets: Counterfactuals, *positions: int, epoch: int = 0) -> Tensor:
    """C(s, a) at these positions of every network's list."""
    position = torch.tensor(positions).expand(NETS, len(positions))
    pairs = sets.nets.pairs.gather(1, position)
    return sets.at(pairs, position, torch.full_like(position, epoch))


def shown_actions(sets: Counterfactuals, *positions: int) -> Tensor:
    return sets.action[sets.nets.pairs[:, list(positions)]]


@pytest.mark.parametrize("size", [1, 2, 7])
@pytest.mark.parametrize("feasible", [Everywhere(), UnitBox(), UnitBall()], ids=repr)
@pytest.mark.parametrize("support", [Ball(), Box(), Metric()], ids=lambda s: type(s).__name__)
def test_kept_equals_computed_again_bit_for_bit(
    support: Support, feasible: Feasible, size: int
) -> None:
    table, lazy = make(support, feasible, size), make(support, feasible, size, memory=0.0)
    assert table.table is not None
    assert lazy.table is None
    first = at(table, 5, 0, 8, 3)
    assert first.shape == (NETS, 4, 51, size)
    assert torch.equal(first[:, :, 0], shown_actions(table, 5, 0, 8, 3))
    assert torch.equal(first, at(lazy, 5, 0, 8, 3))
    assert torch.equal(first, at(lazy, 5, 0, 8, 3, epoch=7))


def test_the_chunks_in_which_memory_is_filled_do_not_matter(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    whole = make(Ball(), UnitBox())
    monkeypatch.setattr(module, "_NUMBERS", 2000)
    pieces = make(Ball(), UnitBox())
    assert whole.table is not None
    assert pieces.table is not None
    assert torch.equal(whole.table, pieces.table)


def test_resampling_changes_with_the_epoch_and_not_within_it() -> None:
    sets = make(Ball(), UnitBox(), resample=True)
    assert sets.table is None
    first = at(sets, 2, 4)
    assert torch.equal(first, at(sets, 2, 4))
    assert torch.equal(first[:, 1:], at(sets, 4))
    later = at(sets, 2, 4, epoch=1)
    assert torch.equal(first[:, :, 0], later[:, :, 0])  # what was shown
    assert not torch.isclose(first[:, :, 1:], later[:, :, 1:]).all(-1).any()


def test_the_first_epoch_of_resampling_is_what_drawing_once_gives() -> None:
    once, resampled = make(Ball(), UnitBox()), make(Ball(), UnitBox(), resample=True)
    assert torch.equal(at(once, 1), at(resampled, 1))


def test_seeds_and_pairs_have_counterfactuals_of_their_own() -> None:
    points = make(Ball(), Everywhere())
    offset = at(points, 1, 2)[:, :, 1:] - shown_actions(points, 1, 2).unsqueeze(2)
    flat = offset.flatten(0, 1)  # (NETS · 2, 50, 2)
    for i in range(len(flat)):
        for j in range(i):
            assert not torch.isclose(flat[i], flat[j]).all(-1).any()


def test_without_counterfactuals_only_what_was_shown_comes_back() -> None:
    sets = make(Demonstrated(), UnitBox())
    assert torch.equal(at(sets, 3), shown_actions(sets, 3).unsqueeze(2))


def test_the_memory_limit_is_in_gib_and_counts_every_number() -> None:
    size = NETS * PAIRS * 51 * 2 * 4 / 2**30
    assert make(Ball(), UnitBox(), memory=size * 1.001).table is not None
    assert make(Ball(), UnitBox(), memory=size * 0.999).table is None
