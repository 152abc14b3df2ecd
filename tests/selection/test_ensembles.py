"""Errors of ensembles, and when an ensemble is taken."""

import numpy as np

from counterbc.selection.clusters import Estimate
from counterbc.selection.ensembles import by_size, pays


def test_errors_of_ensembles_by_hand() -> None:
    residual = np.array([[[1.0]], [[3.0]], [[-1.0]], [[-3.0]]])  # four networks, one action
    assert by_size(residual, (1, 2, 4))[:, 0].tolist() == [5.0, 4.0, 0.0]


def test_an_ensemble_is_taken_if_it_is_better_by_a_standard_error() -> None:
    assert pays([Estimate(0.1, 0.05)])
    assert not pays([Estimate(0.1, 0.15)])
    # The mean of two is 0.05, its standard error 0.06 or 0.042.
    assert not pays([Estimate(0.1, 0.12), Estimate(0.0, 0.0)])
    assert pays([Estimate(0.1, 0.06), Estimate(0.0, 0.06)])
