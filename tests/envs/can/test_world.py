"""The world can as robosuite simulates it; skipped where robosuite is not installed."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import gymnasium
import h5py
import numpy as np
import pytest
from numpy.typing import NDArray

from counterbc import evaluate, load, train
from counterbc.demonstrators.can_recording import perform
from counterbc.envs import make_vec
from counterbc.envs.can import simulator as can_simulator
from counterbc.envs.can import workers as can_workers
from counterbc.envs.can.expert import expert
from counterbc.envs.can.simulator import Simulator
from counterbc.envs.can.world import Can, CanVector
from counterbc.errors import CounterBCError, MissingExtra, OptionError

Array = NDArray[Any]
needs_robosuite = pytest.mark.extra("robosuite")


@pytest.fixture(scope="module")
def simulator() -> Simulator:
    return can_workers.local_simulator().simulator


@pytest.fixture
def one_core(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("counterbc.envs.can.world.cores", lambda: 1)


def test_without_robosuite_the_install_line_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "robosuite", None)
    with pytest.raises(MissingExtra, match=r"pip install 'counterbc\[can\]'"):
        can_simulator.library()


@needs_robosuite
def test_a_seed_gives_the_same_start_whatever_ran_before(simulator: Simulator) -> None:
    first = simulator.start(5)
    other = simulator.start(6)
    for _ in range(3):
        other = simulator.advance(other, np.array([1.0, 0, -1, 0.2, 0, 0, 1]))
    np.testing.assert_array_equal(simulator.start(5), first)
    before = np.random.get_state()[1].copy()  # type: ignore[index]  # of the old generator
    assert np.abs(simulator.start(6) - first).max() > 0.01
    np.testing.assert_array_equal(np.random.get_state()[1], before)  # type: ignore[index]


@needs_robosuite
def test_physics_and_controller_are_robosuites_own(simulator: Simulator) -> None:
    state = simulator.start(7)
    theirs = Simulator()
    theirs._load(theirs.start(7))
    del theirs.robot.controller.update  # robosuite's again
    theirs.sim.forward()
    action = np.random.default_rng(0).uniform(-0.5, 0.5, (15, 7))
    for own in action:
        state = simulator.advance(state, own)
        theirs.env.step(own)
    simulator._load(state)
    np.testing.assert_allclose(simulator.sim.data.qpos, theirs.sim.data.qpos, atol=1e-5)


@needs_robosuite
def test_an_observation_is_of_the_state_it_is_asked_for(simulator: Simulator) -> None:
    state = simulator.start(8)
    obs, success = simulator.observe(state)
    after = simulator.advance(state, np.array([1.0, 0, 0, 0, 0, 0, -1]))
    moved, _ = simulator.observe(after)
    np.testing.assert_array_equal(simulator.observe(state)[0], obs)
    assert not success
    assert obs.shape == (23,)
    assert obs.dtype == np.float32
    assert moved[14] - obs[14] > 0.002  # the hand went along x
    np.testing.assert_allclose(moved[:2], obs[:2], atol=1e-3)  # the can did not
    # The can as the hand sees it is as far away as it is.
    np.testing.assert_allclose(
        np.linalg.norm(obs[7:10]), np.linalg.norm(obs[:3] - obs[14:17]), rtol=1e-4
    )


@needs_robosuite
def test_the_expert_succeeds_and_the_episode_ends_with_a_reward(simulator: Simulator) -> None:
    env = gymnasium.make("counterbc/Can-v0")
    obs, info = env.reset(seed=0)
    assert info["success"] == 0
    steps, terminated = 0, False
    while not terminated and steps < 250:
        steps += 1
        obs, reward, terminated, truncated, info = env.step(
            expert(obs[None], np.zeros(1, np.int64), 0)[0]
        )
    assert (terminated, truncated, reward, info["success"]) == (True, False, 1.0, 1.0)
    assert 100 < steps < 200


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
    again, reward, _, truncated, _ = vector.step(action)
    np.testing.assert_array_equal(again, obs)
    assert (reward.tolist(), truncated.tolist()) == ([0, 0], [True, True])
    begun, _ = vector.reset(options={"reset_mask": np.array([True, False])})
    assert (begun[0] != obs[0]).any()
    np.testing.assert_array_equal(begun[1], obs[1])
    assert vector.step(action)[3].tolist() == [False, True]


@needs_robosuite
def test_processes_give_what_one_does_and_their_loss_is_told() -> None:
    pool = can_workers.Pool(2)
    try:
        states, obs, _ = pool.begin([1, 2, 3])
        alone = can_workers.local_simulator()
        np.testing.assert_array_equal(obs, alone.begin([1, 2, 3])[1])
        action = np.tile([0.3, 0.0, -0.3, 0, 0, 0, -1.0], (3, 1))
        np.testing.assert_array_equal(
            pool.advance(states, action)[1], alone.advance(states, action)[1]
        )
        with pytest.raises(CounterBCError, match="the world can failed: ValueError"):
            pool.advance(states, action[:, :4])
        pool._processes[0].kill()
        pool._processes[0].join()
        with pytest.raises(CounterBCError, match="a process of the world can was lost"):
            pool.advance(states, action)
        for process in pool._processes:
            process.join(10)
            assert not process.is_alive()
    finally:
        pool.close()


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
    found = evaluate(policies, episodes=2, max_episode_steps=4, progress=False)
    assert found.env == "PickPlaceCan"
    assert found.lengths.tolist() == [[4, 4]]
    assert set(found.measures) == {"success"}


@needs_robosuite
def test_bad_calls_are_refused() -> None:
    with pytest.raises(OptionError, match="render_mode is 'human'; allowed: 'rgb_array', or None"):
        Can(render_mode="human")
    env: Any = make_vec("can", 2)
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.step(np.zeros((2, 7)))
    with pytest.raises(OptionError, match="3 seeds for 2 slots"):
        env.reset(seed=[1, 2, 3])


@needs_robosuite
@pytest.mark.slow
def test_every_operator_succeeds_and_repeats_themselves(simulator: Simulator) -> None:
    from counterbc.demonstrators.can_operators import OPERATORS

    lengths = {}
    for name in OPERATORS:
        episode = perform(name, 0)
        lengths[name] = len(episode)
        assert episode.success
        assert episode.operator == name
    again = perform("synthetic_better_1", 0)
    assert len(again) == lengths["synthetic_better_1"] < lengths["synthetic_worse_2"]
