"""A small dataset with the features of LeRobot's Push-T: agent, keypoints, and a target."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from counterbc import Demonstrations, Episode, save

STATE, ENVIRONMENT = "observation.state", "observation.environment_state"
FEATURES = {STATE: 2, ENVIRONMENT: 16}


def demonstrations(episodes: int = 8, steps: int = 40, seed: int = 0) -> Demonstrations:
    """Return episodes in which the target lies between the agent and the first keypoint."""
    rng = np.random.default_rng(seed)
    keys = tuple(FEATURES.items())
    return Demonstrations(
        tuple(_episode(rng, i, steps) for i in range(episodes)),
        obs_names=tuple(f"{key}[{i}]" for key, width in keys for i in range(width)),
        obs_keys=keys,
        action_names=("x", "y"),
        rate=10.0,
        env_args={"env_name": "gym_pusht/PushT-v0"},
    )


def _episode(rng: np.random.Generator, number: int, steps: int) -> Episode:
    agent, points = rng.uniform(100, 400, 2), rng.uniform(100, 400, 16)
    obs, actions = [], []
    for _ in range(steps):
        target = agent + 0.3 * (points[:2] - agent)
        obs.append(np.concatenate([agent, points]))
        actions.append(target + rng.normal(0, 5, 2))
        agent, points = actions[-1], points + rng.normal(0, 2, 16)
    return Episode(np.float32(obs), np.float32(actions), name=f"demo_{number}")


def write_dataset(folder: Path, **options: int) -> Path:
    """Write the dataset in LeRobot's format, and return its folder."""
    save(demonstrations(**options), folder, format="lerobot")
    return folder
