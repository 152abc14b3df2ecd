"""lerobot-train and lerobot-eval, run in this process as their commands run them.

A process that trains many small policies starts LeRobot once. Two things differ from the commands,
and neither changes what is learned or measured: `train` gets an Accelerator that keeps the items of
the dataset in memory, because LeRobot's loader takes most of a step on vectors, and lerobot-eval
draws no videos.
"""

from __future__ import annotations

import json
import logging
import os
import shutil
import sys
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

os.environ |= {"HF_HUB_OFFLINE": "1", "SDL_VIDEODRIVER": "dummy", "SLURM_JOB_ID": "0"}  # no bars

from in_memory import InMemoryAccelerator
from lerobot.scripts import lerobot_eval, lerobot_train
from lerobot.utils.import_utils import register_third_party_plugins
from push_t_data import weights_path

from reproduction.studies.lerobot import PLAIN, Cell

SIZES = {
    "act": (
        "--policy.dim_model=128", "--policy.n_heads=4", "--policy.dim_feedforward=256",
        "--policy.n_encoder_layers=1", "--policy.use_vae=false", "--policy.dropout=0",
        "--policy.chunk_size=8", "--policy.n_action_steps=4",
        '--policy.normalization_mapping={"STATE": "MEAN_STD", "ENV": "MEAN_STD", '
        '"ACTION": "MEAN_STD"}',
        "--use_policy_training_preset=false", "--optimizer.type=adamw", "--optimizer.lr=1e-3",
        "--optimizer.weight_decay=1e-4", "--optimizer.grad_clip_norm=10",
        "--scheduler.type=diffuser", "--scheduler.name=cosine", "--scheduler.num_warmup_steps=100",
    ),
    "diffusion": (
        "--policy.down_dims=[64]", "--policy.diffusion_step_embed_dim=64", "--policy.horizon=8",
        "--policy.n_action_steps=4", "--policy.drop_n_last_frames=3",
        "--policy.prediction_type=sample", "--policy.num_inference_steps=10",
        "--policy.noise_scheduler_type=DDIM", "--policy.optimizer_lr=1e-3",
        "--policy.scheduler_warmup_steps=100",
        '--policy.normalization_mapping={"STATE": "MIN_MAX", "ENV": "MIN_MAX", '
        '"ACTION": "MIN_MAX"}',
    ),
}  # fmt: skip
"""Small policies, which learn in few steps. LeRobot leaves observation.environment_state in its
raw units unless ENV is named among what is normalized; then they learn nearly nothing."""
BATCH = 64


def policy_options(cell: Cell, dataset: Path) -> list[str]:
    """Return the options that make the policy of a cell."""
    if cell.variant == PLAIN:
        return [f"--policy.type={cell.policy}", *SIZES[cell.policy]]
    options = [f"--policy.type=counter_{cell.policy}", *SIZES[cell.policy]]
    if cell.variant == "weights":
        path = weights_path(dataset, cell.radius)
        return [*options, "--policy.radius=0", f"--policy.weights_path={path}"]
    return [*options, f"--policy.radius={cell.radius}", f"--policy.lag={cell.lag}"]


def train(cell: Cell, folder: Path, dataset: Path, device: str) -> Path:
    """Train a cell with lerobot-train; return its checkpoint."""
    shutil.rmtree(folder, ignore_errors=True)  # of a training that was stopped
    register_third_party_plugins()
    _call(
        lambda: lerobot_train.train(accelerator=InMemoryAccelerator(device)),
        "--dataset.repo_id=local/pusht", f"--dataset.root={dataset}",
        f"--policy.device={device}", "--policy.push_to_hub=false",
        f"--output_dir={folder / 'train'}", f"--steps={cell.steps}",
        f"--save_freq={cell.steps}", f"--batch_size={BATCH}", "--num_workers=0",
        "--wandb.enable=false", f"--seed={cell.seed}", *policy_options(cell, dataset),
    )  # fmt: skip
    return folder / f"train/checkpoints/{cell.steps:06d}/pretrained_model"


def evaluate(checkpoint: Path, out: Path, start: int, count: int, device: str) -> dict[str, Any]:
    """Test a checkpoint with lerobot-eval from some starts; return its scores."""
    _call(
        lerobot_eval.main, f"--policy.path={checkpoint}", f"--output_dir={out}", "--env.type=pusht",
        "--env.obs_type=environment_state_agent_pos", f"--policy.device={device}",
        f"--eval.n_episodes={count}", f"--eval.batch_size={count}", "--eval.use_async_envs=false",
        f"--seed={start}",
    )  # fmt: skip
    info = json.loads((out / "eval_info.json").read_text())
    scores = [round(float(x), 4) for x in info["per_task"][0]["metrics"]["max_rewards"]]
    overall = info["overall"]
    return {
        "score": overall["avg_max_reward"], "success": overall["pc_success"] / 100,
        "starts": overall["n_episodes"], "scores": scores,
    }  # fmt: skip


def versions() -> dict[str, str]:
    """Return the versions of LeRobot and its world."""
    return {name.replace("-", "_"): version(name) for name in ("lerobot", "gym-pusht")}


def _call(command: Callable[[], Any], *options: str) -> None:
    """Run a command of LeRobot with these options."""
    before, sys.argv = sys.argv, ["lerobot", *options]
    logging.disable(logging.WARNING)
    try:
        command()
    finally:
        sys.argv = before
        logging.disable(logging.NOTSET)


def _without_videos(evaluate_all: Any) -> Any:
    """Return LeRobot's evaluation with no episode drawn."""
    return lambda *arguments, **options: evaluate_all(
        *arguments, **(options | {"max_episodes_rendered": 0})
    )


lerobot_eval.eval_policy_all = _without_videos(lerobot_eval.eval_policy_all)
