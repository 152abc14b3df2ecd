"""Heavy-tailed counterfactuals: their law, and which degrees of freedom there are."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from counterbc.data.feasible import Everywhere
from counterbc.errors import OptionError
from counterbc.supports import StudentT
from tests.supports.placing import COUNT, many


@pytest.mark.parametrize("df", [2, 4, 10])
def test_draws_follow_the_distribution_of_student(df: int) -> None:
    offset = many(StudentT(COUNT, df), [0.1, -0.2], [0.4, 0.1], Everywhere()) - [0.1, -0.2]
    for d, scale in enumerate((0.4, 0.1)):
        assert stats.kstest(offset[:, d] / scale, stats.t(df).cdf).pvalue > 1e-3


def test_an_outlier_is_one_in_all_dimensions() -> None:
    offset = np.abs(many(StudentT(COUNT, 2), [0.0, 0.0], 1.0, Everywhere()))
    far = offset[:, 0] > 4
    assert np.median(offset[far, 1]) > 2 * np.median(offset[~far, 1])


@pytest.mark.parametrize("df", [0, 3, -2])
def test_odd_or_no_degrees_of_freedom_are_refused(df: int) -> None:
    with pytest.raises(OptionError, match=f"df is {df}; it must be even and 2 or more"):
        StudentT(df=df)
