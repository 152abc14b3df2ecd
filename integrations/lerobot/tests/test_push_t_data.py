"""The data of the evidence are what LeRobot's Push-T observes, with the errors that are named."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest

ROOT = Path(__file__).parents[3]
sys.path[:0] = [str(ROOT), str(ROOT / "integrations/lerobot/evidence")]

import push_t_data  # noqa: E402
from push_t_data import corners, dataset_path, write_dataset  # noqa: E402

from counterbc import Demonstrations, Episode, load, save  # noqa: E402
from reproduction.studies.lerobot import LATE, PEOPLE, UNIFORM  # noqa: E402

Array = np.ndarray[Any, Any]


def made_up(folder: Path) -> Path:
    """Write recordings with the state of agent and block, as the file of people has them."""
    rng, episodes = np.random.default_rng(0), []
    for _ in range(3):
        obs = np.concatenate([rng.uniform(100, 400, (20, 4)), rng.uniform(0, 6, (20, 1))], 1)
        episodes.append(Episode(obs.astype(np.float32), rng.uniform(0, 512, (20, 2))))
    save(Demonstrations(tuple(episodes), obs_keys=(("state", 5),), rate=10.0), folder / "a.hdf5")
    return folder / "a.hdf5"


def test_corners_are_those_that_the_world_observes() -> None:
    import gym_pusht  # noqa: F401  # registers the world

    world = gymnasium.make("gym_pusht/PushT-v0", obs_type="environment_state_agent_pos")
    poses, seen = [], []
    for seed in range(20):
        obs, info = world.reset(seed=seed)
        poses.append(info["block_pose"])
        seen.append(obs["environment_state"])
    np.testing.assert_allclose(corners(np.array(poses)), np.array(seen), rtol=0, atol=1e-9)


@pytest.mark.parametrize("data", [PEOPLE, UNIFORM, LATE])
def test_data_have_the_features_of_lerobot_and_their_errors(data: str, tmp_path: Path) -> None:
    source, out = made_up(tmp_path), dataset_path(tmp_path, data)
    write_dataset(source, out, data)
    demos, people = load(out), load(source, ["state"])
    assert dict(demos.obs_keys) == dict(push_t_data.KEYS)
    state = np.concatenate([e.obs for e in people.episodes])
    np.testing.assert_allclose(demos.obs[:, :2], state[:, :2])
    np.testing.assert_allclose(demos.obs[:, 2:], corners(state[:, 2:]), rtol=1e-5, atol=1e-3)
    change = np.abs(demos.action - people.action)
    if data == PEOPLE:
        assert change.max() < 1e-3
    elif data == UNIFORM:
        assert 30 < change.max() <= 0.2 * 256 + 1e-3
    else:
        np.testing.assert_allclose(demos.episodes[1].action[3:], people.episodes[1].action[:-3])
    assert demos.action.min() >= 0
    assert demos.action.max() <= 512
