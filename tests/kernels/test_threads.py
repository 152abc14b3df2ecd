"""The number of threads that torch computes with."""

from __future__ import annotations

import pytest
import torch

from counterbc.kernels.threads import one_thread


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
