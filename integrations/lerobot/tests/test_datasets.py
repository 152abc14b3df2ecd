"""What counterbc writes is what LeRobot reads: datasets, episode lists and weights."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
import torch
from doctor import failed_checks
from lerobot.datasets.lerobot_dataset import LeRobotDataset
from small_data import STATE

from conftest import Script
from counterbc.formats import load

QUICK = ("--steps", "60", "--folds", "2", "--repeats", "1", "--radius", "0.1", "--force")


def counterbc(*arguments: object) -> None:
    """Run a command of counterbc, which must succeed."""
    result = subprocess.run(
        [sys.executable, "-m", "counterbc", *map(str, arguments)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert result.returncode == 0, result.stderr[-3000:]


@pytest.fixture(scope="module")
def filmed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A dataset that LeRobot itself recorded, with a video."""
    root = tmp_path_factory.mktemp("filmed") / "demos"
    names = ["x", "y"]
    features = {
        STATE: {"dtype": "float32", "shape": (2,), "names": names},
        "action": {"dtype": "float32", "shape": (2,), "names": names},
        "observation.images.top": {
            "dtype": "video", "shape": (64, 64, 3), "names": ["height", "width", "channels"],
        },
    }  # fmt: skip
    dataset = LeRobotDataset.create("local/filmed", 10, features, root=root, use_videos=True)
    rng = np.random.default_rng(0)
    for _ in range(6):
        state = rng.uniform(-1, 1, 2)
        for _ in range(15):
            action = -0.5 * state + rng.normal(0, 0.1, 2)
            image = np.full((64, 64, 3), int(127 + 50 * state[0]), np.uint8)
            frame = {STATE: np.float32(state), "action": np.float32(action)}
            dataset.add_frame({**frame, "observation.images.top": image, "task": "centre"})
            state = state + 0.2 * action
        dataset.save_episode()
    dataset.finalize()
    return root


def read(root: Path, **options: Any) -> LeRobotDataset:
    return LeRobotDataset("local/test", root=root, **options)


def test_a_cleaned_dataset_keeps_its_videos_and_is_read_by_lerobot(
    filmed: Path, tmp_path: Path
) -> None:
    out = tmp_path / "meant"
    counterbc("clean", filmed, *QUICK, "--out", out)
    videos = sorted((filmed / "videos").rglob("*.mp4"))
    assert videos
    assert all((out / v.relative_to(filmed)).samefile(v) for v in videos)
    before, after = read(filmed, video_backend="pyav"), read(out, video_backend="pyav")
    assert len(after) == len(before) == 90
    first, again = before[20], after[20]
    torch.testing.assert_close(again["observation.images.top"], first["observation.images.top"])
    torch.testing.assert_close(again[STATE], first[STATE])
    actions = torch.stack([after[i]["action"] for i in range(90)])
    np.testing.assert_allclose(actions, load(out).action)
    assert not np.array_equal(load(out).action, load(filmed).action)
    torch.testing.assert_close(
        torch.tensor(after.meta.stats["action"]["mean"]).float(), actions.mean(0)
    )
    assert failed_checks(out) == {}


def test_episode_lists_and_weights_are_read_by_lerobot_train(
    filmed: Path, dataset: Path, tmp_path: Path, script: Script
) -> None:
    kept, weights = tmp_path / "kept.json", tmp_path / "weights.parquet"
    counterbc("score", dataset, *QUICK, "--worst", 3, "--episode-list", kept, "--weights", weights)
    episodes = json.loads(kept.read_text())
    assert len(episodes) == 5
    table = pq.read_table(weights)
    assert table["index"].to_pylist() == list(range(320))
    small = read(dataset, episodes=episodes)
    assert {int(small[i]["episode_index"]) for i in range(len(small))} == set(episodes)
    numbers = {int(small[i]["index"]) // 40 for i in range(len(small))}  # of the whole dataset
    assert numbers == set(episodes)
    script(
        "lerobot-train", "--dataset.repo_id=local/small", f"--dataset.root={dataset}",
        f"--dataset.episodes={episodes}", "--policy.type=counterbc", "--policy.device=cpu",
        "--policy.push_to_hub=false", f"--output_dir={tmp_path / 'out'}", "--steps=3",
        "--batch_size=8", "--num_workers=0", "--wandb.enable=false", "--policy.hidden=[16]",
        f"--policy.weights_path={weights}",
    )  # fmt: skip


def test_tune_and_influence_work_on_a_dataset_of_lerobot(filmed: Path, tmp_path: Path) -> None:
    short = ("--step-counts", 20, 40, "--radii", 0, 0.1, "--lag", 0)
    counterbc("tune", filmed, *short)
    counterbc("influence", filmed, "--splits", 10, "--steps", 20, "--force", "--episode-list",
              tmp_path / "kept.json")  # fmt: skip
    assert set(json.loads((tmp_path / "kept.json").read_text())) <= set(range(6))


def test_the_environment_of_a_conversion_is_read_by_lerobot(dataset: Path, tmp_path: Path) -> None:
    counterbc("convert", dataset, tmp_path / "demos.hdf5")
    counterbc(
        "convert", tmp_path / "demos.hdf5", tmp_path / "there", "--to", "lerobot",
        "--environment", "observation.environment_state",
    )  # fmt: skip
    assert read(tmp_path / "there")[0]["observation.environment_state"].shape == (16,)
    assert failed_checks(tmp_path / "there") == {}
