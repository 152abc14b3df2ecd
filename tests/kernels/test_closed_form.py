"""Which cases native code can compute."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from counterbc.kernels.closed_form import (
    layer_shapes,
    layers,
    loss_misfit,
    native_misfit,
    step_misfit,
    weights_misfit,
)
from counterbc.kernels.step_kernel import StepCase
from counterbc.policies import Flow, GaussianGRU, GaussianMLP, Mixture
from counterbc.weightings import PolicyLikelihood, StateExpertise, Uniform

CASE = StepCase(
    policy=GaussianMLP(hidden=(5, 7)),
    weighting=PolicyLikelihood(),
    obs_size=3,
    action_size=2,
    samples=51,
    in_memory=True,
    networks=4,
    batch=10,
    device="cpu",
    dtype=torch.float32,
)


def test_the_common_case_fits() -> None:
    assert loss_misfit(CASE, "cpu") is None
    assert step_misfit(CASE) is None


@pytest.mark.parametrize(
    ("case", "reason"),
    [
        (replace(CASE, device="cuda"), "runs on cpu and this training is on cuda"),
        (replace(CASE, dtype=torch.float64), "in float32 and this training is in float64"),
        (replace(CASE, weighting=Uniform()), "Uniform has no closed form with 51 action"),
        (replace(CASE, censored=True), "does not compute the likelihood of censored actions"),
        (replace(CASE, policy=Flow(hidden=(5,))), "cannot train a Flow"),
        (replace(CASE, policy=GaussianMLP(ema_share=0.1)), "keeps no moving average"),
    ],
)
def test_a_loss_that_does_not_fit_has_a_reason(case: StepCase, reason: str) -> None:
    assert reason in str(loss_misfit(case, "cpu"))


@pytest.mark.parametrize(
    ("case", "reason"),
    [
        (replace(CASE, policy=GaussianMLP(reach=2)), "unlike the policy GaussianMLP"),
        (replace(CASE, policy=GaussianGRU()), "unlike the policy GaussianGRU with history 5"),
        (replace(CASE, in_memory=False), "not kept in memory"),
    ],
)
def test_a_step_that_does_not_fit_has_a_reason(case: StepCase, reason: str) -> None:
    assert reason in str(step_misfit(case))


def test_a_kernel_fits_the_weights_that_it_computes() -> None:
    state_case = replace(CASE, samples=1, weighting=StateExpertise())
    assert native_misfit(state_case, "cpu") is None
    assert weights_misfit(state_case, ("column", "state network")) is None
    assert "does not compute the weights of StateExpertise" in str(loss_misfit(state_case, "cpu"))


def test_a_recurrent_policy_fits_the_kernels_that_train_them() -> None:
    case = replace(CASE, policy=GaussianGRU(hidden=(5, 7)))
    assert step_misfit(case, recurrent=True) is None
    assert layers(case) == ["layer0.weight", "layer0.bias", "head.weight", "head.bias"]


def test_one_action_a_pair_needs_no_counterfactuals_in_memory() -> None:
    assert step_misfit(replace(CASE, samples=1, in_memory=False)) is None


def test_the_shapes_are_those_of_weights_and_biases_in_turn() -> None:
    assert layers(CASE)[:2] == ["layer0.weight", "layer0.bias"]
    assert layer_shapes(CASE) == [(3, 5), (5,), (5, 7), (7,), (7, 4), (4,)]
    mixture = replace(CASE, policy=Mixture(hidden=(5,), modes=3))
    assert layer_shapes(mixture)[2:] == [(5, 3 + 2 * 3 * 2), (15,)]
