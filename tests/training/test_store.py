"""Windows of past observations never cross an episode's start."""

from __future__ import annotations

import numpy as np
import torch

from counterbc.demonstrations import Demonstrations, Episode
from counterbc.normalization import Normalization
from counterbc.training.store import Store


def numbered(*lengths: int, first: int = 1) -> Demonstrations:
    """Observations 1, 2, 3, … so that a window shows where it came from."""
    episodes, at = [], first
    for n in lengths:
        episodes.append(Episode(obs=np.arange(at, at + n)[:, None], action=np.zeros((n, 1))))
        at += n
    return Demonstrations(tuple(episodes))


def raw(rows: int = 1) -> Normalization:
    zero, one = torch.zeros(rows, 1), torch.ones(rows, 1)
    return Normalization(zero, one, -one, one)


def window(store: Store, pair: int, history: int) -> list[float]:
    return store.windows(torch.tensor([[pair]]), history, raw())[0, 0, :, 0].tolist()


def test_windows_stop_at_the_start_of_their_episode_with_zeros_before_it() -> None:
    store, _ = Store.of([numbered(3, 6)], torch.float32)
    assert window(store, 0, 5) == [0, 0, 0, 0, 1]
    assert window(store, 2, 5) == [0, 0, 1, 2, 3]
    assert window(store, 3, 5) == [0, 0, 0, 0, 4]
    assert window(store, 7, 5) == [4, 5, 6, 7, 8]
    assert window(store, 8, 5) == [5, 6, 7, 8, 9]


def test_windows_do_not_cross_from_one_dataset_into_another() -> None:
    store, begins = Store.of([numbered(3), numbered(2, first=11)], torch.float32)
    assert begins == [0, 3]
    assert window(store, 3, 3) == [0, 0, 11]
    assert window(store, 4, 3) == [0, 11, 12]


def test_what_lies_before_the_start_is_zero_in_the_units_of_the_policy() -> None:
    store, _ = Store.of([numbered(3)], torch.float32)
    scales = Normalization(
        torch.full((1, 1), 5.0), torch.full((1, 1), 2.0), -torch.ones(1, 1), torch.ones(1, 1)
    )
    seen = store.windows(torch.tensor([[1]]), 3, scales)
    assert seen.flatten().tolist() == [0, -2, -1.5]


def test_each_network_reads_with_scales_of_its_own() -> None:
    store, _ = Store.of([numbered(3)], torch.float32)
    scales = Normalization(
        torch.tensor([[0.0], [1.0]]), torch.ones(2, 1), -torch.ones(2, 1), torch.ones(2, 1)
    )
    pairs = torch.tensor([[0, 2], [0, 2]])
    assert store.windows(pairs, 1, scales).squeeze(-1).tolist() == [[1, 3], [0, 2]]
    assert store.windows(pairs, 2, scales)[1, 1].flatten().tolist() == [1, 2]


def test_without_history_there_is_no_window() -> None:
    store, _ = Store.of([numbered(3)], torch.float64)
    seen = store.windows(torch.tensor([[0, 1]]), 1, raw())
    assert seen.shape == (1, 2, 1)
    assert store.obs.dtype == torch.float64
