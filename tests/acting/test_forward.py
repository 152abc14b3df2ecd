"""Acting without torch: the same actions."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from counterbc.acting.actor import Acting
from counterbc.acting.forward import Forward
from counterbc.acting.onnx import export
from counterbc.acting.onnx_session import Session
from counterbc.acting.ops import Numpy
from counterbc.acting.policies import Policies
from counterbc.data.demonstrations import Demonstrations
from counterbc.methods import METHODS, Method
from counterbc.policies import GaussianGRU, GaussianMLP
from tests.fixture_types import Make, Train

pytestmark = pytest.mark.filterwarnings("ignore::counterbc.errors.InfeasibleActions")


def by_torch(policies: Policies, obs: Any) -> Any:
    """The mean actions of one episode: (T, A)."""
    acting = Acting(policies, [0], "mean", seed=0)
    return np.stack([acting.actions(torch.tensor(o)[None, None])[0, 0].numpy() for o in obs])


@pytest.mark.parametrize("method", METHODS)
def test_an_actor_acts_as_torch_does_episode_after_episode(
    method: str, tiny: Demonstrations, quick: Train
) -> None:
    policies = quick(tiny, method, seeds=2, steps=5)[1]
    actor = policies.actor()
    for episode in tiny.episodes[:2]:
        actions = np.stack([actor.act(o) for o in episode.obs])
        assert actions == pytest.approx(by_torch(policies, episode.obs), abs=1e-6)
        actor.reset()


UNUSUAL: dict[str, tuple[Method, dict[str, Any], dict[str, Any]]] = {
    "a ball of actions": (Method(), {"action_set": "ball"}, {}),
    "uneven bounds": (
        Method(), {"action_low": np.array([-3.0, 2.0]), "action_high": np.array([5.0, 2.5])}, {},
    ),
    "nothing scaled": (
        Method(), {"action_low": np.array([-0.2, 0.1]), "action_high": np.array([0.3, 0.4])},
        {"preset": "authors"},
    ),
    "a history of plain layers": (Method(policy=GaussianMLP(history=3)), {}, {}),
    "a mean beyond the bounds": (Method(policy=GaussianMLP(reach=2)), {}, {}),
    "a GRU with a mean beyond the bounds": (Method(policy=GaussianGRU(reach=2)), {}, {}),
    "a GRU of one observation": (Method(policy=GaussianGRU(history=1)), {}, {}),
    "a GRU of several networks": (Method(policy=GaussianGRU(), shards=2), {}, {}),
    "a GRU without layers": (Method(policy=GaussianGRU()), {}, {"hidden": (8,)}),
}  # fmt: skip


@pytest.mark.parametrize("case", UNUSUAL)
def test_unusual_policies_act_alike_in_torch_in_python_and_in_a_file(
    case: str, make_demos: Make, quick: Train, tmp_path: Path
) -> None:
    method, fields, options = UNUSUAL[case]
    demos = make_demos(**fields)
    policies = quick(demos, method, **({"steps": 5} | options))
    # Far from the data too, where actions reach the edge of A.
    obs = np.concatenate([demos.obs[:8], 30 * demos.obs[:8]]).astype(np.float32)
    torch_actions = by_torch(policies, obs)
    export(policies, tmp_path / "p.onnx")
    actor, file = policies.actor(), Session(tmp_path / "p.onnx", 1)
    assert np.stack([actor.act(o) for o in obs]) == pytest.approx(torch_actions, abs=5e-6)
    assert np.stack([file.act(o)[0] for o in obs]) == pytest.approx(torch_actions, abs=5e-6)
    assert len(np.unique(torch_actions.round(4), axis=0)) > 4


CHUNKS: dict[str, dict[str, Any]] = {
    "flow": {"policy": "flow"},
    "flow of relative actions": {"policy": "flow", "relative": "state[0],state[2]"},
    "flow of angles": {"policy": "flow", "angles": "state[1]", "horizon": 5, "execute": 2},
    "flow without noise": {"policy": "flow", "temperature": 0.0},
    "flow of one action": {"policy": "flow", "horizon": 1},
    "averaged flow": {"policy": "flow", "average_chunks": True, "horizon": 3},
    "chunk": {"policy": "chunk", "relative": "state[1],-"},
    "chunk of three modes": {"policy": "chunk", "modes": 3, "angles": "state[0],state[2]"},
    "ensemble of modes": {"policy": "chunk", "modes": 2, "ensemble": 2},
    "gaussian": {"horizon": 4, "history": 3, "relative": "state[0],state[2]"},
    "all actions": {"horizon": 3, "execute": 3, "scale_actions": False},
    "gru": {"policy": "gaussian-gru", "horizon": 2},
    "angles": {"horizon": 2, "angles": "state[1]"},
    "mixture": {"policy": "mixture", "horizon": 2, "history": 2},
    "one step of a mixture": {"policy": "mixture", "history": 2, "angles": "state[1]"},
    "one relative step": {"relative": "-,state[2]"},
}


@pytest.mark.parametrize("case", CHUNKS)
def test_chunks_act_alike_in_torch_in_python_and_in_a_file(
    case: str, tiny: Demonstrations, quick: Train, tmp_path: Path
) -> None:
    policies = quick(tiny, "bc", **CHUNKS[case])
    obs = np.concatenate([tiny.obs[:8], 30 * tiny.obs[:6]]).astype(np.float32)
    torch_actions = by_torch(policies, obs)
    export(policies, tmp_path / "p.onnx")
    file, acting = Session(tmp_path / "p.onnx", 1), Acting(policies, [0], "mean", seed=0)
    actor = policies.actor()
    assert np.stack([actor.act(o) for o in obs]) == pytest.approx(torch_actions, abs=5e-6)
    for torch_action, o in zip(torch_actions, obs, strict=True):
        assert file.act(o, acting.noise())[0] == pytest.approx(torch_action, abs=5e-6)
        acting.step += 1
    assert len(np.unique(torch_actions.round(4), axis=0)) > 4


@pytest.mark.parametrize("case", ["flow", "chunk of three modes"])
def test_windows_of_a_batch_give_whole_chunks(
    case: str, tiny: Demonstrations, quick: Train
) -> None:
    policies = quick(tiny, "bc", **CHUNKS[case])
    acting = Acting(policies, range(3), "mean", seed=1)
    windows = np.stack([tiny.obs[i : i + 2] for i in (0, 4, 12)])  # (3, 2, S)
    actions = Forward(policies, Numpy()).chunk(windows, acting.noise())
    assert actions.shape == (3, policies.policy.execute, 2)
    obs = torch.tensor(windows)[None]
    plan = acting._predict(policies.scales.obs(obs), obs[:, :, -1])[0]
    assert actions == pytest.approx(plan[:, : policies.policy.execute].numpy(), abs=2e-6)


def test_samples_of_a_flow_have_all_of_its_noise(tiny: Demonstrations, quick: Train) -> None:
    policies = quick(tiny, "bc", policy="flow", temperature=0.25)
    acting = Acting(policies, [0], "sample", seed=0)
    sampled = np.stack(
        [acting.actions(torch.tensor(o)[None, None])[0, 0].numpy() for o in tiny.obs[:10]]
    )
    actor = policies.actor("sample")
    assert np.stack([actor.act(o) for o in tiny.obs[:10]]) == pytest.approx(sampled, abs=2e-6)
    assert not np.allclose(sampled, by_torch(policies, tiny.obs[:10]), atol=0.01)


@pytest.mark.parametrize("method", ["bc", "bc-rnn", "bcnd"])
def test_samples_are_those_of_torch_given_the_same_noise(
    method: str, tiny: Demonstrations, quick: Train
) -> None:
    policies = quick(tiny, method)
    acting = Acting(policies, [0, 1], "sample", seed=3)
    forward = Forward(policies, Numpy())
    window: Any = np.zeros((2, policies.policy.history, 3), np.float32)
    for obs in tiny.obs[:12].reshape(6, 2, 3):
        noise = torch.special.ndtri(acting.chances()).transpose(0, 1)  # (E, shards, A)
        noise = noise if policies.shards > 1 else noise.squeeze(1)
        action, window = forward.step(obs, window, noise.numpy())
        torch_actions = acting.actions(torch.tensor(obs)[None])[0].numpy()
        assert action == pytest.approx(torch_actions, abs=2e-6)


def test_a_missing_or_endless_number_is_passed_on_as_torch_does(
    tiny: Demonstrations, quick: Train
) -> None:
    policies = quick(tiny, "bc")
    assert bool(np.isnan(policies.actor().act(np.array([0, np.nan, 0]))).all())
    far = np.array([[3e38, -3e38, 3e38]], np.float32)
    torch_actions = by_torch(policies, far)[0]
    assert np.array_equal(policies.actor().act(far[0]), torch_actions, equal_nan=True)


@dataclass(frozen=True)
class Backwards(GaussianMLP):
    """Goes the other way."""

    def mean(self, head: tuple[Tensor, ...]) -> Tensor:
        return -head[0]


def test_a_policy_of_ones_own_acts_by_its_own_lines(tiny: Demonstrations, quick: Train) -> None:
    policies = quick(tiny, "bc")
    backwards = replace(policies, policy=Backwards(hidden=(8, 8)))
    forth, back = (p.actor().act(tiny.obs[0]) for p in (policies, backwards))
    assert back == pytest.approx(-forth, abs=1e-6)  # bounds are ±1
