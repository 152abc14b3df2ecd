"""Trainings of lerobot-train resume, and start from policies that LeRobot trained."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from conftest import OPTIONS, Script

COMMON = (
    "--dataset.repo_id=local/small", "--policy.device=cpu", "--policy.push_to_hub=false",
    "--batch_size=8", "--num_workers=0", "--wandb.enable=false",
)  # fmt: skip


def weights_of(out: Path, steps: int) -> dict[str, torch.Tensor]:
    """Return the parameters of a checkpoint."""
    return load_file(out / f"checkpoints/{steps:06d}/pretrained_model/model.safetensors")


@pytest.mark.parametrize("name", ["counterbc", "counter_act", "counter_diffusion"])
def test_a_training_resumes(name: str, dataset: Path, script: Script, tmp_path: Path) -> None:
    out = tmp_path / "out"
    script(
        "lerobot-train", *COMMON, f"--dataset.root={dataset}", f"--policy.type={name}",
        f"--output_dir={out}", "--steps=2", "--save_freq=2", *OPTIONS[name],
    )  # fmt: skip
    config = out / "checkpoints/last/pretrained_model/train_config.json"
    script("lerobot-train", f"--config_path={config}", "--resume=true", "--steps=4")
    before, after = weights_of(out, 2), weights_of(out, 4)
    assert before.keys() == after.keys()
    assert any(not torch.equal(before[k], after[k]) for k in before)
    assert all(torch.isfinite(x).all() for x in after.values())


@pytest.mark.parametrize("name", ["counter_act", "counter_diffusion"])
def test_a_policy_of_lerobot_can_be_trained_further(
    name: str, dataset: Path, script: Script, tmp_path: Path
) -> None:
    ours = ("--policy.radius", "--policy.lag", "--policy.counterfactuals")
    sizes = [option for option in OPTIONS[name] if not option.startswith(ours)]
    script(
        "lerobot-train", *COMMON, f"--dataset.root={dataset}", "--steps=2", "--save_freq=2",
        f"--policy.type={name.removeprefix('counter_')}", f"--output_dir={tmp_path / 'a'}", *sizes,
    )  # fmt: skip
    plain = tmp_path / "a/checkpoints/000002/pretrained_model"
    script(
        "lerobot-train", *COMMON, f"--dataset.root={dataset}", "--steps=1", "--save_freq=1",
        f"--policy.type={name}", f"--policy.pretrained_path={plain}",
        f"--output_dir={tmp_path / 'b'}", "--policy.optimizer_lr=0", *sizes,
    )  # fmt: skip
    before, after = weights_of(tmp_path / "a", 2), weights_of(tmp_path / "b", 1)
    assert before.keys() == after.keys()
    assert all(torch.allclose(before[k], after[k]) for k in before)
