"""Errors of ensembles, and when an ensemble is taken."""

import numpy as np

from counterbc.selection.clusters import Estimate
from counterbc.selection.ensembles import by_size, pays, smallest_as_good


def test_errors_of_ensembles_by_hand() -> None:
    residual = np.array([[[1.0]], [[3.0]], [[-1.0]], [[-3.0]]])  # four networks, one action
    assert by_size(residual, (1, 2, 4))[:, 0].tolist() == [5.0, 4.0, 0.0]


def test_an_ensemble_is_taken_if_it_is_better_by_a_standard_error() -> None:
    assert pays([Estimate(0.1, 0.05)])
    assert not pays([Estimate(0.1, 0.15)])
    # The mean of two is 0.05, its standard error 0.06 or 0.042.
    assert not pays([Estimate(0.1, 0.12), Estimate(0.0, 0.0)])
    assert pays([Estimate(0.1, 0.06), Estimate(0.0, 0.06)])


def test_the_smallest_size_as_good_as_the_best_is_taken() -> None:
    def chosen(errors: dict[int, float], se: float) -> int:
        sizes = [*errors]

        def gains(i: int, j: int) -> list[Estimate]:
            return [Estimate(errors[sizes[i]] - errors[sizes[j]], se if i != j else 0.0)]

        return smallest_as_good(sizes, gains)

    assert chosen({1: 0.5, 2: 0.42, 4: 0.4}, se=0.03) == 2
    assert chosen({1: 0.5, 2: 0.42, 4: 0.4}, se=0.01) == 4
    assert chosen({1: 0.5, 2: 0.42, 4: 0.4}, se=0.2) == 1
    assert chosen({1: 0.5, 2: 0.40, 4: 0.45}, se=0.01) == 2
    assert [chosen({1: 0.5, 4: e}, se=0.03) for e in (0.46, 0.48, 0.6)] == [4, 1, 1]
