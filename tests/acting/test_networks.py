"""Networks without torch: which there are, and what they compute once."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from counterbc.acting.networks import NETWORKS, EulerSteps, ResidualModes
from counterbc.acting.onnx_graph import Graph, GraphValue
from counterbc.acting.ops import Numpy
from counterbc.policies import POLICIES, Chunk, Flow, Policy


def weights_of(policy: Policy, obs_size: int, action_size: int) -> dict[str, Any]:
    generator = torch.Generator().manual_seed(0)
    params = policy.init(generator, obs_size, action_size * policy.horizon)
    return {k: v.numpy() for k, v in params.items()}


def test_every_policy_has_a_network() -> None:
    assert set(NETWORKS) == set(POLICIES.values())


def test_the_state_is_read_once_for_all_euler_steps() -> None:
    policy = Flow(hidden=(8, 8), horizon=2, execute=1, euler=5)
    graph = Graph()
    EulerSteps(policy, weights_of(policy, 3, 2), 2)(
        graph, GraphValue(graph, "obs"), GraphValue(graph, "noise")
    )
    products = sum(node.op_type == "MatMul" for node in graph.nodes)
    assert products == 1 + 5 * 3  # the state; then x, layer 1 and head of each step


@pytest.mark.parametrize("temperature", [0.0, 0.7])
def test_euler_steps_are_those_of_the_policy(temperature: float) -> None:
    policy = Flow(hidden=(8, 8), horizon=2, execute=1, temperature=temperature)
    weights = weights_of(policy, 3, 2)
    weights["head.weight"] = 10 * weights["head.weight"]  # steps that are not tiny
    obs, u = torch.randn(6, 2, 3), torch.rand(6, 4) * 0.9 + 0.05
    params = {k: torch.tensor(v) for k, v in weights.items()}
    torch_chunk = policy.act(params, obs, u if temperature else None, False).numpy()
    noise = temperature * torch.special.ndtri(u).numpy() if temperature else None
    chunk = EulerSteps(policy, weights, 2)(Numpy(), obs.numpy(), noise)
    assert chunk == pytest.approx(torch_chunk, rel=1e-5, abs=1e-6)
    assert np.abs(torch_chunk - (0 if noise is None else noise)).max() > 0.1


def test_the_first_of_equally_heavy_modes_acts() -> None:
    policy = Chunk(hidden=(8, 8), history=1, modes=3, horizon=2, execute=1)
    weights = weights_of(policy, 3, 1)
    weights["head.weight"] = 0 * weights["head.weight"]
    weights["head.bias"][:3] = [0.0, 1.0, 1.0]
    weights["head.bias"][3:9] = [1, 2, 3, 4, 5, 6]
    chunk = ResidualModes(policy, weights, 1)(Numpy(), np.ones((2, 3), np.float32), None)
    assert chunk.tolist() == [[3, 4], [3, 4]]
