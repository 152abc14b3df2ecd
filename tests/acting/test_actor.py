"""Actors: memory, averages over shards, and samples."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from counterbc.acting.actor import Acting
from counterbc.data.demonstrations import Demonstrations
from counterbc.errors import (
    DataError,
    OptionError,
)
from tests.fixture_types import Train


def test_bc_rnn_remembers_until_it_is_reset(tiny: Demonstrations, quick: Train) -> None:
    actor = quick(tiny, "bc-rnn")[0].actor()
    first = actor.act(tiny.obs[0])
    second = actor.act(tiny.obs[0])
    assert not np.array_equal(first, second)
    actor.reset()
    assert np.array_equal(actor.act(tiny.obs[0]), first)
    assert np.array_equal(actor.act(tiny.obs[0]), second)


def test_bc_rnn_acts_on_what_it_was_trained_on(tiny: Demonstrations, quick: Train) -> None:
    """The window that an actor builds is the window that training gathers."""
    policies = quick(tiny, "bc-rnn")
    window = torch.zeros(1, 5, 3)
    window[0, 2:] = policies.scales.obs(torch.from_numpy(tiny.obs[:3].copy())[None])[0]
    head = policies.policy.head({k: v[0] for k, v in policies.params.items()}, window)
    actor = policies[0].actor()
    for obs in tiny.obs[:3]:
        action = actor.act(obs)
    expected_action = policies.scales.restore(policies.policy.mean(head)[None])[0, 0].numpy()
    assert action == pytest.approx(expected_action, abs=1e-6)


@pytest.mark.parametrize("options", [{}, {"policy": "flow"}])
def test_windows_of_data_are_those_of_an_episode_which_a_prediction_does_not_change(
    options: dict[str, Any], tiny: Demonstrations, quick: Train
) -> None:
    policies = quick(tiny, "bc", history=3, **options)
    acting = Acting(policies, [0], "mean", seed=0)
    windows, obs = policies.windows(tiny, np.arange(4))
    for t in range(4):
        acting.actions(obs[:, t : t + 1])
        acting.predict(windows[:, :1] + 1, obs[:, :1])
        torch.testing.assert_close(acting.window[:, 0], windows[:, t])


def test_bcnd_acts_by_the_average_of_its_parts(tiny: Demonstrations, quick: Train) -> None:
    policies = quick(tiny, "bcnd", seeds=2)
    obs = policies[1].scales.obs(torch.from_numpy(tiny.obs[:1].copy())[None])[0]
    own_params = {k: v[4:] for k, v in policies.params.items()}
    means = torch.stack(
        [policies.policy.head({k: v[i] for k, v in own_params.items()}, obs)[0] for i in range(4)]
    )
    assert policies[1].actor().act(tiny.obs[0]) == pytest.approx(means.mean(0)[0].numpy(), abs=1e-6)


def test_sampling_is_reproducible_and_differs_from_the_mean(
    tiny: Demonstrations, quick: Train
) -> None:
    policy = quick(tiny, "bc")[0]
    first_actor, same_seed, other_seed = (policy.actor("sample", seed=s) for s in (0, 0, 1))
    first = first_actor.act(tiny.obs[0])
    assert np.array_equal(first, same_seed.act(tiny.obs[0]))
    assert not np.array_equal(first, other_seed.act(tiny.obs[0]))
    assert not np.array_equal(first, policy.actor().act(tiny.obs[0]))


def test_an_actor_is_one_member_and_reads_one_observation(
    tiny: Demonstrations, quick: Train
) -> None:
    policies = quick(tiny, "bc", seeds=2)
    with pytest.raises(OptionError, match=r"there are 2; take policies\[0\]"):
        policies.actor()
    with pytest.raises(DataError, match=r"obs has shape \(4,\); this policy reads \(3,\)"):
        policies[0].actor().act(np.zeros(4))
    with pytest.raises(OptionError, match="unknown way of acting 'best'; allowed: mean, sample"):
        policies[0].actor("best")  # type: ignore[arg-type]  # on purpose
    with pytest.raises(IndexError, match="member 2 does not exist; there are 0 … 1"):
        policies[2]
