"""Several modes in one policy, against the Gaussian and against torch's own mixture."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.distributions import Categorical, Independent, MixtureSameFamily, Normal

from counterbc.acting.policies import Policies
from counterbc.cli import main
from counterbc.data.demonstrations import Demonstrations
from counterbc.errors import OptionError
from counterbc.methods import METHODS
from counterbc.policies import GaussianMLP, Mixture, Params
from counterbc.settings import Settings
from tests.fixture_types import Train
from tests.policies.numbers import (
    check_gradients,
    check_stack,
    double,
    generator,
    normal,
)

every_method = pytest.mark.parametrize("method", list(METHODS))


def made_up_head() -> tuple[Tensor, Tensor, Tensor]:
    """Of 6 states, 3 modes and 2 actions."""
    log_w = normal(6, 3).log_softmax(-1)
    return log_w, normal(6, 3, 2, seed=1), 0.5 * normal(6, 3, 2, seed=2)


def two_modes(share: float) -> tuple[Tensor, Tensor, Tensor]:
    """−0.6 with this share, else 0.6; both of spread 0.1."""
    log_w = torch.tensor([[share, 1 - share]]).log()
    return log_w, torch.tensor([[[-0.6], [0.6]]]), torch.full((1, 2, 1), math.log(0.1))


def test_log_prob_is_that_of_torch() -> None:
    log_w, mean, log_std = made_up_head()
    actions = normal(6, 11, 2, seed=3)
    modes = Independent(Normal(mean, log_std.exp()), 1)
    torchs = MixtureSameFamily(Categorical(logits=log_w), modes)
    log_probs = Mixture(modes=3).log_prob((log_w, mean, log_std), actions)
    assert log_probs.shape == (6, 11)
    torch.testing.assert_close(
        log_probs, torchs.log_prob(actions.transpose(0, 1)).T, rtol=1e-12, atol=1e-12
    )


def test_one_mode_is_the_gaussian_mlp() -> None:
    single, gaussian = Mixture(hidden=(7, 5), modes=1), GaussianMLP(hidden=(7, 5))
    params = double(single.init(generator(), 4, 2))
    rest = params | {k: params[k][..., 1:] for k in ("head.weight", "head.bias")}  # less its logit
    obs, actions = normal(9, 4), normal(9, 6, 2, seed=1)
    heads = single.head(params, obs), gaussian.head(rest, obs)
    torch.testing.assert_close(
        single.log_prob(heads[0], actions),
        gaussian.log_prob(heads[1], actions),
        rtol=1e-12,
        atol=1e-12,
    )
    torch.testing.assert_close(
        single.cross_entropy(heads[0], actions), gaussian.cross_entropy(heads[1], actions)
    )
    torch.testing.assert_close(
        single.mean(heads[0]), gaussian.mean(heads[1]), rtol=1e-12, atol=1e-12
    )
    u = torch.rand(9, 2, generator=generator(), dtype=torch.float64)
    torch.testing.assert_close(single.sample(heads[0], u), gaussian.sample(heads[1], u))


def test_gradients_agree_with_finite_differences() -> None:
    policy = Mixture(hidden=(5,), modes=3)
    params = double(policy.init(generator(), 2, 2))
    obs, actions = normal(4, 2), normal(4, 5, 2, seed=1)

    def loss(params: Params) -> Tensor:
        return policy.cross_entropy(policy.head(params, obs), actions).sum()

    check_gradients(params, loss, atol=1e-6)


def test_stacked_and_mapped_networks_equal_a_loop_in_value_and_gradient() -> None:
    policy = Mixture(hidden=(8, 8), modes=3, history=2)
    networks = [double(policy.init(generator(s), 3, 2)) for s in range(4)]
    obs, actions = normal(4, 5, 2, 3), normal(4, 5, 6, 2, seed=1)
    u = torch.rand(4, 5, 2, generator=generator(), dtype=torch.float64)

    def outputs(params: Params, obs: Tensor, actions: Tensor, u: Tensor) -> tuple[Tensor, ...]:
        head = policy.head(params, obs)
        return policy.log_prob(head, actions), policy.sample(head, u), policy.mean(head)

    check_stack(networks, outputs, obs, actions, u, mapped=True)


def test_the_mean_action_is_that_of_the_heaviest_mode_and_never_between_modes() -> None:
    policy = Mixture(modes=2)
    assert policy.mean(two_modes(0.4)).item() == pytest.approx(0.6)
    assert policy.mean(two_modes(0.6)).item() == pytest.approx(-0.6)


def test_the_first_uniform_number_chooses_the_mode_and_the_rest_of_it_the_quantile() -> None:
    policy, head = Mixture(modes=2), two_modes(0.25)
    for u, expected_sample in (
        (0.125, -0.6),  # the middle of the first quarter: the median of the first mode
        (0.625, 0.6),  # the middle of the rest
        (0.25 * 0.8413447, -0.5),  # one standard deviation above the first mean
        (0.25 + 0.75 * 0.8413447, 0.7),
    ):
        samples = policy.sample(head, torch.tensor([[u]])).item()
        assert samples == pytest.approx(expected_sample, abs=1e-5)


@pytest.mark.parametrize("u", [2.0**-24, 0.25, 1 - 2.0**-24])
def test_samples_are_finite_at_the_ends_of_modes_also_of_one_without_weight(u: float) -> None:
    _, mean, log_std = two_modes(0.25)
    for log_w in (torch.tensor([[0.25, 0.75]]).log(), torch.tensor([[0.0, -200.0]])):
        samples = Mixture(modes=2).sample((log_w, mean, log_std), torch.tensor([[u]]))
        assert bool(samples.isfinite().all())


def test_samples_have_the_shares_and_spreads_of_the_modes() -> None:
    n = 40_000
    head = tuple(x.expand(n, *x.shape[1:]) for x in two_modes(0.25))
    samples = Mixture(modes=2).sample(head, torch.rand(n, 1, generator=generator()))
    left_samples = samples[samples < 0]
    assert len(left_samples) / n == pytest.approx(0.25, abs=4 * math.sqrt(0.25 * 0.75 / n))
    assert left_samples.mean().item() == pytest.approx(-0.6, abs=4 * 0.1 / math.sqrt(n / 4))
    assert left_samples.std().item() == pytest.approx(0.1, abs=4 * 0.1 / math.sqrt(n / 2))


def test_a_sample_carries_the_gradient_of_its_mode_alone() -> None:
    log_w, mean, log_std = (x.clone().requires_grad_() for x in two_modes(0.25))
    samples = Mixture(modes=2).sample((log_w, mean, log_std), torch.tensor([[0.125]]))
    (by_mean,) = torch.autograd.grad(samples, mean)
    assert by_mean.flatten().tolist() == [1, 0]


def test_modes_begin_apart_in_every_dimension() -> None:
    policy = Mixture(hidden=(8,), modes=5)
    params = policy.init(generator(), 3, 2)
    params["head.weight"].zero_()
    log_w, mean, log_std = policy.head(params, torch.zeros(1, 3))
    assert log_w.exp().tolist()[0] == pytest.approx([0.2] * 5)
    for column in mean[0].T:
        assert column.sort().values.tolist() == pytest.approx([-0.8, -0.4, 0, 0.4, 0.8])
    assert log_std.unique().tolist() == pytest.approx([-math.log(5)])


def test_weights_are_a_function_of_the_generator() -> None:
    first, same_seed, other_seed = (Mixture().init(generator(s), 3, 2) for s in (0, 0, 1))
    assert all(torch.equal(first[k], same_seed[k]) for k in first)
    assert not torch.equal(first["head.bias"], other_seed["head.bias"])


@every_method
def test_every_method_trains_a_mixture_that_acts_and_is_saved(
    method: str, tiny: Demonstrations, quick: Train, tmp_path: Path
) -> None:
    options = {"policy": "mixture", "modes": 3}
    policies = quick(tiny, method, seeds=2, steps=60 // METHODS[method].rounds, **options)
    assert isinstance(policies.policy, Mixture)
    assert policies.policy.modes == 3
    assert policies.policy.history == METHODS[method].policy.history
    assert policies.curve is not None
    assert bool(policies.curve.loss.isfinite().all())
    policies.save(tmp_path / "run")
    loaded_policies = Policies.load(tmp_path / "run")
    assert loaded_policies.policy == policies.policy
    for act in ("mean", "sample"):
        before, after = (p[1].actor(act) for p in (policies, loaded_policies))
        for obs in tiny.obs[:6]:
            action = before.act(obs)
            assert np.array_equal(action, after.act(obs))
            assert bool((np.abs(action) <= 1).all())


@every_method
def test_a_member_agrees_with_the_same_member_alone(
    method: str, tiny: Demonstrations, quick: Train
) -> None:
    steps = 50 // METHODS[method].rounds
    together = quick(tiny, method, seeds=3, steps=steps, policy="mixture", dtype=torch.float64)
    solo = quick(tiny, method, seeds=[1], steps=steps, policy="mixture", dtype=torch.float64)
    for name, value in solo.params.items():
        torch.testing.assert_close(together[1].params[name], value, rtol=1e-6, atol=1e-6)


def test_counter_bc_with_zero_radius_equals_bc_for_a_mixture_too(
    tiny: Demonstrations, quick: Train
) -> None:
    options = {"policy": "mixture", "steps": 30, "dtype": torch.float64}
    bc = quick(tiny, "bc", **options)
    zero = quick(tiny, "counter-bc", radius=0.0, counterfactuals=3, **options)
    for name, value in bc.params.items():
        torch.testing.assert_close(zero.params[name], value, rtol=1e-6, atol=1e-6)


def test_settings_choose_the_family_and_keep_layers_and_history() -> None:
    method = replace(METHODS["bc-rnn"], policy=replace(METHODS["bc-rnn"].policy, hidden=(9, 9)))
    applied_policy = Settings(policy="mixture", modes=2).apply(method).policy
    assert applied_policy == Mixture(hidden=(9, 9), history=5, modes=2)
    assert Settings(policy="gaussian-gru").apply(METHODS["bc"]).policy.history == 5
    assert Settings(policy="gaussian-mlp").apply(METHODS["bc"]) == METHODS["bc"]


def test_modes_without_a_mixture_are_refused() -> None:
    with pytest.raises(OptionError, match="a GaussianMLP has one; choose the policy mixture"):
        Settings(modes=3).apply(METHODS["bc"])


@pytest.mark.parametrize("modes", [0, -1])
def test_a_mixture_of_nothing_is_refused(modes: int) -> None:
    with pytest.raises(OptionError, match=f"modes is {modes}"):
        Mixture(modes=modes)
    with pytest.raises(OptionError, match=f"modes is {modes}"):
        Settings(policy="mixture", modes=modes)


def test_an_unknown_family_is_refused_with_the_known_ones() -> None:
    with pytest.raises(OptionError, match="gaussian-mlp, gaussian-gru, mixture"):
        Settings(policy="diffusion")


def test_the_command_line_trains_a_mixture_of_as_many_modes_as_asked_for(
    tiny: Demonstrations, tmp_path: Path
) -> None:
    tiny.save(tmp_path / "demos.hdf5")
    options = ["--policy", "mixture", "--modes", "2", "--steps", "3", "--out", str(tmp_path / "r")]
    assert main(["train", str(tmp_path / "demos.hdf5"), "--json", *options]) == 0
    assert Policies.load(tmp_path / "r").policy == Mixture(modes=2)


def test_a_larger_reach_moves_no_initial_mean_and_lets_means_lie_beyond_the_bounds() -> None:
    obs = torch.zeros(1, 3)
    heads = []
    for reach in (1, 2):
        policy = Mixture(hidden=(4,), modes=3, reach=reach)
        params = policy.init(generator(), 3, 2)
        params["head.weight"].zero_()
        heads.append(policy.head(params, obs)[1])
        params["head.bias"].fill_(100.0)
        assert policy.head(params, obs)[1].max().item() == pytest.approx(reach)
    torch.testing.assert_close(heads[1], heads[0], rtol=1e-5, atol=1e-6)
