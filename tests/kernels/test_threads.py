"""The threads that training steps are computed with."""

from __future__ import annotations

import threading
import time

import pytest
import torch

from counterbc.data.cores import cores
from counterbc.errors import SpinningThreads
from counterbc.kernels import threads
from counterbc.kernels.threads import (
    at_most_threads,
    one_thread,
    share,
    threads_for,
    warn_spinning,
)


def test_the_number_of_threads_is_restored() -> None:
    torch.set_num_threads(2)
    with one_thread():
        assert torch.get_num_threads() == 1
    assert torch.get_num_threads() == 2


def test_the_number_of_threads_is_restored_after_an_error() -> None:
    torch.set_num_threads(2)
    with pytest.raises(ZeroDivisionError), one_thread():
        _ = 1 / 0
    assert torch.get_num_threads() == 2


def test_more_threads_than_there_are_stay_as_few() -> None:
    torch.set_num_threads(2)
    with at_most_threads(5):
        assert torch.get_num_threads() == 2


def test_torch_steps_small_populations_with_one_thread() -> None:
    torch.set_num_threads(8)
    assert threads_for(1e3) == 1
    assert threads_for(9e6) == 2
    assert threads_for(1e12) == 8


def test_threads_that_spin_on_a_busy_machine_are_worth_a_warning(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(threads, "let_threads_sleep", lambda: True)
    with pytest.warns(SpinningThreads, match="import counterbc first"):
        warn_spinning(2, load=9.0 * cores())


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    ("too_late", "count", "load"), [(False, 2, 9.0), (True, 1, 9.0), (True, 2, 0.5)]
)
def test_threads_that_sleep_or_find_a_core_are_not(
    monkeypatch: pytest.MonkeyPatch, too_late: bool, count: int, load: float
) -> None:
    monkeypatch.setattr(threads, "let_threads_sleep", lambda: too_late)
    warn_spinning(count, load=load * cores())


@pytest.mark.parametrize("workers", [1, 2, 3])
@pytest.mark.parametrize("count", [1, 2, 50, 101])
def test_every_thing_is_computed_once(workers: int, count: int) -> None:
    torch.set_num_threads(workers)
    calls: list[tuple[int, int]] = []
    share(lambda begin, end: calls.append((begin, end)), count)
    assert sorted(i for begin, end in calls for i in range(begin, end)) == list(range(count))


def test_a_thread_that_is_held_up_leaves_the_rest_to_the_others() -> None:
    torch.set_num_threads(2)
    slices_taken, held_up = [], threading.Event()

    def compute(begin: int, end: int) -> None:
        if begin == 0:  # until all other slices are done
            assert held_up.wait(60)
        slices_taken.append(begin)
        if len(slices_taken) == 15:
            held_up.set()

    share(compute, 16)
    assert slices_taken[-1] == 0
    assert sorted(slices_taken) == list(range(16))


def test_small_work_stays_in_its_thread() -> None:
    torch.set_num_threads(2)
    calls: list[tuple[int, int, int]] = []
    share(lambda *ends: calls.append((*ends, threading.get_ident())), 15, smallest=8)
    assert calls == [(0, 15, threading.get_ident())]


def test_an_error_in_any_thread_is_raised() -> None:
    torch.set_num_threads(2)

    def compute(begin: int, end: int) -> None:
        time.sleep(0.01)
        if begin == 3:
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        share(compute, 16)
