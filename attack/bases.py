"""Small valid files of every format, runs and stopped trainings, for the attack to damage."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import h5py
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from torch import Tensor

from attack.commands import run_command
from counterbc import Demonstrations, Episode, load, train
from counterbc.formats import save
from counterbc.training import checkpoints, loop
from tests.formats.lerobot import foreign as lerobot
from tests.formats.minari import foreign as minari

RESUME = ("--method", "bc", "--steps", "200", "--hidden", "8", "--ensemble", "1", "--lag", "0")
"""Options of the stopped training, which resuming repeats."""


@dataclass(frozen=True)
class Base:
    """A valid file or folder: how it is made, how it is read, and what its format promises."""

    make: Callable[[Demonstrations, Path], None]
    kind: str = "data"
    """data, run, or training (one that was stopped)."""
    checksums: bool = False
    """Whether every number is covered by a checksum, so that damage to it must be noticed."""
    counts: bool = True
    """Whether the file says how many rows it has, without which lost rows cannot be noticed."""


def recordings() -> Demonstrations:
    """Return four short episodes of two operators, with everything that a format can store."""
    rng = np.random.default_rng(0)
    episodes = []
    for i, length in enumerate((12, 9, 11, 8)):
        obs = rng.uniform(-1, 1, (length, 4)).astype(np.float32)
        action = np.stack([np.tanh(obs[:, 0]), obs[:, 1] * obs[:, 2]], 1).astype(np.float32)
        operator, reward = ("ann", "bob")[i % 2], rng.uniform(0, 1, length)
        episodes.append(Episode(obs, action, reward, operator, i % 2 == 0, f"demo_{i}"))
    return Demonstrations(
        tuple(episodes),
        action_low=np.full(2, -1.5),
        action_high=np.full(2, 1.5),
        obs_keys=(("position", 3), ("angle", 1)),
        rate=20.0,
        masks={"expert": ("demo_0", "demo_2")},
        env_args={"env_name": "CartPole-v1", "type": 2, "env_kwargs": {}},
    )


def _write(format: str) -> Callable[[Demonstrations, Path], None]:
    return lambda demos, path: _save(demos, path, format)


def _save(demos: Demonstrations, path: Path, format: str) -> None:
    save(demos, path, format=format)


def _images(demos: Demonstrations, path: Path) -> None:
    rng = np.random.default_rng(1)
    episodes = tuple(
        Episode(rng.integers(0, 255, (3, 8, 8, 3), np.uint8), episode.action[:3])
        for episode in demos.episodes[:2]
    )
    save(Demonstrations(episodes), path, format="lerobot")


def _robomimic(demos: Demonstrations, path: Path) -> None:
    """Write a file as robomimic's own tools do: without checksums and without our attributes."""
    with h5py.File(path, "w") as file:
        data = file.create_group("data")
        data.attrs["env_args"] = json.dumps({"env_name": "Lift", "type": 1, "env_kwargs": {}})
        data.attrs["total"] = demos.pairs
        for i, episode in enumerate(demos.episodes):
            group = data.create_group(f"demo_{i}")
            group.attrs["num_samples"] = len(episode)
            group["actions"] = episode.action.astype(np.float64)
            group["rewards"], group["dones"] = episode.reward, np.zeros(len(episode), np.int64)
            group["obs/object"] = episode.obs[:, :3].astype(np.float64)
            group["obs/robot0_eef_pos"] = episode.obs[:, 3:].astype(np.float64)
            group["obs/image"] = np.full((len(episode), 6, 6, 3), i, np.uint8)
        file["mask/train"] = np.array([b"demo_0", b"demo_1"])


def _lerobot21(demos: Demonstrations, root: Path) -> None:
    """Write a folder as LeRobot 2.1 does: a Parquet file per episode."""
    (root / "meta").mkdir(parents=True)
    (root / "data/chunk-000").mkdir(parents=True)
    lines = []
    for i, episode in enumerate(demos.episodes):
        rows = np.arange(len(episode))
        columns = {
            "observation.state": pa.array(episode.obs.tolist(), pa.list_(pa.float32())),
            "action": pa.array(episode.action.tolist(), pa.list_(pa.float32())),
            "timestamp": pa.array(rows / 20, pa.float32()),
            "frame_index": pa.array(rows),
            "episode_index": pa.array(np.full(len(episode), i)),
            "index": pa.array(rows),
            "task_index": pa.array(np.zeros(len(episode), np.int64)),
        }
        pq.write_table(pa.table(columns), root / f"data/chunk-000/episode_{i:06d}.parquet")
        lines.append({"episode_index": i, "tasks": ["push"], "length": len(episode)})
    scalar = {"dtype": "int64", "shape": [1], "names": None}
    counters = ("timestamp", "frame_index", "episode_index", "index", "task_index")
    features = {name: scalar | {"dtype": "int64"} for name in counters}
    features["timestamp"]["dtype"] = "float32"
    for name, width in (("observation.state", 4), ("action", 2)):
        features[name] = {"dtype": "float32", "shape": [width], "names": None}
    info = {
        "codebase_version": "v2.1", "robot_type": "arm", "total_episodes": len(lines),
        "total_frames": demos.pairs, "total_tasks": 1, "chunks_size": 1000, "fps": 20,
        "splits": {"train": f"0:{len(lines)}"}, "video_path": None, "features": features,
        "data_path": "data/chunk-{episode_chunk:03d}/episode_{episode_index:06d}.parquet",
    }  # fmt: skip
    (root / "meta/info.json").write_text(json.dumps(info, indent=1))
    (root / "meta/episodes.jsonl").write_text("".join(json.dumps(x) + "\n" for x in lines))
    (root / "meta/tasks.jsonl").write_text('{"task_index": 0, "task": "push"}\n')


