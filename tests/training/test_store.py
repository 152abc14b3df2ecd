"""Windows of past observations never cross an episode's start."""

from __future__ import annotations

import numpy as np
import torch

from counterbc.data.demonstrations import Demonstrations, Episode
from counterbc.data.lags import NONE
from counterbc.data.scaling import Scaling
from counterbc.training.store import Store


def count_up(*lengths: int, first: int = 1) -> Demonstrations:
    """Observations 1, 2, 3, … so that a window shows where it came from."""
    episodes, at = [], first
    for n in lengths:
        episodes.append(Episode(obs=np.arange(at, at + n)[:, None], action=np.zeros((n, 1))))
        at += n
    return Demonstrations(tuple(episodes))


def scaling(mean: float = 0.0, scale: float = 1.0, bound: float = 1.0) -> Scaling:
    ones_row = torch.ones(1, 1)
    return Scaling(mean * ones_row, scale * ones_row, -bound * ones_row, bound * ones_row)


def make_store(*datasets: Demonstrations) -> Store:
    return Store.of([(d, scaling(), NONE) for d in datasets], torch.float32, project=False)[0]


def window(store: Store, pair: int, history: int) -> list[float]:
    return store.windows(torch.tensor([[pair]]), history)[0, 0, :, 0].tolist()


def test_windows_stop_at_the_start_of_their_episode_with_zeros_before_it() -> None:
    store = make_store(count_up(3, 6))
    assert window(store, 0, 5) == [0, 0, 0, 0, 1]
    assert window(store, 2, 5) == [0, 0, 1, 2, 3]
    assert window(store, 3, 5) == [0, 0, 0, 0, 4]
    assert window(store, 7, 5) == [4, 5, 6, 7, 8]
    assert window(store, 8, 5) == [5, 6, 7, 8, 9]


def test_windows_do_not_cross_from_one_dataset_into_another() -> None:
    store = make_store(count_up(3), count_up(2, first=11))
    assert window(store, 3, 3) == [0, 0, 11]
    assert window(store, 4, 3) == [0, 11, 12]


def test_what_lies_before_the_start_is_zero_in_the_units_of_the_policy() -> None:
    store, _ = Store.of(
        [(count_up(3), scaling(mean=5, scale=2), NONE)], torch.float32, project=False
    )
    assert window(store, 1, 3) == [0, -2, -1.5]


def test_a_dataset_lies_in_the_store_in_each_of_its_scales() -> None:
    pairs = [(count_up(3), scaling(), NONE), (count_up(3), scaling(mean=1), NONE)]
    store, begins = Store.of(pairs, torch.float32, project=False)
    assert begins == [0, 3]
    assert store.obs.flatten().tolist() == [1, 2, 3, 0, 1, 2]
    assert store.starts.tolist() == [0, 0, 0, 3, 3, 3]


def test_actions_are_scaled_and_brought_into_their_set_only_where_asked() -> None:
    demos = Demonstrations((Episode(obs=np.zeros((3, 1)), action=np.array([[-1], [2], [9]])),))
    for project, actions in ((False, [-0.25, 0.5, 2.25]), (True, [-0.25, 0.5, 1])):
        store, _ = Store.of([(demos, scaling(bound=4), NONE)], torch.float32, project)
        assert store.action.flatten().tolist() == actions


def test_without_history_there_is_no_window() -> None:
    store, _ = Store.of([(count_up(3), scaling(), NONE)], torch.float64, project=False)
    windows = store.windows(torch.tensor([[0, 1]]), 1)
    assert windows.shape == (1, 2, 1)
    assert windows.dtype == torch.float64
