"""Laws of groups, fitted by EM."""

from __future__ import annotations

import numpy as np
import pytest

from counterbc.diagnosis.intent_laws import IntentSearch, _errors, _split, _Sums, likeliest_law
from counterbc.errors import OptionError


def test_two_groups_with_opposite_laws_are_separated() -> None:
    rng = np.random.default_rng(0)
    x = np.concatenate([np.ones((20, 16, 1)), rng.normal(size=(20, 16, 2))], axis=2)
    sign = np.repeat([1.0, -1.0], 10)[:, None, None]
    y = sign * np.ones((20, 16, 1)) + 0.1 * rng.normal(size=(20, 16, 1))
    _, law = likeliest_law(x, y, 2, 0, IntentSearch())
    shares, log_likelihood = law.shares(x, y)
    assert shares.sum(1) == pytest.approx(np.ones(20))
    group = shares.argmax(1)
    assert len(set(group[:10])) == len(set(group[10:])) == 1
    assert group[0] != group[10]
    common_shares = likeliest_law(x, y, 1, 0, IntentSearch())[1].shares(x, y)[1]
    assert log_likelihood.mean() > common_shares.mean()


def test_numbers_are_split_at_their_gap_by_hand() -> None:
    assert _split(np.array([0.0, 0.1, 5.0, 5.2, 0.2]), 2).tolist() == [0, 0, 1, 1, 0]


@pytest.mark.parametrize(("name", "value"), [("max_groups", 0), ("rounds", 0), ("folds", 1)])
def test_a_search_below_its_limits_is_refused(name: str, value: int) -> None:
    with pytest.raises(OptionError, match=f"{name} is {value}; it must be"):
        IntentSearch(**{name: value})


def test_the_weights_of_each_group_solve_its_own_ridge_regression() -> None:
    rng = np.random.default_rng(0)
    x, y, shares = rng.normal(size=(7, 4, 3)), rng.normal(size=(7, 4, 2)), rng.uniform(size=(7, 2))
    weight = _Sums.of(x, y).weights(shares, ridge=0.5)
    errors = _errors(x, y, weight)
    for k in range(2):
        each = np.repeat(shares[:, k], 4)[:, None]
        flat_x, flat_y = x.reshape(28, 3), y.reshape(28, 2)
        gram = flat_x.T @ (each * flat_x) + 0.5 * np.eye(3)
        expected = np.linalg.solve(gram, flat_x.T @ (each * flat_y))
        assert weight[k] == pytest.approx(expected)
        assert errors[:, :, k] == pytest.approx(y - x @ expected)


def test_a_sample_is_random_sorted_and_without_repeats() -> None:
    search = IntentSearch(most_episodes=10)
    np.testing.assert_array_equal(search.sample(10, 0), np.arange(10))
    sample = search.sample(1000, 0)
    assert len(np.unique(sample)) == 10
    assert (np.diff(sample) > 0).all()
    assert not np.array_equal(sample, search.sample(1000, 1))


def test_episodes_in_blocks_have_the_shares_that_they_have_alone() -> None:
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(5003, 2, 3)), rng.normal(size=(5003, 2, 2))
    _, law = likeliest_law(x[:100], y[:100], 2, 0, IntentSearch())
    shares, log = law.shares(x, y)
    for part in (slice(4990, 5000), slice(5000, 5003)):
        expected, expected_log = law.shares(x[part], y[part])
        np.testing.assert_allclose(shares[part], expected)
        np.testing.assert_allclose(log[part], expected_log)
