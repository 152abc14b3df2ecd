"""ILEED: the mixture behind it, who is found expert, and where that is kept."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import Tensor

from counterbc.data.demonstrations import Demonstrations
from counterbc.data.merge import merge
from counterbc.data.scaling import Scaling
from counterbc.diagnosis import expertise
from counterbc.errors import DataError
from counterbc.losses import generalized_loss
from counterbc.policies import Params
from counterbc.training.store import Store
from counterbc.weightings import Batch, OperatorExpertise
from counterbc.weightings.operator_expertise import rho_logit
from tests.fixture_types import Make, Train


def crowd(make_demos: Make, seed: int = 0) -> Demonstrations:
    """Three operators who err by at most 0.02, 0.4 and 1.2."""
    shards = []
    for i, noise in enumerate((0.02, 0.4, 1.2)):
        demos = make_demos(episodes=8, seed=10 * seed + i, noise=noise)
        episodes = tuple(replace(e, operator=f"up to {noise:g}") for e in demos.episodes)
        shards.append(replace(demos, episodes=episodes))
    return merge(shards)


def batch_of(log_uniform: float, operator: list[int]) -> Batch:
    count = len(operator)
    state = torch.linspace(-1, 1, 3 * count, dtype=torch.float64).view(count, 3)
    columns = {
        "operator": torch.tensor(operator),
        "log_uniform": torch.full((count,), log_uniform, dtype=torch.float64),
    }
    return Batch(state, state, torch.zeros(count, 1, 2), columns)


def params_of(weighting: OperatorExpertise, operators: int) -> Params:
    params = weighting.init(torch.Generator().manual_seed(0), 3, operators)
    params["operator"] = torch.linspace(-1, 1, params["operator"].numel()).view_as(
        params["operator"]
    )
    return {k: v.double().requires_grad_() for k, v in params.items()}


def test_r_is_the_chance_that_the_policy_and_not_the_uniform_showed_the_action() -> None:
    weighting = OperatorExpertise()
    params = weighting.init(torch.Generator(), 3, 2)  # ρ = ½
    batch = batch_of(math.log(0.25), [0, 1])
    batch = batch._replace(state=batch.state.float())
    log_pi = torch.tensor([[math.log(0.75)], [math.log(0.25)]])
    weights = weighting.weights(params, batch, log_pi)
    assert weights.flatten().tolist() == pytest.approx([0.75, 0.5])
    loss = weighting.auxiliary(params, batch, log_pi)
    assert loss.item() == pytest.approx(-(math.log(0.5) + math.log(0.25)) / 2)


def test_both_losses_together_descend_the_likelihood_of_the_mixture() -> None:
    weighting = OperatorExpertise(hidden=(8,))
    params = params_of(weighting, 3)
    batch = batch_of(math.log(0.3), [0, 2, 1, 2])
    log_pi = torch.tensor([[0.5], [-3.0], [1.0], [-0.2]], dtype=torch.float64).requires_grad_()
    rho = rho_logit(params, batch.state, batch.columns["operator"]).sigmoid()
    mixture = -(rho * log_pi.exp() + (1 - rho) * 0.3).log().mean()
    our_loss = generalized_loss(log_pi, weighting.weights(params, batch, log_pi)).mean()
    our_loss = our_loss + weighting.auxiliary(params, batch, log_pi)
    variables: list[Tensor] = [log_pi, *params.values()]
    torch.testing.assert_close(
        torch.autograd.grad(our_loss, variables), torch.autograd.grad(mixture, variables)
    )


def test_operators_begin_equal() -> None:
    params = OperatorExpertise().init(torch.Generator(), 3, 4)
    state = torch.randn(5, 3, generator=torch.Generator().manual_seed(0))
    assert rho_logit(params, state, torch.tensor([0, 1, 2, 3, 0])).unique().tolist() == [0.0]


@pytest.mark.parametrize(
    ("action_set", "is_scaled", "volume"),
    [("box", True, 8), ("ball", True, 4 / 3 * math.pi), ("box", False, 2 * 4 * 6)],
)
def test_the_uniform_is_that_of_the_feasible_set_in_the_units_of_the_policy(
    action_set: str, is_scaled: bool, volume: float, make_demos: Make
) -> None:
    high = np.array([1.0, 2.0, 3.0])
    demos = make_demos(action_size=3, action_low=-high, action_high=high, action_set=action_set)
    scales = Scaling.fit(demos, True, is_scaled)
    store, _ = Store.of([(demos, scales, (0.0,))], torch.float64, project=False)
    assert store.facts["log_volume"].exp().unique().item() == pytest.approx(volume)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::counterbc.errors.InfeasibleActions")
def test_ileed_finds_out_who_is_expert_and_becomes_surer_than_bc(
    make_demos: Make, quick: Train
) -> None:
    datasets = [crowd(make_demos, seed) for seed in range(3)]
    policies = quick(datasets, "ileed", seeds=3, steps=1500, hidden=(32, 32))
    rho = expertise(policies, datasets)
    assert list(rho) == ["up to 0.02", "up to 0.4", "up to 1.2"]
    best, middle, worst = rho.values()
    assert best.shape == (3,)
    assert bool((best > middle).all())
    assert bool((middle > worst).all())
    assert best.min() > 0.8
    bc = quick(datasets, "bc", seeds=3, steps=1500, hidden=(32, 32))
    obs = torch.tensor(datasets[0].obs)[None]
    spread = [p[0].policy.head(p[0].params, p[0].scales.obs(obs))[1] for p in (policies, bc)]
    assert spread[0].median() < spread[1].median()


def test_ileed_refuses_pairs_of_unknown_operators(make_demos: Make, quick: Train) -> None:
    demos = make_demos()
    first, *rest = demos.episodes
    unnamed = replace(demos, episodes=(replace(first, operator=None), *rest))
    for datasets in (unnamed, [demos, unnamed]):
        with pytest.raises(DataError, match="this method needs operators"):
            quick(datasets, "ileed", seeds=2)
