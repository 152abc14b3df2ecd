"""Checkpoints act the same inside and outside LeRobot, and with and without this package."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from lerobot.configs.policies import PreTrainedConfig
from lerobot.policies.factory import get_policy_class, make_pre_post_processors
from lerobot_policy_counterbc.__main__ import run as run_command
from lerobot_policy_counterbc.from_run import write_checkpoint
from small_data import ENVIRONMENT, STATE, demonstrations
from trained_runs import train_run

import counterbc
from conftest import Checkpoint
from counterbc import Demonstrations, Episode, Policies
from counterbc.errors import OptionError

NAMES = ["counterbc", "flow", "counter_act", "counter_diffusion"]


class Loaded:
    """A checkpoint as LeRobot's scripts load it: processors around a policy."""

    def __init__(self, path: Path) -> None:
        config = PreTrainedConfig.from_pretrained(path)
        config.device = "cpu"
        self.policy = get_policy_class(config.type).from_pretrained(path, config=config)
        self.before, self.after = make_pre_post_processors(config, pretrained_path=str(path))
        self.policy.reset()

    def act(self, obs: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """Return the action at an observation of the small dataset."""
        parts = {STATE: obs[:2], ENVIRONMENT: obs[2:]}
        batch = self.before({key: torch.tensor(x) for key, x in parts.items()})
        return self.after(self.policy.select_action(batch)).squeeze(0).numpy()


def rollout(act: Any, steps: int = 12) -> np.ndarray[Any, Any]:
    torch.manual_seed(0)  # of the noise that diffusion starts from
    return np.stack([act(obs) for obs in demonstrations().episodes[0].obs[:steps]])


@pytest.mark.parametrize("name", ["counterbc", "flow"])
def test_a_checkpoint_of_lerobot_acts_the_same_in_counterbc(
    name: str, checkpoint: Checkpoint
) -> None:
    path = checkpoint(name)
    outside = rollout(Policies.load(path / "counterbc").actor().act)
    np.testing.assert_allclose(rollout(Loaded(path).act), outside, rtol=1e-5, atol=1e-3)


@pytest.mark.parametrize(
    ("policy", "settings"),
    [
        ("gaussian-mlp", {}), ("gaussian-mlp", {"ensemble": 3}), ("gaussian-gru", {"history": 3}),
        ("mixture", {}), ("chunk", {"hidden": (16, 16)}), ("flow", {"hidden": (16, 16)}),
    ],
)  # fmt: skip
def test_a_run_of_counterbc_acts_the_same_in_lerobot(
    policy: str, settings: dict[str, Any], tmp_path: Path
) -> None:
    run = train_run(tmp_path / "run", policy, **settings)
    write_checkpoint(run, tmp_path / "checkpoint")
    outside = rollout(Policies.load(run).actor().act)
    inside = rollout(Loaded(tmp_path / "checkpoint").act)
    np.testing.assert_allclose(inside, outside, rtol=1e-5, atol=1e-3)
    again = rollout(Policies.load(tmp_path / "checkpoint/counterbc").actor().act)
    np.testing.assert_array_equal(again, outside)


@pytest.mark.parametrize("name", ["counter_act", "counter_diffusion"])
def test_the_plain_copy_acts_the_same(name: str, checkpoint: Checkpoint) -> None:
    path = checkpoint(name)
    expected = rollout(Loaded(path).act)
    np.testing.assert_array_equal(rollout(Loaded(path / "plain").act), expected)
    config = json.loads((path / "plain/config.json").read_text())
    assert config["type"] == name.removeprefix("counter_")
    assert not {"radius", "lag", "weights_path"} & set(config)


LOAD_PLAIN = """
import sys
sys.modules["lerobot_policy_counterbc"] = sys.modules["counterbc"] = None  # neither can be imported
from lerobot.configs.policies import PreTrainedConfig
import lerobot.policies.act.configuration_act, lerobot.policies.diffusion.configuration_diffusion
from lerobot.policies.factory import get_policy_class, make_pre_post_processors
path = sys.argv[1]
config = PreTrainedConfig.from_pretrained(path)
get_policy_class(config.type).from_pretrained(path, config=config)
make_pre_post_processors(config, pretrained_path=path)
"""


@pytest.mark.parametrize("name", ["counter_act", "counter_diffusion"])
def test_the_plain_copy_loads_without_this_package(name: str, checkpoint: Checkpoint) -> None:
    command = [sys.executable, "-c", LOAD_PLAIN, str(checkpoint(name) / "plain")]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr[-3000:]


@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_unpickled(
    name: str, checkpoint: Checkpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = checkpoint(name)

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("something was unpickled")

    for module, attribute in ((pickle, "load"), (pickle, "loads"), (torch, "load")):
        monkeypatch.setattr(module, attribute, refuse)
    rollout(Loaded(path).act, steps=2)
    files = {p.suffix for p in path.rglob("*") if p.is_file()}
    assert files <= {".json", ".safetensors"}


def test_a_run_on_images_and_a_vector_acts_the_same_in_lerobot(tmp_path: Path) -> None:
    rng, keys = np.random.default_rng(0), ("arm", "cup")
    images = rng.integers(0, 256, (2, 12, 36, 36, 3), np.uint8)
    episodes = tuple(
        Episode(rng.normal(size=(12, 2)), rng.uniform(-1, 1, (12, 2)), images={"front": x})
        for x in images
    )
    options = {"steps": 3, "lag": 0, "radius": 0.1, "ensemble": 1, "offsets": "none"}
    demos = Demonstrations(episodes, obs_keys=tuple((key, 1) for key in keys))
    counterbc.train(demos, "counter-bc", **options).save(tmp_path / "run")
    policy = write_checkpoint(tmp_path / "run", tmp_path / "checkpoint", {STATE: 2})
    actor = Policies.load(tmp_path / "run").actor()
    for obs, image in zip(episodes[0].obs[:4], images[0], strict=False):
        front = torch.tensor(image).permute(2, 0, 1)[None] / 255
        batch = {STATE: torch.tensor(obs)[None], "observation.images.front": front}
        parts = {key: obs[i : i + 1] for i, key in enumerate(keys)} | {"front": image}
        inside = policy.select_action(batch)[0].numpy()
        np.testing.assert_allclose(inside, actor.act(parts), rtol=1e-5, atol=1e-5)


def test_a_run_on_images_acts_the_same_in_lerobot(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    images = rng.integers(0, 256, (2, 12, 36, 36, 3), np.uint8)
    episodes = tuple(Episode(x, rng.uniform(-1, 1, (12, 2))) for x in images)
    options = {"steps": 3, "lag": 0, "radius": 0.1, "ensemble": 1, "offsets": "none"}
    demos = Demonstrations(episodes, camera="front")
    counterbc.train(demos, "counter-bc", **options).save(tmp_path / "run")
    policy = write_checkpoint(tmp_path / "run", tmp_path / "checkpoint")
    key = "observation.images.front"
    assert policy.config.input_features[key].shape == (3, 36, 36)
    actor = Policies.load(tmp_path / "run").actor()
    for image in images[0, :4]:
        batch = {key: torch.tensor(image).permute(2, 0, 1)[None] / 255}
        inside = policy.select_action(batch)[0].numpy()
        np.testing.assert_allclose(inside, actor.act(image), rtol=1e-5, atol=1e-5)


def test_chunks_begin_with_the_action_that_is_taken(tmp_path: Path) -> None:
    run = train_run(tmp_path / "run", "chunk", hidden=(16, 16))
    policy = write_checkpoint(run, tmp_path / "checkpoint")
    obs = torch.tensor(demonstrations().episodes[0].obs[:3])  # three environments
    batch = {STATE: obs[:, :2], ENVIRONMENT: obs[:, 2:]}
    chunk = policy.predict_action_chunk(batch)
    policy.reset()
    assert chunk.shape == (3, policy.config.chunk_size, 2)
    torch.testing.assert_close(policy.select_action(batch), chunk[:, 0])


def test_the_features_of_a_run_can_be_named(tmp_path: Path, capsys: Any) -> None:
    run = train_run(tmp_path / "run")
    names = ["observation.agent:2", "observation.block:16"]
    assert run_command([str(run), str(tmp_path / "a"), "--features", *names]) == 0
    inputs = json.loads((tmp_path / "a/config.json").read_text())["input_features"]
    assert {k: v["shape"] for k, v in inputs.items()} == {
        "observation.agent": [2], "observation.block": [16],
    }  # fmt: skip
    assert run_command([str(run), str(tmp_path / "b"), "--features", "observation.state:3"]) == 1
    assert "the run reads 18" in capsys.readouterr().err
    assert run_command([str(run), str(tmp_path / "a")]) == 1
    assert "already exists" in capsys.readouterr().err


def test_keys_that_are_no_features_must_be_named(tmp_path: Path) -> None:
    demos = demonstrations()
    names = tuple(n.removeprefix("observation.") for n in demos.obs_names)
    keys = (("state", 2), ("environment_state", 16))
    options = {"steps": 5, "lag": 0, "radius": 0.1, "ensemble": 1, "offsets": "none"}
    run = tmp_path / "run"
    counterbc.train(replace(demos, obs_names=names, obs_keys=keys), "bc", **options).save(run)
    with pytest.raises(OptionError, match="are not names of LeRobot features"):
        write_checkpoint(run, tmp_path / "checkpoint")
