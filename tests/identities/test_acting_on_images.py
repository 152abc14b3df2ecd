"""Policies that read images: the same actions in torch, in Python without it, and in a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from counterbc.acting.actor import Acting
from counterbc.acting.onnx import export
from counterbc.acting.onnx_session import Session
from counterbc.acting.policies import Policies
from tests.identities.test_images import SHAPE, pictures, quick

ACTING: dict[str, tuple[str, dict[str, Any]]] = {
    "gaussian": ("bc", {}),
    "gaussian of one frame": ("bc", {"history": 1}),
    "gaussian with more layers": ("bc", {"hidden": (16, 8)}),
    "gaussian that predicts three actions": ("bc", {"horizon": 3, "execute": 2}),
    "gru": ("bc-rnn", {}),
    "gru of one frame": ("bc-rnn", {"history": 1}),
    "four networks": ("bcnd", {}),
    "four grus": ("bcnd", {"policy": "gaussian-cnn-gru", "hidden": (16, 8, 8)}),
    "flow": ("bc", {"policy": "flow", "horizon": 5, "execute": 2}),
    "flow of one frame": ("bc", {"policy": "flow", "horizon": 1, "history": 1}),
    "flow without noise": ("bc", {"policy": "flow", "horizon": 4, "temperature": 0.0}),
    "averaged flow": ("bc", {"policy": "flow", "horizon": 3, "average_chunks": True}),
}


@pytest.mark.parametrize("case", ACTING)
def test_policies_of_images_act_alike_in_torch_in_python_and_in_a_file(
    case: str, tmp_path: Path
) -> None:
    method, options = ACTING[case]
    demos = pictures()
    policies = quick(demos, method, **({"seeds": 1, "learning_rate": 0.01} | options))
    acting = Acting(policies, [0], "mean", seed=0)
    torch_actions, noises = [], []
    for o in demos.obs[:7]:
        noises.append(acting.noise())
        torch_actions.append(acting.actions(policies.tensor(o[None])[None])[0, 0].numpy())
    actor, file = policies.actor(), exported(policies, tmp_path / "p.onnx")
    assert np.stack([actor.act(o) for o in demos.obs[:7]]) == approx(torch_actions)
    actions = [file.act(o, z)[0] for o, z in zip(demos.obs[:7], noises, strict=True)]
    assert np.stack(actions) == approx(torch_actions)
    assert len(np.unique(np.round(torch_actions, 4), axis=0)) > 3
    actor.reset()
    file.reset()
    if policies.policy.temperature is None:  # the noise of an actor's next episode is another
        assert actor.act(demos.obs[3]) == approx(file.act(demos.obs[3])[0])


def approx(actions: Any) -> Any:
    return pytest.approx(np.asarray(actions), abs=5e-6)


def exported(policies: Policies, path: Path) -> Session:
    """The file of a policy, which was compared with torch on images of noise and of shades."""
    parity = export(policies, path)
    assert parity.agrees
    assert parity.undecided < parity.inputs / 10
    return Session(path, 1)


@pytest.mark.parametrize("policy", ["gaussian-cnn", "flow-cnn"])
def test_samples_of_a_file_are_those_of_torch_given_the_same_noise(
    policy: str, tmp_path: Path
) -> None:
    demos = pictures()
    policies = quick(demos, policy=policy, horizon=2, execute=1, seeds=1, learning_rate=0.01)
    export(policies, tmp_path / "p.onnx", act="sample")
    file, acting = Session(tmp_path / "p.onnx", 1), Acting(policies, [0], "sample", seed=0)
    for o in demos.obs[:5]:
        noise = acting.noise()
        torch_action = acting.actions(policies.tensor(o[None])[None])[0, 0].numpy()
        assert file.act(o, noise)[0] == approx(torch_action)


def test_a_file_of_images_says_what_it_reads(tmp_path: Path) -> None:
    policies = {
        "step": quick(pictures(), seeds=1),
        "chunk": quick(pictures(), seeds=1, policy="flow", horizon=4),
    }
    inputs = {}
    for name, policy in policies.items():
        file = exported(policy, tmp_path / f"{name}.onnx")
        assert file.about["pixels"] == "bytes, 0 to 255: height, width, channels"
        inputs[name] = {i.name: (i.type, i.shape[1:]) for i in file.session.get_inputs()}
    byte = "tensor(uint8)"
    assert inputs["step"] == {"obs": (byte, [*SHAPE]), "window": (byte, [4, *SHAPE])}
    assert inputs["chunk"]["obs"] == (byte, [2, *SHAPE])
