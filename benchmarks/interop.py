"""Do the real libraries read what we write, and do we read what they write?

    python benchmarks/interop.py [minari] [lerobot] [robomimic] [--keep FOLDER]

Each library is installed into an environment of its own in a temporary folder, which takes minutes
and the network. Datasets are written here, read there, and compared number by number; then the
other way round. Real demonstrations are used too where COUNTERBC_DATA names their folder.
"""

from __future__ import annotations

import argparse
import importlib
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

TORCH = "torch==2.13.0"  # without a pin, gigabytes of another build may come
INSTALLS: dict[str, list[list[str]]] = {
    "minari": [["minari[hdf5,arrow]==0.5.4", "pillow"]],
    "lerobot": [
        # lerobot 0.4.4 declares an older torch, and runs with this one; its recorder makes numbers
        # of arrays with one element, which newer versions of numpy refuse.
        [TORCH, "numpy<2.4", "pandas", "pyarrow", "pillow", "datasets>=4,<5",
         "huggingface-hub>=0.34.2,<0.36", "jsonlines", "draccus==0.10.0", "einops", "av<16",
         "imageio", "termcolor", "tqdm", "deepdiff", "accelerate", "packaging", "safetensors"],
        ["--no-deps", "lerobot==0.4.4", "torchvision==0.28.0", "torchcodec==0.13.0"],
    ],
    "robomimic": [
        [TORCH, "numpy", "h5py", "tqdm", "termcolor", "psutil", "setuptools", "wheel"],
        ["--no-deps", "--no-build-isolation", "robomimic>=0.3"],
    ],
}  # fmt: skip
IMAGES = "images"  # the dataset whose observations are images


# Here: write, and read what they wrote


def datasets() -> dict[str, Any]:
    """What is written: everything recorded, images, and real demonstrations."""
    from counterbc.data.demonstrations import Demonstrations, Episode
    from counterbc.formats import load

    rng = np.random.default_rng(0)
    made = [
        Episode(
            obs=rng.normal(size=(n, 5)), action=rng.normal(size=(n, 2)), reward=rng.normal(size=n),
            operator=f"operator {n % 2}", success=n % 2 == 0,
        )
        for n in (7, 1, 12, 30)
    ]  # fmt: skip
    full = Demonstrations(
        tuple(made),
        action_low=np.array([-2, -3]),
        action_high=np.array([2, 3]),
        obs_keys=(("position", 3), ("object", 2)),
        rate=20.0,
        masks={"task: push": ("demo_0", "demo_1"), "task: pull": ("demo_2", "demo_3")},
    )
    frames = rng.integers(0, 256, (6, 40, 48, 3), dtype=np.uint8)
    pixels = Demonstrations((Episode(obs=frames, action=rng.normal(size=(6, 2))),), rate=10.0)
    found = {"made-v0": full, f"{IMAGES}-v0": pixels}
    if "COUNTERBC_DATA" in os.environ:
        data = Path(os.environ["COUNTERBC_DATA"])
        found["pusht-v0"] = load(data / "pusht_human_206.hdf5")
        found["g1-v0"] = load(data / "fixtures" / "lerobot_v21_g1")
    return found


def write_all(library: str, folder: Path) -> None:
    """Each dataset as the library has it, and the numbers to find in it."""
    module = importlib.import_module(f"counterbc.formats.{library}")
    for name, demos in datasets().items():
        image = len(demos.obs_shape) > 1
        if library == "robomimic" and image:
            continue
        ending = ".hdf5" if library == "robomimic" else ""
        said = module.write(demos, folder / f"{name}{ending}")
        print(f"  wrote {name}: {len(demos)} episodes, {demos.pairs} pairs; {'; '.join(said)}")
        lengths = np.array([len(e) for e in demos.episodes])
        features = np.array([])
        if library == "lerobot" and not image:
            lf = importlib.import_module("counterbc.formats.lerobot.features")
            features = np.array(lf.obs_features(demos))
        reward = demos.mean_return is not None
        np.savez(
            folder / f"{name}.npz",
            obs=demos.obs,
            action=demos.action,
            lengths=lengths,
            keys=np.array([k for k, _ in demos.obs_keys]),
            widths=np.array([w for _, w in demos.obs_keys], int),
            features=features,
            reward=np.concatenate([e.reward for e in demos.episodes]) if reward else np.array([]),
        )


