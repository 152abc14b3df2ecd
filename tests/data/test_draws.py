from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from counterbc.data import draws

SEED = torch.tensor(3)


def test_the_same_coordinates_give_the_same_numbers() -> None:
    index = torch.arange(7)
    first = draws.uniform(SEED, "counterfactuals", index, 4)
    second_draw = draws.uniform(SEED, "counterfactuals", index, 4)
    assert first.shape == (7, 4)
    assert torch.equal(first, second_draw)


def test_a_draw_does_not_depend_on_the_order_or_shape_of_its_batch() -> None:
    index = torch.arange(60)
    whole = draws.uniform(SEED, "order", index, 5)  # (60, 5)
    shuffled = torch.randperm(60, generator=torch.Generator().manual_seed(0))
    assert torch.equal(draws.uniform(SEED, "order", index[shuffled], 5), whole[shuffled])
    assert torch.equal(draws.uniform(SEED, "order", index.view(3, 20), 5), whole.view(3, 20, 5))
    assert torch.equal(draws.uniform(SEED, "order", torch.tensor(41), 5), whole[41])


def test_seeds_and_indices_broadcast_to_one_row_per_member() -> None:
    seeds, index = torch.tensor([[3], [8]]), torch.arange(6)
    joint_draw = draws.uniform(seeds, "members", index, 2)
    assert joint_draw.shape == (2, 6, 2)
    assert torch.equal(joint_draw[1], draws.uniform(torch.tensor(8), "members", index, 2))


def test_asking_for_more_numbers_keeps_the_first_ones() -> None:
    index = torch.arange(11)
    many = draws.uniform(SEED, "prefix", index, 9)
    for count in (1, 4, 9):
        assert torch.equal(draws.uniform(SEED, "prefix", index, count), many[:, :count])


def test_uniform_numbers_lie_strictly_between_0_and_1() -> None:
    u = draws.uniform(SEED, "range", torch.arange(100_000), 10)
    assert u.dtype == torch.float32
    assert 0 < float(u.min()) < 1e-5
    assert 1 - 1e-5 < float(u.max()) < 1


def _row_of(word: int) -> int:
    """Return the row whose first hash is this word, by undoing what `_mix` does."""
    for shift, factor in ((31, draws._SECOND), (27, draws._FIRST), (30, 1)):
        word ^= (word >> shift) ^ (word >> 2 * shift)  # x ^ (x >> shift), undone
        word = word * pow(factor, -1, 1 << 64) % (1 << 64)
    return word - draws._GOLDEN


