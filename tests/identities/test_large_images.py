"""Networks on images of more than 128×128 pixels: small, exported as they act, and new."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from counterbc.acting.onnx import export
from counterbc.acting.policies import Policies
from counterbc.data.demonstrations import Demonstrations, Episode
from counterbc.errors import FormatError
from counterbc.policies import encoder as encoder_module
from counterbc.training.network_stack import NetworkStack
from tests.equality import same
from tests.identities.test_images import quick

KINDS: dict[str, dict[str, Any]] = {
    "gaussian-cnn": {},
    "gaussian-cnn-gru": {"method": "bc-rnn"},
    "flow-cnn": {"policy": "flow-cnn", "horizon": 4},
}


def camera(height: int = 132, width: int = 180, length: int = 6) -> Demonstrations:
    """Noise of a camera beside a vector."""
    rng = np.random.default_rng(0)
    episodes = [
        Episode(
            rng.uniform(-1, 1, (length, 2)).astype(np.float32),
            rng.uniform(-1, 1, (length, 2)),
            images={"top": rng.integers(0, 256, (length, height, width, 3), np.uint8)},
        )
        for _ in range(3)
    ]
    return Demonstrations(tuple(episodes), action_low=-np.ones(2), action_high=np.ones(2))


@pytest.fixture
def as_earlier(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """Networks as earlier versions made them, whose dense layers read whole maps."""
    monkeypatch.setattr(encoder_module, "pool", lambda x: x)
    monkeypatch.setattr(encoder_module, "pooled_size", lambda height, width: (height, width))
    return monkeypatch


@pytest.mark.parametrize("kind", KINDS)
def test_a_policy_acts_as_its_file_and_its_saved_run_do(kind: str, tmp_path: Path) -> None:
    policies = quick(camera(), **KINDS[kind], lag=0)
    parity = export(policies, tmp_path / "policy.onnx")
    assert parity.agrees
    policies.save(tmp_path / "run")
    assert same(Policies.load(tmp_path / "run"), policies)


def test_a_run_on_images_of_480_by_640_is_small(tmp_path: Path) -> None:
    policies = quick(camera(480, 640, 2), steps=1, hidden=(256,), lag=0)
    policies.save(tmp_path / "run")
    assert (tmp_path / "run" / "model.safetensors").stat().st_size < 11e6  # it was 279e6


def test_a_run_of_an_earlier_version_is_refused(
    as_earlier: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    quick(camera(), out=tmp_path / "run", lag=0)
    assert len(Policies.load(tmp_path / "run")) == 1
    as_earlier.undo()
    with pytest.raises(FormatError, match=r"trained by an earlier version.*; train again, or act"):
        Policies.load(tmp_path / "run")


def test_a_training_of_an_earlier_version_is_not_resumed(
    as_earlier: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    options: dict[str, Any] = {"out": tmp_path / "run", "lag": 0, "steps": 20}
    steps = NetworkStack.steps

    def stop(self: NetworkStack, *args: Any) -> None:
        steps(self, *args)
        signal.raise_signal(signal.SIGINT)

    as_earlier.setattr(NetworkStack, "steps", stop)
    with pytest.raises(KeyboardInterrupt):
        quick(camera(), **options)
    as_earlier.undo()
    message = r"has shape \(1, 15808, 16\), not \(1, 8960, 16\)\); delete that file to start from"
    with pytest.raises(FormatError, match=message):
        quick(camera(), **options, resume=True)
