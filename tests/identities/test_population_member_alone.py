"""A member of a population is the same member trained alone."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pytest
import torch

from counterbc.data.demonstrations import Demonstrations
from counterbc.methods import METHODS, Method
from counterbc.policies import GaussianMLP, Params
from counterbc.supports import Ball
from counterbc.weightings import Batch, Weighting
from tests.equality import assert_near, same
from tests.fixture_types import Make, Train

every_method = pytest.mark.parametrize("method", list(METHODS))


@every_method
def test_the_same_call_twice_gives_the_same_bits_and_touches_no_global_generator(
    method: str, tiny: Demonstrations, quick: Train
) -> None:
    before = torch.get_rng_state(), str(np.random.get_state(legacy=False))
    first = quick(tiny, method, seeds=2)
    first[0].actor("sample").act(np.zeros(3))
    assert torch.equal(torch.get_rng_state(), before[0])
    assert str(np.random.get_state(legacy=False)) == before[1]
    torch.rand(1)
    assert same(first, quick(tiny, method, seeds=2))


@every_method
def test_a_member_agrees_with_the_same_member_alone_for_50_steps(
    method: str, tiny: Demonstrations, quick: Train
) -> None:
    together = quick(tiny, method, seeds=3, steps=50 // METHODS[method].rounds)
    solo = quick(tiny, method, seeds=[1], steps=50 // METHODS[method].rounds)
    assert_near(together[1], solo, within=1e-5)


@every_method
def test_a_member_agrees_with_the_same_member_alone_over_a_whole_training_in_float64(
    method: str, tiny: Demonstrations, quick: Train
) -> None:
    steps = 400 // METHODS[method].rounds
    together = quick(tiny, method, seeds=3, steps=steps, dtype=torch.float64)
    solo = quick(tiny, method, seeds=[2], steps=steps, dtype=torch.float64)
    assert_near(together[2], solo, within=1e-6)


@every_method
def test_a_member_with_a_dataset_of_its_own_agrees_with_itself_alone(
    method: str, make_demos: Make, quick: Train
) -> None:
    datasets = [make_demos(seed=s) for s in range(3)]
    together = quick(datasets, method, seeds=[4, 5, 6], steps=40, dtype=torch.float64)
    assert [m.dataset for m in together.members] == [0, 1, 2]
    solo = quick(datasets[1], method, seeds=[5], steps=40, dtype=torch.float64)
    assert_near(together[1], solo, within=1e-6)
    assert torch.equal(together[1].scales.obs_mean, solo.scales.obs_mean)


def test_a_member_agrees_with_itself_among_other_radii(tiny: Demonstrations, quick: Train) -> None:
    options = {"steps": 50, "dtype": torch.float64}
    together = quick(tiny, "counter-bc", seeds=2, radii=[0.1, 0.5], **options)
    solo = quick(tiny, "counter-bc", seeds=[1], radius=0.5, **options)
    assert together.members[3] == solo.members[0]
    assert_near(together[3], solo, within=1e-6)
    difference = together[1].params["head.weight"] - together[3].params["head.weight"]
    assert difference.abs().max().item() > 1e-3


def test_counter_bc_does_not_depend_on_whether_counterfactuals_are_kept(
    tiny: Demonstrations, quick: Train
) -> None:
    exact = {"seeds": 2, "dtype": torch.float64}
    in_memory = quick(tiny, "counter-bc", **exact)
    assert same(in_memory, quick(tiny, "counter-bc", **exact, memory=0.0))
    in_memory = quick(tiny, "counter-bc", seeds=2)  # by native steps, which round differently
    assert_near(in_memory, quick(tiny, "counter-bc", seeds=2, memory=0.0), within=1e-5)
    assert not same(in_memory, quick(tiny, "counter-bc", seeds=2, resample=True))


@dataclass(frozen=True)
class SingleNetwork(Weighting):
    """Counter-BC as a user would write it: for one network, without a closed form."""

    def weights(self, params: Params, batch: Batch, log_pi: torch.Tensor) -> torch.Tensor:
        assert log_pi.ndim == 2
        return log_pi.softmax(1)


@dataclass(frozen=True)
class OneNetwork(GaussianMLP):
    """A policy written for one network."""

    stacks: ClassVar[bool] = False

    def head(self, params: Params, obs: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        assert obs.ndim == 2
        return super().head(params, obs)


@pytest.mark.parametrize(
    "own_method",
    [
        Method(support=Ball(), weighting=SingleNetwork()),
        replace(METHODS["counter-bc"], policy=OneNetwork()),
        Method(support=Ball(), weighting=SingleNetwork(), policy=OneNetwork()),
    ],
    ids=["weighting", "policy", "both"],
)
def test_what_is_written_for_one_network_serves_a_population(
    own_method: Method, tiny: Demonstrations, quick: Train
) -> None:
    population = quick(tiny, "counter-bc", seeds=3, dtype=torch.float64)
    assert_near(quick(tiny, own_method, seeds=3, dtype=torch.float64), population, within=1e-9)
