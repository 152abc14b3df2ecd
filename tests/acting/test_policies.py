"""Populations of policies: their members, and how they are saved."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from counterbc.acting.policies import Policies
from counterbc.data.demonstrations import Demonstrations
from counterbc.methods import METHODS
from tests.equality import same
from tests.fixture_types import Train

every_method = pytest.mark.parametrize("method", list(METHODS))


@every_method
def test_one_member_of_a_population_is_a_population_of_one(
    method: str, tiny: Demonstrations, quick: Train
) -> None:
    policies = quick(tiny, method, seeds=3)
    obs = np.array([0.1, 0.2, 0.3])
    member_actions = [p.actor().act(obs) for p in policies]
    assert len({a.tobytes() for a in member_actions}) == 3
    assert policies[-1].members == policies[2].members
    assert np.array_equal(policies[1:][0].actor().act(obs), member_actions[1])
    assert policies[1].curve is not None
    assert policies[1].curve.loss.shape[1] == 1


def test_a_member_is_chosen_by_any_integer(tiny: Demonstrations, quick: Train) -> None:
    policies = quick(tiny, "bc", seeds=2)
    assert policies[np.int64(1)].members == policies[1].members  # type: ignore[index]  # on purpose
    assert policies[np.int64(0)].members == policies[0].members  # type: ignore[index]  # on purpose


@every_method
def test_what_is_saved_acts_as_before_to_the_bit(
    method: str, tiny: Demonstrations, quick: Train, tmp_path: Path
) -> None:
    policies = quick(tiny, method, seeds=2)
    policies.save(tmp_path / "run")
    loaded_policies = Policies.load(tmp_path / "run")
    assert same(policies, loaded_policies)
    assert loaded_policies.members == policies.members
    assert repr(loaded_policies) == repr(policies)
    for act in ("mean", "sample"):
        before, after = (p[1].actor(act) for p in (policies, loaded_policies))
        for obs in tiny.obs[:6]:
            assert np.array_equal(before.act(obs), after.act(obs))


def test_float64_policies_act_and_are_saved_too(
    tiny: Demonstrations, quick: Train, tmp_path: Path
) -> None:
    policies = quick(tiny, "bc", seeds=2, dtype=torch.float64)
    action = policies[0].actor().act(tiny.obs[0])
    policies.save(tmp_path / "run")
    assert np.array_equal(Policies.load(tmp_path / "run")[0].actor().act(tiny.obs[0]), action)
