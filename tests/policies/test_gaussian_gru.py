"""The policy of BC-RNN against torch.nn.GRU."""

from __future__ import annotations

import torch

from counterbc.policies import GaussianGRU, Params
from tests.policies.numbers import normal
from tests.policies.torch_gru import BATCH, INPUTS, UNITS, torchs


def double(policy: GaussianGRU, seed: int = 0) -> Params:
    generator = torch.Generator().manual_seed(seed)
    return {k: v.double() for k, v in policy.init(generator, INPUTS, 2).items()}


def test_the_policy_is_torchs_gru_then_layers_then_the_head() -> None:
    policy = GaussianGRU(hidden=(UNITS, 4))
    params, obs = double(policy), normal(BATCH, 5, INPUTS)
    x = (torchs(params, obs) @ params["layer0.weight"] + params["layer0.bias"]).relu()
    raw = x @ params["head.weight"] + params["head.bias"]
    mean, log_std = policy.head(params, obs)
    torch.testing.assert_close(mean, raw[:, :2].tanh(), rtol=1e-12, atol=1e-12)
    torch.testing.assert_close(log_std, raw[:, 2:], rtol=1e-12, atol=1e-12)


def test_what_lies_before_the_start_is_zeros_and_not_nothing() -> None:
    """A window of zeros then s differs from s alone, because biases move the state."""
    policy = GaussianGRU(hidden=(UNITS,))
    params, obs = double(policy), torch.zeros(1, 5, INPUTS, dtype=torch.float64)
    obs[:, -1] = normal(1, INPUTS)
    mean, _ = policy.head(params, obs)
    raw = torchs(params, obs) @ params["head.weight"] + params["head.bias"]
    torch.testing.assert_close(mean, raw[:, :2].tanh(), rtol=1e-12, atol=1e-12)


def test_every_observation_of_the_window_counts_and_in_its_order() -> None:
    policy = GaussianGRU(hidden=(UNITS,))
    params, window = double(policy), normal(1, 5, INPUTS)
    before = policy.head(params, window)[0]
    for t in range(5):
        changed_window = window.clone()
        changed_window[:, t] += 1
        assert (policy.head(params, changed_window)[0] - before).abs().max().item() > 1e-6
    assert (policy.head(params, window.flip(1))[0] - before).abs().max().item() > 1e-6


def test_a_gru_that_reads_one_observation_takes_it_as_any_policy_does() -> None:
    policy = GaussianGRU(hidden=(UNITS,), history=1)
    params, obs = double(policy), normal(BATCH, INPUTS)
    mean, _ = policy.head(params, obs)
    raw = torchs(params, obs.unsqueeze(1)) @ params["head.weight"] + params["head.bias"]
    torch.testing.assert_close(mean, raw[:, :2].tanh(), rtol=1e-12, atol=1e-12)