def read_theirs(library: str, folder: Path) -> None:
    """Compare what the library wrote, and the numbers it says are in it."""
    from counterbc.formats import load

    for answer in sorted(folder.glob("theirs/*.npz")):
        expected = dict(np.load(answer))
        name, _, key = answer.stem.partition("@")
        demos = load(folder / "theirs" / name, [key] if key else None, format=library)
        compare(f"their {answer.stem}: obs", demos.obs, expected["obs"], float(expected["within"]))
        compare(f"their {answer.stem}: action", demos.action, expected["action"])
        print(f"  their {answer.stem}: {len(demos)} episodes, {demos.pairs} pairs")


def read_ours(folder: Path) -> None:
    """How long we take to read what robomimic was just timed on."""
    from counterbc.formats import load

    for path in sorted(folder.glob("*.hdf5")):
        began = time.perf_counter()
        load(path)
        print(f"  {path.stem}: read by counterbc in {time.perf_counter() - began:.2f} s")


def compare(what: str, found: Any, expected: Any, within: float = 0.0) -> None:
    """Print the largest difference; stop where it is too large."""
    a, b = np.asarray(found), np.asarray(expected)
    if a.shape != b.shape:
        raise SystemExit(f"  {what}: shape {a.shape} but {b.shape} was written")
    apart = float(np.abs(a.astype(np.float64) - b.astype(np.float64)).max())
    print(f"  {what}: {a.shape} {a.dtype}, max abs difference {apart:g}")
    if apart > within:
        raise SystemExit(f"  {what}: differs by more than {within:g}")


# There: the same file, run by the Python of the other environment, where counterbc is not


def inside_minari(folder: Path) -> None:
    minari = importlib.import_module("minari")
    for answer in sorted(folder.glob("*.npz")):
        expected = dict(np.load(answer))
        dataset = minari.load_dataset(answer.stem)
        episodes = list(dataset.iterate_episodes())
        counts = (dataset.total_episodes, dataset.total_steps)
        print(f"  {answer.stem}: {counts[0]} episodes, {counts[1]} steps, {episodes[0]}"[:180])
        compare(f"{answer.stem}: lengths", [len(e) for e in episodes], expected["lengths"])
        keys = expected["keys"].tolist()
        joined = [
            np.concatenate([e.observations[k] for k in keys], axis=1)[:-1]
            if isinstance(e.observations, dict)
            else e.observations[:-1]
            for e in episodes
        ]
        compare(f"{answer.stem}: obs", np.concatenate(joined), expected["obs"])
        action = np.concatenate([e.actions for e in episodes])
        compare(f"{answer.stem}: action", action, expected["action"])
        if expected["reward"].size:
            reward = np.concatenate([e.rewards for e in episodes])
            compare(f"{answer.stem}: reward", reward, expected["reward"])
        assert dataset.action_space.shape == action.shape[1:]
    minari_writes(minari, folder / "theirs")


def minari_writes(minari: Any, folder: Path) -> None:
    """The same random episodes in each of Minari's stores."""
    spaces = importlib.import_module("gymnasium.spaces")
    buffers = importlib.import_module("minari.data_collector.episode_buffer")
    os.environ["MINARI_DATASETS_PATH"] = str(folder)
    camera = spaces.Box(0, 255, (40, 48, 3), np.uint8)
    shards = {"q": spaces.Box(-1, 1, (2,), np.float64), "cam": camera, "k": spaces.Discrete(5)}
    space, actions = spaces.Dict(shards), spaces.Box(-1, 2, (2,), np.float32)
    for store in ("hdf5", "arrow", "parquet"):
        made = []
        for steps in (3, 5):
            obs = {k: np.stack([s.sample() for _ in range(steps + 1)]) for k, s in shards.items()}
            act = np.stack([actions.sample() for _ in range(steps)])
            end = [False] * (steps - 1) + [True]
            made.append(buffers.EpisodeBuffer(
                observations=obs, actions=act, rewards=[1.0] * steps, terminations=end,
                truncations=[False] * steps, infos={},
            ))  # fmt: skip
        about = {"algorithm_name": "-", "author": "-", "author_email": "-", "code_permalink": "-"}
        minari.create_dataset_from_buffers(
            dataset_id=f"{store}-v0", buffer=made, observation_space=space, action_space=actions,
            data_format=store, **about,
        )  # fmt: skip
        read = list(minari.load_dataset(f"{store}-v0").iterate_episodes())
        columns = [np.column_stack([e.observations[k][:-1] for k in ("k", "q")]) for e in read]
        answer: dict[str, Any] = {"action": np.concatenate([e.actions for e in read])}
        answer["within"] = 1e-7
        np.savez(folder / f"{store}-v0.npz", obs=np.concatenate(columns), **answer)
        pixels = np.concatenate([e.observations["cam"][:-1] for e in read])
        np.savez(folder / f"{store}-v0@cam.npz", obs=pixels, **answer)


