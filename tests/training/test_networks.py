"""Index lists and seeds of the networks of a training."""

from __future__ import annotations

import pytest
import torch

from counterbc.acting.member import Member
from counterbc.errors import DataError
from counterbc.training.networks import networks


@pytest.mark.parametrize("n", [4, 11, 12])
def test_shards_divide_all_pairs_and_differ_by_one_at_most(n: int) -> None:
    nets = networks([Member(0, (0.0,)), Member(1, (0.0,))], [torch.arange(n)] * 2, shards=4)
    assert nets.members.tolist() == [0, 0, 0, 0, 1, 1, 1, 1]
    for member in range(2):
        rows = range(4 * member, 4 * member + 4)
        shards = [nets.pairs[i, : nets.lengths[i]].tolist() for i in rows]
        assert sorted(pair for shard in shards for pair in shard) == list(range(n))
        assert max(map(len, shards)) - min(map(len, shards)) <= 1
    assert len(nets.seeds.unique()) == 8
    assert nets.pairs[:4].tolist() != nets.pairs[4:].tolist() or n == 4


def test_more_shards_than_pairs_are_refused_with_both_numbers() -> None:
    with pytest.raises(DataError, match="divides its pairs among 4 networks, but there are 3"):
        networks([Member(0, (0.0,))], [torch.arange(3)], shards=4)


def test_the_first_shard_of_a_member_does_not_depend_on_other_members() -> None:
    members = [Member(5, (0.0,)), Member(6, (0.0,))]
    two_members = networks(members, [torch.arange(9), torch.arange(7)], shards=2)
    one_member = networks(members[1:], [torch.arange(7)], shards=2)
    assert two_members.lengths.tolist() == [5, 4, 4, 3]
    assert torch.equal(two_members.seeds[2:], one_member.seeds)
    for i in range(2):
        length = int(one_member.lengths[i])
        assert torch.equal(two_members.pairs[2 + i, :length], one_member.pairs[i, :length])


def test_networks_of_an_ensemble_learn_from_the_same_pairs_with_seeds_of_their_own() -> None:
    members, lists = [Member(0, (0.0,)), Member(1, (0.0,))], [torch.arange(3), torch.arange(9)]
    nets = networks(members, lists, shards=4, disjoint=False)
    assert nets.lengths.tolist() == [3] * 4 + [9] * 4
    for i, pairs in enumerate(lists):
        for row in nets.pairs[4 * i : 4 * i + 4, : len(pairs)]:
            assert torch.equal(row, pairs)
    assert len(nets.seeds.unique()) == 8
    single = networks(members, lists, shards=1, disjoint=False)
    assert torch.equal(nets.seeds[::4], single.seeds)
