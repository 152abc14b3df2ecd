"""The paper's policy against a chain of torch's modules."""

from __future__ import annotations

import torch
from torch import nn

from counterbc.policies import GaussianMLP
from tests.policies.numbers import double, generator, normal


def test_the_mlp_is_a_plain_chain_of_layers() -> None:
    policy, obs = GaussianMLP(hidden=(7, 5)), normal(9, 4)
    params = double(policy.init(generator(), 4, 2))
    layers: list[nn.Module] = []
    for name, activation in (("layer0", nn.ReLU()), ("layer1", nn.ReLU()), ("head", nn.Identity())):
        inputs, outputs = params[f"{name}.weight"].shape
        layer = nn.Linear(inputs, outputs, dtype=torch.float64)
        layer.load_state_dict(
            {"weight": params[f"{name}.weight"].T, "bias": params[f"{name}.bias"]}
        )
        layers += [layer, activation]
    raw = nn.Sequential(*layers)(obs)
    mean, log_std = policy.head(params, obs)
    torch.testing.assert_close(mean, raw[:, :2].tanh(), rtol=1e-12, atol=1e-12)
    torch.testing.assert_close(log_std, raw[:, 2:], rtol=1e-12, atol=1e-12)


def test_an_mlp_with_a_history_reads_it_as_one_long_vector() -> None:
    policy = GaussianMLP(hidden=(7,), history=3)
    params = double(policy.init(generator(), 4, 2))
    assert params["layer0.weight"].shape == (12, 7)
    window = normal(9, 3, 4)
    flat = GaussianMLP(hidden=(7,)).head(params, window.reshape(9, 12))
    torch.testing.assert_close(policy.head(params, window), flat)


def test_a_subclass_or_a_history_has_no_known_chain_of_layers() -> None:
    class OtherMLP(GaussianMLP):
        pass

    assert GaussianMLP(hidden=(8, 8)).chain() == ("layer0", "layer1", "head")
    assert OtherMLP().chain() == GaussianMLP(history=2).chain() == ()