def inside_lerobot(folder: Path) -> None:
    torch = importlib.import_module("torch")
    # Operators that torchvision wants and this build of it does not bring; none is called.
    missing = torch.library.Library("torchvision", "DEF")
    for name in ("nms", "qnms"):
        missing.define(f"{name}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
    dataset_class = importlib.import_module("lerobot.datasets.lerobot_dataset").LeRobotDataset
    for answer in sorted(folder.glob("*.npz")):
        expected = dict(np.load(answer))
        root = folder / answer.stem
        whole = dataset_class(f"local/{answer.stem}", root=root)
        print(f"  {answer.stem}: {whole.num_episodes} episodes, {whole.num_frames} frames, "
              f"{whole.fps} fps, first task {whole[0]['task']!r}")  # fmt: skip
        ends = np.cumsum(expected["lengths"])
        chosen = [1, 3] if len(ends) > 3 else [0]
        rows = np.concatenate(
            [np.arange(ends[e] - expected["lengths"][e], ends[e]) for e in chosen]
        )
        lerobot_compare(f"{answer.stem}: all", whole, expected, np.arange(ends[-1]), torch)
        part = dataset_class(f"local/{answer.stem}", root=root, episodes=chosen)
        lerobot_compare(f"{answer.stem}: episodes {chosen}", part, expected, rows, torch)
        deltas = {"action": [0.0, 1 / whole.fps]}
        ahead = dataset_class(f"local/{answer.stem}", root=root, delta_timestamps=deltas)
        two = expected["action"][[0, min(1, ends[0] - 1)]]
        compare(f"{answer.stem}: action and the next", ahead[0]["action"], two)
        stats = whole.meta.stats["action"]
        compare(f"{answer.stem}: mean", stats["mean"], expected["action"].mean(0, np.float64), 1e-5)
        compare(f"{answer.stem}: std", stats["std"], expected["action"].std(0, np.float64), 1e-5)
    lerobot_writes(dataset_class, folder / "theirs")


def lerobot_compare(what: str, dataset: Any, expected: Any, rows: Any, torch: Any) -> None:
    """All batches of a DataLoader against the rows that were written."""
    loader = torch.utils.data.DataLoader(dataset, batch_size=64, num_workers=0)
    keys = [k for k in dataset.features if k.startswith("observation.")]
    batches = [{k: b[k].numpy() for k in (*keys, "action")} for b in loader]
    found = {k: np.concatenate([b[k] for b in batches]) for k in (*keys, "action")}
    compare(f"{what}: action", found["action"], expected["action"][rows])
    if expected["obs"].ndim == 4:
        shown = np.moveaxis(found[keys[0]], 1, -1)  # (T, C, H, W) in [0, 1]
        compare(f"{what}: obs", np.round(shown * 255), expected["obs"][rows])
        return
    used, columns = dict.fromkeys(keys, 0), []
    for feature, width in zip(expected["features"], expected["widths"], strict=True):
        columns.append(found[feature][:, used[feature] : used[feature] + width])
        used[feature] += width
    compare(f"{what}: obs", np.concatenate(columns, axis=1), expected["obs"][rows])


def lerobot_writes(dataset_class: Any, folder: Path) -> None:
    """Vectors, a scalar, a matrix, an image and a film, as LeRobot's recorder stores them."""
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
    made = dataset_class.create(
        "local/recorded", fps=10, features=features, root=root, vcodec="h264"
    )  # fmt: skip
    kept: dict[str, list[Any]] = {k: [] for k in features}
    for episode, length in enumerate((5, 8, 3)):
        for step in range(length):
            shade = np.full((64, 96, 3), 20 * step + 30 * episode, np.uint8)  # flat: survives film
            noise = rng.integers(0, 256, (64, 96, 3), dtype=np.uint8)
            frame = {
                k: rng.normal(size=f["shape"]).astype(np.float32)
                for k, f in features.items()
                if f["dtype"] == "float32"
            } | {"observation.images.still": noise, "observation.images.film": shade}
            made.add_frame({**frame, "task": f"task {episode % 2}"})
            for key, value in frame.items():
                kept[key].append(np.asarray(value))
        made.save_episode()
    made.finalize()
    rows = {k: np.stack(v) for k, v in kept.items()}
    vectors = ("observation.state", "observation.one", "observation.matrix")
    flat = np.concatenate([rows[k].reshape(len(rows[k]), -1) for k in vectors], axis=1)
    answer: dict[str, Any] = {"action": rows["action"]}
    np.savez(folder / "recorded.npz", obs=flat, within=0, **answer)
    for name, within in (("still", 0), ("film", 8)):
        pixels = rows[f"observation.images.{name}"]
        np.savez(folder / f"recorded@{name}.npz", obs=pixels, within=within, **answer)


def inside_robomimic(folder: Path) -> None:
    dataset = importlib.import_module("robomimic.utils.dataset")
    utils = importlib.import_module("robomimic.utils.obs_utils")
    for answer in sorted(folder.glob("*.npz")):
        expected = dict(np.load(answer))
        keys = expected["keys"].tolist()
        utils.initialize_obs_utils_with_obs_specs({"obs": {"low_dim": keys, "rgb": []}})
        began = time.perf_counter()
        found = dataset.SequenceDataset(
            str(folder / f"{answer.stem}.hdf5"), obs_keys=keys, dataset_keys=["actions", "dones"],
            hdf5_cache_mode="all", load_next_obs=False,
        )  # fmt: skip
        seconds = time.perf_counter() - began
        print(f"  {answer.stem}: {found.n_demos} demos, {len(found)} sequences, in {seconds:.2f} s")
        compare(f"{answer.stem}: demos", found.n_demos, len(expected["lengths"]))
        items = [found[i] for i in range(len(found))]
        obs = np.concatenate([np.concatenate([i["obs"][k] for k in keys], axis=1) for i in items])
        action = np.concatenate([i["actions"] for i in items])
        compare(f"{answer.stem}: obs", obs, expected["obs"])
        compare(f"{answer.stem}: action", action, expected["action"])


INSIDE: dict[str, Callable[[Path], None]] = {
    "minari": inside_minari,
    "lerobot": inside_lerobot,
    "robomimic": inside_robomimic,
}


def check(library: str, folder: Path) -> None:
    """Install a library, write, let it read and write, and read."""
    print(f"{library}: installing into an environment of its own")
    environment, shared = folder / "environment", folder / "datasets"
    python = environment / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", environment], check=True)
        for packages in INSTALLS[library]:
            subprocess.run([python, "-m", "pip", "install", "-q", *packages], check=True)
    shared.mkdir(parents=True)
    write_all(library, shared)
    offline = {"HF_HUB_OFFLINE": "1", "HF_HOME": str(folder / "cache"), "PYTHONPATH": ""}
    variables = os.environ | offline | {"MINARI_DATASETS_PATH": str(shared)}
    subprocess.run(
        [python, __file__, "--inside", library, str(shared)], check=True, env=variables
    )  # fmt: skip
    read_theirs(library, shared)
    if library == "robomimic":
        read_ours(shared)
    print(f"{library}: all as written")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("libraries", nargs="*", help="minari, lerobot, robomimic; by default all")
    parser.add_argument("--keep", type=Path, help="where environments and datasets stay")
    parser.add_argument("--inside", nargs=2, metavar=("LIBRARY", "FOLDER"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.inside:
        INSIDE[options.inside[0]](Path(options.inside[1]))
        return
    for library in options.libraries or INSTALLS:
        with tempfile.TemporaryDirectory() as temporary:
            folder = options.keep or Path(temporary)
            check(library, folder / library)


if __name__ == "__main__":
    main()
