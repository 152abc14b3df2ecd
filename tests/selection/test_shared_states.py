"""Which states of an operator are near those of others."""

import numpy as np

from counterbc.selection.shared_states import shared_states


def test_operators_of_the_same_states_share_most_of_them() -> None:
    rng = np.random.default_rng(0)
    obs, operator = rng.normal(size=(600, 3)), np.repeat([0, 1, 2], 200)
    episode = np.repeat(np.arange(12), 50)
    shared = shared_states(obs, operator, episode)
    assert all(0.85 < shared[operator == o].mean() < 1 for o in range(3))


def test_an_operator_elsewhere_shares_none_and_leaves_the_others_alone() -> None:
    rng = np.random.default_rng(0)
    obs, operator = rng.normal(size=(600, 3)), np.repeat([0, 1, 2], 200)
    obs[operator == 2] += 20
    shared = shared_states(obs, operator, np.repeat(np.arange(12), 50))
    assert not shared[operator == 2].any()
    assert shared[operator != 2].mean() > 0.85


def test_operators_who_all_keep_to_themselves_share_nothing() -> None:
    rng = np.random.default_rng(0)
    operator = np.repeat([0, 1, 2], 200)
    obs = rng.normal(size=(600, 2)) + 30 * operator[:, None]
    shared = shared_states(obs, operator, np.repeat(np.arange(12), 50))
    assert not shared.any()


def test_neighbours_in_the_same_episode_do_not_count() -> None:
    # Two other operators with an episode each, 1 apart; the steps of an episode are 0.01 apart.
    steps = 0.01 * np.arange(10)
    obs = np.concatenate([steps, steps + 1, steps + 1.9])[:, None]
    shared = shared_states(obs, np.repeat([0, 1, 2], 10), np.repeat([0, 1, 2], 10))
    assert shared[20:].all()  # as near to the second as that is to the first