@pytest.mark.parametrize("word", [0, (1 << 64) - 1])  # all bits 0, all bits 1
def test_the_extreme_hashes_still_fall_inside_the_open_interval(
    word: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = torch.from_numpy(np.array(_row_of(word) % (1 << 64), np.uint64).view(np.int64))
    assert int(draws._hashes(row, 1)) % (1 << 64) == word
    monkeypatch.setattr(draws, "row_keys", lambda *_: row)
    u = draws.uniform(SEED, "extremes", torch.tensor(0), 1)
    assert 0 < float(u) < 1
    assert torch.equal(u, draws._fractions(draws._hashes(row, 1)))


@pytest.mark.parametrize("shape", [(), (0,), (7,), (3, 5, 2)])
@pytest.mark.parametrize("count", [0, 1, 3, 20_000])
def test_numbers_in_the_cache_are_those_of_torch_to_the_bit(
    shape: tuple[int, ...], count: int
) -> None:
    index = torch.arange(math.prod(shape)).view(shape) * 7919
    row = draws.row_keys(SEED, "cache", index)
    u = draws.uniform(SEED, "cache", index, count)
    assert u.shape == (*shape, count)
    assert torch.equal(u, draws._fractions(draws._hashes(row, count)))


def test_uniform_numbers_fill_100_bins_evenly() -> None:
    u = draws.uniform(SEED, "chi-square", torch.arange(20_000), 10).numpy().ravel()
    bin_counts = np.bincount((u * 100).astype(int), minlength=100)
    expected_count = len(u) / 100
    chi_square = float(((bin_counts - expected_count) ** 2 / expected_count).sum())
    # 99 degrees of freedom: mean 99, standard deviation 14.07; four of them either side.
    assert abs(chi_square - 99) < 4 * math.sqrt(2 * 99)


def test_every_one_of_the_64_bits_is_set_half_of_the_time() -> None:
    words = draws.bits(SEED, "bits", torch.arange(40_000), 1).ravel()
    share = torch.stack([((words >> k) & 1).double().mean() for k in range(64)])
    assert float((share - 0.5).abs().max()) < 4.5 * 0.5 / math.sqrt(40_000)


def _correlation(a: torch.Tensor, b: torch.Tensor) -> float:
    return float(torch.corrcoef(torch.stack([a.double().ravel(), b.double().ravel()]))[0, 1])


def test_purposes_seeds_indices_and_columns_are_uncorrelated() -> None:
    index = torch.arange(40_000)
    u = draws.uniform(SEED, "one", index, 2)
    limit = 4 / math.sqrt(u.numel())
    assert abs(_correlation(u, draws.uniform(SEED, "two", index, 2))) < limit
    assert abs(_correlation(u, draws.uniform(SEED + 1, "one", index, 2))) < limit
    assert abs(_correlation(u, draws.uniform(SEED, "one", index + 1, 2))) < limit
    assert abs(_correlation(u[:, 0], u[:, 1])) < limit * math.sqrt(2)


def test_neighbouring_coordinates_do_not_swap_roles() -> None:
    seed_1_index_2 = draws.uniform(torch.tensor(1), "roles", torch.tensor(2), 4)
    seed_2_index_1 = draws.uniform(torch.tensor(2), "roles", torch.tensor(1), 4)
    assert not torch.isclose(seed_1_index_2, seed_2_index_1).any()


def test_a_generator_belongs_to_its_seed_and_purpose() -> None:
    def first(seed: int, purpose: str) -> torch.Tensor:
        return torch.rand(4, generator=draws.generator(seed, purpose))

    assert torch.equal(first(0, "initial weights"), first(0, "initial weights"))
    assert not torch.equal(first(0, "initial weights"), first(1, "initial weights"))
    assert not torch.equal(first(0, "initial weights"), first(0, "folds"))


def test_generators_of_many_seeds_are_those_of_each_seed() -> None:
    seeds = [5, -7, 1 << 62]
    together = [torch.rand(3, generator=g) for g in draws.generators(seeds, "policy")]
    alone = [torch.rand(3, generator=draws.generator(seed, "policy")) for seed in seeds]
    assert torch.equal(torch.stack(together), torch.stack(alone))


def test_no_global_generator_is_touched() -> None:
    torch_before, numpy_before = torch.get_rng_state(), np.random.get_state(legacy=False)
    draws.uniform(SEED, "global", torch.arange(10), 3)
    draws.generator(5, "global")
    assert torch.equal(torch.get_rng_state(), torch_before)
    assert str(np.random.get_state(legacy=False)) == str(numpy_before)


@pytest.mark.parametrize("count", [1, 7, 200])
def test_numpy_draws_the_same_numbers_as_torch(count: int) -> None:
    seed = np.array([0, 5, -3, 2**62, *range(500)])
    index = np.arange(len(seed)) % 11
    by_torch = draws.uniform(torch.from_numpy(seed), "test", torch.from_numpy(index), count)
    by_numpy = draws.uniform_rows(seed, "test", index, count)
    assert np.array_equal(by_numpy, by_torch.double().numpy())


def test_streams_draw_from_every_generator_what_each_would_draw_alone() -> None:
    streams = draws.Streams([3, 5], "weights")
    first, second = streams.rand(2, 3), draws.rand(streams, 17)
    for i, seed in enumerate((3, 5)):
        generator = draws.generator(seed, "weights")
        assert torch.equal(first[i], torch.rand(2, 3, generator=generator))
        assert torch.equal(second[i], draws.rand(generator, 17))
