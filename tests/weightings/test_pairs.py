"""The pairs that a weighting sees: gathered by index, padded, drawn by seed and step."""

from __future__ import annotations

import torch

from counterbc.weightings import Pairs


def two_networks() -> Pairs:
    table = {"to_go": torch.arange(10.0)}
    index = torch.tensor([[1, 3, 5, 0], [2, 4, 6, 8]])
    return Pairs(table, index, torch.tensor([3, 4]), torch.tensor([7, 8]))


def test_a_column_is_gathered_by_index() -> None:
    assert two_networks()["to_go"].tolist() == [[1, 3, 5, 0], [2, 4, 6, 8]]


def test_padding_is_not_real_and_does_not_count_in_the_mean() -> None:
    pairs = two_networks()
    assert pairs.real.tolist() == [[True, True, True, False], [True] * 4]
    assert pairs.mean(pairs["to_go"]).tolist() == [3.0, 5.0]


def test_one_network_of_many_has_the_same_pairs_and_draws() -> None:
    pairs = two_networks()
    for i in range(2):
        single = pairs.network(i)
        assert single["to_go"].tolist() == pairs["to_go"][i].tolist()
        joint_index = pairs.draw("batch", 5, 6).index[i]
        assert single.draw("batch", 5, 6).index.tolist() == joint_index.tolist()


def test_draws_repeat_by_purpose_and_step_and_never_hit_padding() -> None:
    pairs = two_networks()
    first = pairs.draw("batch", 0, 50).index
    assert torch.equal(first, pairs.draw("batch", 0, 50).index)
    assert not torch.equal(first, pairs.draw("batch", 1, 50).index)
    assert not torch.equal(first, pairs.draw("value", 0, 50).index)
    assert 0 not in first[0]
