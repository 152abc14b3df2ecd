"""ACT and diffusion learn from images with the loss of Counter-BC, and act without this package."""

from __future__ import annotations

from pathlib import Path

import lerobot_policy_counterbc  # noqa: F401  # registers its policies
import numpy as np
import pytest
import torch
from lerobot.configs.policies import PreTrainedConfig
from lerobot.datasets.lerobot_dataset import LeRobotDataset
from lerobot.policies.factory import get_policy_class, make_pre_post_processors
from small_data import STATE

from conftest import OPTIONS, Script

CAMERA, SIDE = "observation.images.top", 64


@pytest.fixture(scope="module")
def pictures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A dataset that LeRobot itself recorded, with a picture and two joints per frame."""
    root = tmp_path_factory.mktemp("pictures") / "demos"
    joints = {"dtype": "float32", "shape": (2,), "names": ["x", "y"]}
    image = {"dtype": "image", "shape": (SIDE, SIDE, 3), "names": ["height", "width", "channels"]}
    features = {STATE: joints, "action": joints, CAMERA: image}
    dataset = LeRobotDataset.create("local/pictures", 10, features, root=root, use_videos=False)
    rng = np.random.default_rng(0)
    for _ in range(2):
        for _ in range(20):
            frame = {name: np.float32(rng.uniform(-1, 1, 2)) for name in (STATE, "action")}
            picture = rng.integers(0, 256, (SIDE, SIDE, 3), np.uint8)
            dataset.add_frame({**frame, CAMERA: picture, "task": "centre"})
        dataset.save_episode()
    dataset.finalize()
    return root


def actions_of(path: Path) -> torch.Tensor:
    """Return what a checkpoint does at five observations."""
    config = PreTrainedConfig.from_pretrained(path)
    config.device = "cpu"
    policy = get_policy_class(config.type).from_pretrained(path, config=config)
    before, after = make_pre_post_processors(config, pretrained_path=str(path))
    policy.reset()
    torch.manual_seed(0)  # of the noise that diffusion starts from
    generator, actions = torch.Generator().manual_seed(0), []
    for _ in range(5):
        image = torch.rand(3, SIDE, SIDE, generator=generator)
        batch = before({STATE: torch.rand(2, generator=generator), CAMERA: image})
        actions.append(after(policy.select_action(batch)).squeeze(0))
    return torch.stack(actions)


@pytest.mark.parametrize("name", ["counter_act", "counter_diffusion"])
def test_a_policy_learns_from_images_and_its_plain_copy_acts_the_same(
    name: str, pictures: Path, script: Script, tmp_path: Path
) -> None:
    crop = ("--policy.crop_shape=null",) if name == "counter_diffusion" else ()
    script(
        "lerobot-train", "--dataset.repo_id=local/pictures", f"--dataset.root={pictures}",
        f"--policy.type={name}", "--policy.device=cpu", "--policy.push_to_hub=false",
        f"--output_dir={tmp_path / 'out'}", "--steps=2", "--save_freq=2", "--batch_size=4",
        "--num_workers=0", "--wandb.enable=false", *OPTIONS[name], *crop,
        "--policy.pretrained_backbone_weights=null",
    )  # fmt: skip
    path = tmp_path / "out/checkpoints/000002/pretrained_model"
    actions = actions_of(path)
    assert torch.isfinite(actions).all()
    torch.testing.assert_close(actions_of(path / "plain"), actions, rtol=0, atol=0)
