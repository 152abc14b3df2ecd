"""The world can as robosuite simulates it; skipped where robosuite is not installed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import gymnasium
import h5py
import numpy as np
import pytest
from numpy.typing import NDArray

from counterbc import evaluate, load, train
from counterbc.envs import make_vec
from counterbc.envs.can.world import Can, CanVector
from counterbc.errors import OptionError

Array = NDArray[Any]
needs_robosuite = pytest.mark.extra("robosuite")


@pytest.fixture
def one_core(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("counterbc.envs.can.world.cores", lambda: 1)


@needs_robosuite
@pytest.mark.usefixtures("one_core")
def test_a_slot_is_the_single_environment_and_rests_when_it_is_over() -> None:
    single, vector = Can(), CanVector(2, max_episode_steps=3)
    obs, _ = vector.reset(seed=[3, 4])
    np.testing.assert_array_equal(single.reset(seed=4)[0], obs[1])
    action = np.array([[0.5, 0, 0, 0, 0, 0, -1.0]] * 2)
    for _ in range(3):
        obs, _, terminated, truncated, _ = vector.step(action)
        np.testing.assert_array_equal(single.step(action[1])[0], obs[1])
    assert (terminated.tolist(), truncated.tolist()) == ([False] * 2, [True] * 2)
    resting_obs, reward, _, truncated, _ = vector.step(action)
    np.testing.assert_array_equal(resting_obs, obs)
    assert (reward.tolist(), truncated.tolist()) == ([0, 0], [True, True])
    new_obs, _ = vector.reset(options={"reset_mask": np.array([True, False])})
    assert (new_obs[0] != obs[0]).any()
    np.testing.assert_array_equal(new_obs[1], obs[1])
    assert vector.step(action)[3].tolist() == [False, True]


def robomimic_file(path: Path) -> Path:
    """Two short demonstrations with all the keys of robomimic's own files, and their env_args."""
    sizes = {
        "object": 14, "robot0_eef_pos": 3, "robot0_eef_quat": 4, "robot0_eef_quat_site": 4,
        "robot0_gripper_qpos": 2, "robot0_gripper_qvel": 2, "robot0_joint_pos": 7,
        "robot0_joint_pos_cos": 7, "robot0_joint_pos_sin": 7, "robot0_joint_vel": 7,
    }  # fmt: skip
    rng, kwargs = np.random.default_rng(0), {"robots": ["Panda"], "control_freq": 20}
    with h5py.File(path, "w") as file:
        data = file.create_group("data")
        args = {"env_name": "PickPlaceCan", "type": 1, "env_version": "1.4.1"}
        data.attrs["env_args"] = json.dumps(args | {"env_kwargs": kwargs})
        data.attrs["total"] = 24
        for name in ("demo_0", "demo_1"):
            demo = data.create_group(name)
            demo.attrs["num_samples"] = 12
            for key, size in sizes.items():
                demo[f"obs/{key}"] = rng.normal(size=(12, size))
                demo[f"next_obs/{key}"] = rng.normal(size=(12, size))
            gripper = np.sign(rng.normal(size=(12, 1)))
            demo["actions"] = np.hstack([rng.uniform(-1, 1, (12, 6)), gripper])
            demo["rewards"], demo["dones"] = np.zeros(12), np.eye(12)[-1]
            demo["states"] = rng.normal(size=(12, 71))
    return path


@needs_robosuite
@pytest.mark.usefixtures("one_core")
def test_what_is_trained_on_a_robomimic_file_is_evaluated_here(tmp_path: Path) -> None:
    demos = load(robomimic_file(tmp_path / "low_dim_v141.hdf5"))
    policies = train(demos, "counter-bc", radius=0.4, steps=3, progress=False)
    assert policies.obs_size == 23
    assert policies.members[0].radius == (0.4,) * 6 + (0.0,)
    result = evaluate(policies, episodes=2, max_episode_steps=4, progress=False)
    assert result.env == "PickPlaceCan"
    assert result.lengths.tolist() == [[4, 4]]
    assert set(result.measures) == {"success"}


@needs_robosuite
def test_bad_calls_are_refused() -> None:
    with pytest.raises(OptionError, match="render_mode is 'human'; allowed: 'rgb_array', or None"):
        Can(render_mode="human")
    env: Any = make_vec("can", 2)
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.step(np.zeros((2, 7)))
    with pytest.raises(OptionError, match="3 seeds for 2 slots"):
        env.reset(seed=[1, 2, 3])
