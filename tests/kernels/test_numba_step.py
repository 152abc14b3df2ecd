"""The windows that native steps read, and what they do not compile."""

from __future__ import annotations

import numpy as np
import pytest

native = pytest.importorskip("counterbc.kernels.numba_step", reason="it compiles")


def test_windows_are_ordered_by_time_and_zero_before_the_episode() -> None:
    obs = np.arange(1, 7, dtype=np.float32).reshape(6, 1)
    data = native.Data(
        position=np.zeros((1, 1, 2), np.int64), pairs=np.array([[5, 3, 4]]), obs=obs,
        starts=np.array([0, 0, 0, 3, 3, 3]), actions=np.zeros((6, 1, 1), np.float32), stored=False,
    )  # fmt: skip
    rows, x = np.zeros(2, np.int64), np.full(6, 7, np.float32)
    native.gather(0, np.array([2, 0]), data, rows, 3, x)
    assert rows.tolist() == [4, 5]
    assert x.tolist() == [0, 4, 4, 5, 5, 6]  # two windows: 0 4 5 and 4 5 6
