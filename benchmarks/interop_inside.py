"""Read and write datasets with the real minari, lerobot and robomimic, without counterbc.

    python benchmarks/interop_inside.py LIBRARY FOLDER

`benchmarks/interop.py` runs this in the environment of each library. FOLDER holds datasets that
counterbc wrote, each with the numbers to expect in NAME.npz. What the library writes goes to
FOLDER/theirs.
"""

from __future__ import annotations

import importlib
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np


def compare(label: str, actual: Any, expected: Any, within: float = 0.0) -> None:
    """Print the largest difference between arrays, and exit if it is too large."""
    a, b = np.asarray(actual), np.asarray(expected)
    if a.shape != b.shape:
        raise SystemExit(f"  {label}: shape {a.shape} but {b.shape} was written")
    difference = float(np.abs(a.astype(np.float64) - b.astype(np.float64)).max())
    print(f"  {label}: {a.shape} {a.dtype}, max abs difference {difference:g}")
    if difference > within:
        raise SystemExit(f"  {label}: differs by more than {within:g}")


def inside_minari(folder: Path) -> None:
    """Compare what Minari reads with what was written, and let it write."""
    minari = importlib.import_module("minari")
    for answer in sorted(folder.glob("*.npz")):
        arrays = dict(np.load(answer))
        dataset = minari.load_dataset(answer.stem)
        episodes = list(dataset.iterate_episodes())
        counts = (dataset.total_episodes, dataset.total_steps)
        print(f"  {answer.stem}: {counts[0]} episodes, {counts[1]} steps, {episodes[0]}"[:180])
        compare(f"{answer.stem}: lengths", [len(e) for e in episodes], arrays["lengths"])
        keys = arrays["keys"].tolist()
        joined_episodes = [
            np.concatenate([e.observations[k] for k in keys], axis=1)[:-1]
            if isinstance(e.observations, dict)
            else e.observations[:-1]
            for e in episodes
        ]
        compare(f"{answer.stem}: obs", np.concatenate(joined_episodes), arrays["obs"])
        action = np.concatenate([e.actions for e in episodes])
        compare(f"{answer.stem}: action", action, arrays["action"])
        if arrays["reward"].size:
            reward = np.concatenate([e.rewards for e in episodes])
            compare(f"{answer.stem}: reward", reward, arrays["reward"])
        assert dataset.action_space.shape == action.shape[1:]
    minari_writes(minari, folder / "theirs")


def minari_writes(minari: Any, folder: Path) -> None:
    """Write random episodes to each of Minari's stores."""
    spaces = importlib.import_module("gymnasium.spaces")
    buffers = importlib.import_module("minari.data_collector.episode_buffer")
    os.environ["MINARI_DATASETS_PATH"] = str(folder)
    camera = spaces.Box(0, 255, (40, 48, 3), np.uint8)
    shards = {"q": spaces.Box(-1, 1, (2,), np.float64), "cam": camera, "k": spaces.Discrete(5)}
    space, actions = spaces.Dict(shards), spaces.Box(-1, 2, (2,), np.float32)
    for store in ("hdf5", "arrow", "parquet"):
        buffer = []
        for steps in (3, 5):
            obs = {k: np.stack([s.sample() for _ in range(steps + 1)]) for k, s in shards.items()}
            act = np.stack([actions.sample() for _ in range(steps)])
            end = [False] * (steps - 1) + [True]
            buffer.append(buffers.EpisodeBuffer(
                observations=obs, actions=act, rewards=[1.0] * steps, terminations=end,
                truncations=[False] * steps, infos={},
            ))  # fmt: skip
        metadata = {
            "algorithm_name": "-",
            "author": "-",
            "author_email": "-",
            "code_permalink": "-",
        }
        minari.create_dataset_from_buffers(
            dataset_id=f"{store}-v0", buffer=buffer, observation_space=space, action_space=actions,
            data_format=store, **metadata,
        )  # fmt: skip
        read = list(minari.load_dataset(f"{store}-v0").iterate_episodes())
        columns = [np.column_stack([e.observations[k][:-1] for k in ("k", "q")]) for e in read]
        answer: dict[str, Any] = {"action": np.concatenate([e.actions for e in read])}
        answer["within"] = 1e-7
        np.savez(folder / f"{store}-v0.npz", obs=np.concatenate(columns), **answer)
        pixels = np.concatenate([e.observations["cam"][:-1] for e in read])
        np.savez(folder / f"{store}-v0@cam.npz", obs=pixels, **answer)