def _minari_packed(_: Demonstrations, root: Path) -> None:
    minari.foreign(root, "arrow")
    options = pa.ipc.IpcWriteOptions(compression="zstd")
    for file in root.rglob("*.arrow"):
        with pa.OSFile(str(file)) as source:
            table = pa.ipc.open_file(source).read_all()
        with pa.ipc.new_file(file, table.schema, options=options) as writer:
            writer.write_table(table)


def _d4rl(demos: Demonstrations, path: Path) -> None:
    with h5py.File(path, "w") as file:
        file["observations"], file["actions"] = demos.obs, demos.action
        file["rewards"], file["terminals"] = np.zeros(demos.pairs, "f4"), _ends(demos)
        file["timeouts"] = np.zeros(demos.pairs, bool)
        file.create_dataset("extra", data=np.arange(10), compression="gzip")


def _ends(demos: Demonstrations) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    ends = np.zeros(demos.pairs, bool)
    ends[np.cumsum([len(episode) for episode in demos.episodes]) - 1] = True
    return ends


def _plain_npz(demos: Demonstrations, path: Path) -> None:
    lengths = [len(episode) for episode in demos.episodes]
    operators = np.array([episode.operator for episode in demos.episodes])
    episodes = np.repeat(np.arange(len(lengths)), lengths)
    np.savez(path, obs=demos.obs, action=demos.action, episode=episodes, operator=operators)


def _packed_npz(demos: Demonstrations, path: Path) -> None:
    ends = np.flatnonzero(_ends(demos)) + 1
    action = np.asfortranarray(demos.action)
    np.savez_compressed(path, obs=demos.obs, action=action, episode_ends=ends)


def _csv(demos: Demonstrations, path: Path) -> None:
    lines = ["episode,operator,reward,s0,s1,s2,s3,action_0,action_1"]
    for i, episode in enumerate(demos.episodes):
        for obs, action in zip(episode.obs, episode.action, strict=True):
            numbers = ",".join(f"{x:.9g}" for x in (*obs, *action))
            lines.append(f"{i},{episode.operator},0.5,{numbers}")
    path.write_text("\n".join(lines) + "\n")


def _run(method: str, **options: object) -> Callable[[Demonstrations, Path], None]:
    def make(demos: Demonstrations, path: Path) -> None:
        small: dict[str, object] = {"steps": 10, "hidden": (8,), "progress": False}
        train(demos, method, seeds=2, out=path, radius=0.3, **small, **options)  # type: ignore[arg-type] # options of any type

    return make


def _stopped(demos: Demonstrations, path: Path) -> None:
    """Write demonstrations, and a training on them that was stopped at its first save."""
    path.mkdir()
    save(demos, path / "demos.npz")
    original, seconds = checkpoints.save_state, loop._SAVE_EVERY

    def save_and_stop(folder: Path, state: dict[str, Tensor]) -> None:
        original(folder, state)
        raise KeyboardInterrupt

    checkpoints.save_state, loop._SAVE_EVERY = save_and_stop, 0.0
    try:
        run_command("train", path / "demos.npz", *RESUME, "--out", path / "run")
    finally:
        checkpoints.save_state, loop._SAVE_EVERY = original, seconds


BASES: dict[str, Base] = {
    "own.hdf5": Base(_write("robomimic"), checksums=True),
    "own.npz": Base(_write("npz"), checksums=True),
    "own_lerobot": Base(_write("lerobot"), checksums=True),
    "own_minari": Base(_write("minari"), checksums=True),
    "own_images": Base(_images, checksums=True),
    "robomimic.hdf5": Base(_robomimic),
    "lerobot21": Base(_lerobot21),
    "lerobot30": Base(lambda _, path: _ignore(lerobot.with_images(path))),
    "minari_hdf5": Base(lambda _, path: _ignore(minari.foreign(path, "hdf5"))),
    "minari_arrow": Base(lambda _, path: _ignore(minari.foreign(path, "arrow"))),
    "minari_packed": Base(_minari_packed),
    "minari_parquet": Base(lambda _, path: _ignore(minari.foreign(path, "parquet"))),
    "d4rl.hdf5": Base(_d4rl),
    "plain.npz": Base(_plain_npz),
    "packed.npz": Base(_packed_npz),
    "table.csv": Base(_csv, counts=False),
    "run_counter_bc": Base(_run("counter-bc"), "run"),
    "run_rnn": Base(_run("bc-rnn"), "run"),
    "run_bcnd": Base(_run("bcnd"), "run"),
    "run_ileed": Base(_run("ileed"), "run"),
    "run_mixture": Base(_run("bc", policy="mixture"), "run"),
    "stopped": Base(_stopped, "training"),
}
"""Every base by the name of its file or folder."""


def _ignore(_: object) -> None:
    return None


def make_bases(folder: Path) -> None:
    """Make the bases that are not in a folder yet, and check that each can be read."""
    folder.mkdir(parents=True, exist_ok=True)
    demos = recordings()
    for name, base in BASES.items():
        if not (folder / name).exists():
            plain = replace(demos, masks={}) if name == "own_minari" else demos
            base.make(plain, folder / name)
            if base.kind == "data":
                load(folder / name)
