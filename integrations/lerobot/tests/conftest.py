"""Datasets and checkpoints that the tests share; LeRobot's scripts run as people run them."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from small_data import write_dataset

OPTIONS = {
    "counterbc": ("--policy.hidden=[16,16]",),
    "flow": (
        "--policy.kind=flow", "--policy.hidden=[32,32]", "--policy.n_obs_steps=2",
        "--policy.chunk_size=8", "--policy.n_action_steps=4", "--policy.lag=1",
    ),
    "counter_act": (
        "--policy.dim_model=32", "--policy.n_heads=4", "--policy.dim_feedforward=32",
        "--policy.n_encoder_layers=1", "--policy.n_vae_encoder_layers=1", "--policy.chunk_size=8",
        "--policy.n_action_steps=4", "--policy.lag=1.5",
    ),
    "counter_diffusion": (
        "--policy.down_dims=[16,32]", "--policy.horizon=8", "--policy.n_action_steps=4",
        "--policy.num_train_timesteps=10", "--policy.n_groups=4",
        "--policy.diffusion_step_embed_dim=16", "--policy.counterfactuals=3",
    ),
}  # fmt: skip
"""Small policies, by name: the type of the policy, or flow for a counterbc policy of that kind."""

Script = Callable[..., str]
Checkpoint = Callable[[str], Path]


def run_script(name: str, *options: str, **variables: str) -> str:
    """Run a script of LeRobot without a network, and return what it printed."""
    settings = {"HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1", "SDL_VIDEODRIVER": "dummy"}
    result = subprocess.run(
        [str(Path(sys.executable).parent / name), *options],
        env={**os.environ, **settings, **variables},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stdout[-2000:] + result.stderr[-6000:]
    return result.stdout + result.stderr


@pytest.fixture(scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty folder in place of the user's cache of Hugging Face."""
    return tmp_path_factory.mktemp("huggingface")


@pytest.fixture(scope="session")
def script(cache: Path) -> Script:
    """Run a script of LeRobot, and return what it printed."""
    return lambda name, *options, **variables: run_script(
        name, *options, HF_HOME=str(cache), **variables
    )


@pytest.fixture(scope="session")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a small dataset."""
    return write_dataset(tmp_path_factory.mktemp("data") / "small")


@pytest.fixture(scope="session")
def checkpoint(
    dataset: Path, script: Script, tmp_path_factory: pytest.TempPathFactory
) -> Checkpoint:
    """Train a small policy with lerobot-train, once, and return its checkpoint."""
    folder, made = tmp_path_factory.mktemp("runs"), {}

    def train(name: str) -> Path:
        if name not in made:
            kind = "counterbc" if name == "flow" else name
            script(
                "lerobot-train", "--dataset.repo_id=local/small", f"--dataset.root={dataset}",
                f"--policy.type={kind}", "--policy.device=cpu", "--policy.push_to_hub=false",
                f"--output_dir={folder / name}", "--steps=5", "--save_freq=5", "--batch_size=8",
                "--num_workers=0", "--wandb.enable=false", *OPTIONS[name],
            )  # fmt: skip
            made[name] = folder / name / "checkpoints/000005/pretrained_model"
        return made[name]

    return train