def inside_lerobot(folder: Path) -> None:
    """Compare what LeRobot reads with what was written, and let it write."""
    torch = importlib.import_module("torch")
    # torchvision expects operators that this build does not have; none of them is called.
    operators = torch.library.Library("torchvision", "DEF")
    for name in ("nms", "qnms"):
        operators.define(f"{name}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
    dataset_class = importlib.import_module("lerobot.datasets.lerobot_dataset").LeRobotDataset
    for answer in sorted(folder.glob("*.npz")):
        arrays = dict(np.load(answer))
        root = folder / answer.stem
        whole = dataset_class(f"local/{answer.stem}", root=root)
        print(f"  {answer.stem}: {whole.num_episodes} episodes, {whole.num_frames} frames, "
              f"{whole.fps} fps, first task {whole[0]['task']!r}")  # fmt: skip
        ends = np.cumsum(arrays["lengths"])
        selection = [1, 3] if len(ends) > 3 else [0]
        rows = np.concatenate(
            [np.arange(ends[e] - arrays["lengths"][e], ends[e]) for e in selection]
        )
        lerobot_compare(f"{answer.stem}: all", whole, arrays, np.arange(ends[-1]), torch)
        subset = dataset_class(f"local/{answer.stem}", root=root, episodes=selection)
        lerobot_compare(f"{answer.stem}: episodes {selection}", subset, arrays, rows, torch)
        deltas = {"action": [0.0, 1 / whole.fps]}
        ahead = dataset_class(f"local/{answer.stem}", root=root, delta_timestamps=deltas)
        two = arrays["action"][[0, min(1, ends[0] - 1)]]
        compare(f"{answer.stem}: action and the next", ahead[0]["action"], two)
        stats = whole.meta.stats["action"]
        compare(f"{answer.stem}: mean", stats["mean"], arrays["action"].mean(0, np.float64), 1e-5)
        compare(f"{answer.stem}: std", stats["std"], arrays["action"].std(0, np.float64), 1e-5)
    lerobot_writes(dataset_class, folder / "theirs")


def lerobot_compare(label: str, dataset: Any, expected: Any, rows: Any, torch: Any) -> None:
    """Compare all batches of a DataLoader with the rows that were written."""
    loader = torch.utils.data.DataLoader(dataset, batch_size=64, num_workers=0)
    keys = [k for k in dataset.features if k.startswith("observation.")]
    batches = [{k: b[k].numpy() for k in (*keys, "action")} for b in loader]
    columns_of = {k: np.concatenate([b[k] for b in batches]) for k in (*keys, "action")}
    compare(f"{label}: action", columns_of["action"], expected["action"][rows])
    if expected["obs"].ndim == 4:
        pixels = np.moveaxis(columns_of[keys[0]], 1, -1)  # (T, C, H, W) in [0, 1]
        compare(f"{label}: obs", np.round(pixels * 255), expected["obs"][rows])
        return
    offset, columns = dict.fromkeys(keys, 0), []
    for feature, width in zip(expected["features"], expected["widths"], strict=True):
        columns.append(columns_of[feature][:, offset[feature] : offset[feature] + width])
        offset[feature] += width
    compare(f"{label}: obs", np.concatenate(columns, axis=1), expected["obs"][rows])


def lerobot_writes(dataset_class: Any, folder: Path) -> None:
    """Record vectors, a scalar, a matrix, an image and a video with LeRobot."""
    names = ["height", "width", "channels"]
    features: dict[str, dict[str, Any]] = {
        "observation.state": {"dtype": "float32", "shape": (3,), "names": ["x", "y", "z"]},
        "observation.one": {"dtype": "float32", "shape": (1,), "names": None},
        "observation.matrix": {"dtype": "float32", "shape": (2, 2), "names": None},
        "observation.images.still": {"dtype": "image", "shape": (64, 96, 3), "names": names},
        "observation.images.film": {"dtype": "video", "shape": (64, 96, 3), "names": names},
        "action": {"dtype": "float32", "shape": (2,), "names": ["a", "b"]},
    }
    root, rng = folder / "recorded", np.random.default_rng(0)
    folder.mkdir()
    recorder = dataset_class.create(
        "local/recorded", fps=10, features=features, root=root, vcodec="h264"
    )  # fmt: skip
    frames: dict[str, list[Any]] = {k: [] for k in features}
    for episode, length in enumerate((5, 8, 3)):
        for step in range(length):
            shade = np.full((64, 96, 3), 20 * step + 30 * episode, np.uint8)  # flat: survives film
            noise = rng.integers(0, 256, (64, 96, 3), dtype=np.uint8)
            frame = {
                k: rng.normal(size=f["shape"]).astype(np.float32)
                for k, f in features.items()
                if f["dtype"] == "float32"
            } | {"observation.images.still": noise, "observation.images.film": shade}
            recorder.add_frame({**frame, "task": f"task {episode % 2}"})
            for key, value in frame.items():
                frames[key].append(np.asarray(value))
        recorder.save_episode()
    recorder.finalize()
    rows = {k: np.stack(v) for k, v in frames.items()}
    vectors = ("observation.state", "observation.one", "observation.matrix")
    flat = np.concatenate([rows[k].reshape(len(rows[k]), -1) for k in vectors], axis=1)
    answer: dict[str, Any] = {"action": rows["action"]}
    np.savez(folder / "recorded.npz", obs=flat, within=0, **answer)
    for name, within in (("still", 0), ("film", 8)):
        pixels = rows[f"observation.images.{name}"]
        np.savez(folder / f"recorded@{name}.npz", obs=pixels, within=within, **answer)


def inside_robomimic(folder: Path) -> None:
    """Compare what robomimic reads with what was written, and time it."""
    dataset = importlib.import_module("robomimic.utils.dataset")
    utils = importlib.import_module("robomimic.utils.obs_utils")
    for answer in sorted(folder.glob("*.npz")):
        arrays = dict(np.load(answer))
        keys = arrays["keys"].tolist()
        utils.initialize_obs_utils_with_obs_specs({"obs": {"low_dim": keys, "rgb": []}})
        start = time.perf_counter()
        sequences = dataset.SequenceDataset(
            str(folder / f"{answer.stem}.hdf5"), obs_keys=keys, dataset_keys=["actions", "dones"],
            hdf5_cache_mode="all", load_next_obs=False,
        )  # fmt: skip
        seconds = time.perf_counter() - start
        print(
            f"  {answer.stem}: {sequences.n_demos} demos, "
            f"{len(sequences)} sequences, in {seconds:.2f} s"
        )
        compare(f"{answer.stem}: demos", sequences.n_demos, len(arrays["lengths"]))
        items = [sequences[i] for i in range(len(sequences))]
        obs = np.concatenate([np.concatenate([i["obs"][k] for k in keys], axis=1) for i in items])
        action = np.concatenate([i["actions"] for i in items])
        compare(f"{answer.stem}: obs", obs, arrays["obs"])
        compare(f"{answer.stem}: action", action, arrays["action"])


INSIDE: dict[str, Callable[[Path], None]] = {
    "minari": inside_minari,
    "lerobot": inside_lerobot,
    "robomimic": inside_robomimic,
}

if __name__ == "__main__":
    INSIDE[sys.argv[1]](Path(sys.argv[2]))
