"""Which pairs are seen when: epochs of shuffled pairs, a function of the step alone."""

from __future__ import annotations

import pytest
import torch

from counterbc.acting.member import Member
from counterbc.training.batches import Batches
from counterbc.training.networks import Networks, networks


def nets(*lengths: int) -> Networks:
    members = [Member(seed, (0.0,)) for seed in range(len(lengths))]
    return networks(members, [torch.arange(n) for n in lengths], shards=1)


def stream(batches: Batches, steps: int, net: int) -> list[int]:
    return batches.block(0, steps)[0][:, net].flatten().tolist()


@pytest.mark.parametrize(("lengths", "batch"), [((10,), 5), ((10,), 3), ((7, 12, 12), 5)])
def test_every_epoch_visits_each_pair_once(lengths: tuple[int, ...], batch: int) -> None:
    batches = Batches(nets(*lengths), batch)
    for net, n in enumerate(lengths):
        visits = stream(batches, 12 * max(lengths), net)
        epochs = [visits[i : i + n] for i in range(0, len(visits) - n + 1, n)]
        assert len(epochs) >= 10
        assert all(sorted(epoch) == list(range(n)) for epoch in epochs)
        assert epochs[0] != epochs[1] != epochs[2]


def test_the_epoch_of_each_pair_is_counted_by_hand() -> None:
    _, epoch = Batches(nets(4), 3).block(0, 3)
    assert epoch.flatten().tolist() == [0, 0, 0, 0, 1, 1, 1, 1, 2]


def test_a_block_equals_its_single_steps() -> None:
    batches = Batches(nets(7, 12), 5)
    position, epoch = batches.block(4, 9)
    assert position.shape == epoch.shape == (9, 2, 5)
    for k in range(9):
        block = batches.block(4 + k, 1)
        assert torch.equal(block[0][0], position[k])
        assert torch.equal(block[1][0], epoch[k])


def test_a_training_that_goes_on_sees_what_it_would_have_seen() -> None:
    whole = Batches(nets(11), 4).block(0, 20)[0]
    assert torch.equal(Batches(nets(11), 4).block(13, 7)[0], whole[13:])


def test_a_network_sees_the_same_alone_and_beside_a_longer_list() -> None:
    single, beside = Batches(nets(7), 5), Batches(nets(7, 30), 5)
    assert stream(single, 20, 0) == stream(beside, 20, 0)


def test_seeds_shuffle_differently() -> None:
    batches = Batches(nets(30, 30), 30)
    assert stream(batches, 1, 0) != stream(batches, 1, 1)
