"""Work that is stopped answers soon, and loses nothing that was finished."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from counterbc.data.demonstrations import Demonstrations, Episode
from counterbc.training import view as view_module
from counterbc.training.network_stack import NetworkStack
from tests.equality import same
from tests.identities.test_images import ON_IMAGES, pictures, quick


def in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Train networks one by one, as large images would be."""
    monkeypatch.setattr(view_module, "_IMAGE", 1)
    monkeypatch.setattr(view_module, "_AT_ONCE", 1)


@pytest.mark.parametrize("method", ON_IMAGES)
def test_networks_trained_in_parts_agree_with_one_stack(
    method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    options: dict[str, Any] = {"seeds": 3, "dtype": torch.float64, "held_out": 0.25}
    one_stack = quick(pictures(), method, **options)
    in_parts(monkeypatch)
    in_turn = quick(pictures(), method, **options)
    for name, value in one_stack.params.items():
        torch.testing.assert_close(in_turn.params[name], value, rtol=1e-5, atol=1e-6)
    assert in_turn.curve is not None
    assert one_stack.curve is not None
    torch.testing.assert_close(in_turn.curve.held_out, one_stack.curve.held_out)


@pytest.mark.parametrize("method", ["counter-bc", "weighted-bc", "bcnd"])
@pytest.mark.parametrize("after", [2, 4, 8])
def test_a_training_stopped_between_the_parts_of_a_step_ends_with_the_same_bits(
    after: int, method: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_parts(monkeypatch)
    options: dict[str, Any] = {"seeds": 3, "steps": 4, "held_out": 0.25}
    whole, out = quick(pictures(), method, **options), tmp_path / "run"
    steps, count = NetworkStack.steps, [0]

    def stop(self: NetworkStack, *args: Any) -> None:
        steps(self, *args)
        count[0] += 1
        if count[0] == after:
            signal.raise_signal(signal.SIGINT)

    with monkeypatch.context() as patch:
        patch.setattr(NetworkStack, "steps", stop)
        with pytest.raises(KeyboardInterrupt, match="stopped at step"):
            quick(pictures(), method, out=out, **options)
    assert count[0] == after, "the parts that were left did not take their step"
    assert same(quick(pictures(), method, out=out, resume=True, **options), whole)


def frames() -> Demonstrations:
    """Noise of the size of a camera, in six episodes."""
    rng = np.random.default_rng(0)
    episodes = [
        Episode(rng.integers(0, 256, (20, 84, 84, 3), dtype=np.uint8), rng.uniform(-1, 1, (20, 2)))
        for _ in range(6)
    ]
    return Demonstrations(tuple(episodes), action_low=-np.ones(2), action_high=np.ones(2))


@pytest.mark.slow
def test_ctrl_c_ends_a_search_on_images_soon_and_the_same_command_continues(tmp_path: Path) -> None:
    frames().save(tmp_path / "demos.hdf5")
    command = [sys.executable, "-m", "counterbc", "train", "demos.hdf5", "--yes", "--lag", "0"]
    command += ["--steps", "1000"]  # Δ is searched: 30 networks, hours
    for _ in range(2):
        with (tmp_path / "log").open("w") as log:
            process = subprocess.Popen(command, cwd=tmp_path, stdout=log, stderr=log)
            _wait_for_line(tmp_path / "log", "choosing")
            process.send_signal(signal.SIGINT)
            assert process.wait(60) == 130  # a second or two, where the machine is idle
        text = (tmp_path / "log").read_text()
        assert "the search is kept in counterbc.search: give the same command to continue" in text
        (population,) = (tmp_path / "counterbc.search").iterdir()
        assert (population / "training.safetensors").exists()
    steps = [int(line.split()[3]) for line in text.splitlines() if "stopped at step" in line]
    assert steps[0] > 0, "the second call went on where the first had stopped"


def _wait_for_line(path: Path, word: str) -> None:
    """Wait for progress of the training, which comes every ten seconds."""
    deadline = time.monotonic() + 300
    while word not in path.read_text():
        assert time.monotonic() < deadline, path.read_text()
        time.sleep(0.2)
