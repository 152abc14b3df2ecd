"""Arrays of episodes, stacked where they are equally long."""

from __future__ import annotations

import numpy as np
import pytest

from counterbc.diagnosis import equal_lengths as module
from counterbc.diagnosis.equal_lengths import equal_lengths


def test_arrays_of_equal_length_are_stacked_in_their_order() -> None:
    first = [np.full((n, 2), i) for i, n in enumerate((3, 1, 3, 0, 1))]
    second = [x[:, 0] + 10 for x in first]
    stacks = list(equal_lengths(first, second))
    assert [indices.tolist() for indices, *_ in stacks] == [[1, 4], [0, 2]]
    assert [x.shape for _, x, _ in stacks] == [(2, 1, 2), (2, 3, 2)]
    assert [y[:, 0].tolist() for *_, y in stacks] == [[11, 14], [10, 12]]
    assert list(equal_lengths([])) == []


def test_a_stack_has_a_limited_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_ROWS", 8)
    sizes = [len(i) for i, _ in equal_lengths([np.zeros((3, 1))] * 5 + [np.zeros((9, 1))] * 2)]
    assert sizes == [2, 2, 1, 1, 1]


@pytest.mark.parametrize("size", [1, 2, 7, 9])
def test_sums_over_a_stack_have_the_bits_of_sums_over_each_array(size: int) -> None:
    rng = np.random.default_rng(0)
    arrays = [rng.normal(size=(n, size)) for n in (1, 20, 20, 300, 300, 20)]
    for indices, x in equal_lengths(arrays):
        for i, values in zip(indices, x, strict=True):
            np.testing.assert_array_equal(values, arrays[i])
        np.testing.assert_array_equal(x.mean(1), [arrays[i].mean(0) for i in indices])
        np.testing.assert_array_equal(
            (x**2).sum(2).mean(1), [(arrays[i] ** 2).sum(1).mean() for i in indices]
        )
        np.testing.assert_array_equal(x.std(1), [arrays[i].std(0) for i in indices])
