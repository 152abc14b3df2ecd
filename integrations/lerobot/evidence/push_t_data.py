"""People's recordings of Push-T as LeRobot's Push-T observes them, with and without errors."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np

import counterbc
from counterbc import Demonstrations
from reproduction.studies.filtering_data import record_late
from reproduction.studies.label_errors import ERRORS, with_errors
from reproduction.studies.lerobot import ERROR_SEED, LATE, data_name

Array = np.ndarray[Any, Any]
KEYS = (("observation.state", 2), ("observation.environment_state", 16))
"""Features of LeRobot's Push-T: the agent, and the corners of the block."""
LATE_FRAMES = 3
"""0.3 s at 10 Hz."""
TABLE = 512.0  # pixels


def dataset_path(folder: Path, data: str) -> Path:
    """Return the folder of a dataset."""
    return folder / "data" / data_name(data)


def weights_path(dataset: Path, radius: float) -> Path:
    """Return the file of the weights of a dataset."""
    return dataset.with_name(f"{dataset.name}-weights-{radius:g}.parquet")


def write_dataset(source: Path, out: Path, data: str) -> None:
    """Write the recordings with errors of a kind in LeRobot's format, if the folder is missing."""
    if out.exists():
        return
    demos = observed(counterbc.load(source, ["state"]))
    if data in ERRORS:
        demos = with_errors(demos, data, ERROR_SEED)
    if data == LATE:
        demos = with_actions(demos, [record_late(e.action, LATE_FRAMES) for e in demos.episodes])
    out.parent.mkdir(parents=True, exist_ok=True)
    clipped = [np.clip(e.action, 0, TABLE).astype(np.float32) for e in demos.episodes]
    counterbc.save(with_actions(demos, clipped), out, format="lerobot")


def write_weights(dataset: Path, radius: float) -> None:
    """Write the weights of the frames with `counterbc score`, if they are missing.

    On these data it ranks no episode without --force, because policies may only repeat the previous
    position.
    """
    out = weights_path(dataset, radius)
    if out.exists():
        return
    words = ["score", str(dataset), "--radius", str(radius), "--lag", "0", "--force"]
    command = [sys.executable, "-m", "counterbc", *words, "--weights", str(out)]
    subprocess.run(command, check=True, stdout=sys.stderr)


def with_actions(demos: Demonstrations, actions: list[Array]) -> Demonstrations:
    """Return the demonstrations with other actions."""
    pairs = zip(demos.episodes, actions, strict=True)
    return replace(demos, episodes=tuple(replace(e, action=action) for e, action in pairs))


def observed(demos: Demonstrations) -> Demonstrations:
    """Return demonstrations with agent and corners in the place of agent and pose of the block."""
    episodes = tuple(
        replace(
            e, obs=np.concatenate([e.obs[:, :2], corners(e.obs[:, 2:])], 1).astype(np.float32)
        )
        for e in demos.episodes
    )  # fmt: skip
    names = tuple(f"{key}[{i}]" for key, width in KEYS for i in range(width))
    return Demonstrations(
        episodes, obs_keys=KEYS, obs_names=names, action_names=("x", "y"), rate=10.0
    )


def corners(pose: Array) -> Array:
    """Return the corners of the block as LeRobot observes them, at poses x, y, angle: (T, 16).

    They are those of the two rectangles that form the T, four each, turned and moved.
    """
    import gym_pusht  # registers the world

    world = gymnasium.make(f"{gym_pusht.__name__}/PushT-v0", obs_type="environment_state_agent_pos")
    world.reset(seed=0)
    shapes = world.unwrapped._block_shapes
    local = np.array([tuple(v) for shape in shapes for v in shape.get_vertices()])  # (8, 2)
    cos, sin = np.cos(pose[:, 2]), np.sin(pose[:, 2])
    turn = np.stack([np.stack([cos, -sin], -1), np.stack([sin, cos], -1)], -2)  # (T, 2, 2)
    points = np.einsum("tij,kj->tki", turn, local) + pose[:, None, :2]
    return points.reshape(len(pose), 16)
