"""Car Racing: tracks by seed, tiles from rewards, and both simulators."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest
from numpy.typing import NDArray

from counterbc.acting.evaluation import evaluate
from counterbc.data.demonstrations import Demonstrations
from counterbc.demonstrators import UniformNoise, demonstrate
from counterbc.envs import WORLDS, make_vec
from counterbc.envs.car_racing import world as car_racing
from counterbc.envs.car_racing.world import CarRacingVector, Tiles, find_backend
from counterbc.errors import MissingExtra, OptionError, SlowSimulator
from counterbc.trainer import train
from tests.envs.car_racing.backends import BACKENDS, needs_box2d, needs_envpool

Array = NDArray[Any]
AHEAD = [0.0, 0.6, 0.0]


def drive(env: Any, steps: int, action: Any = None) -> tuple[Array, Array]:
    """The frames and the rewards: (steps, N, …) each."""
    actions = np.tile(AHEAD, (env.num_envs, 1)) if action is None else action
    results = [env.step(actions)[:2] for _ in range(steps)]
    return np.stack([f for f, _ in results]), np.stack([r for _, r in results])


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_seed_fixes_the_track_whatever_the_other_slots_are(backend: str) -> None:
    vector_envs: list[Any] = [make_vec("car-racing", n, backend=backend) for n in (3, 2)]
    three, two = vector_envs
    first = three.reset(seed=[7, 8, 7])[0]
    second_frames = two.reset(seed=[8, 7])[0]
    assert not np.array_equal(first[0], first[1])
    frames, rewards = drive(three, 20)
    other_frames, other_rewards = drive(two, 20)
    np.testing.assert_array_equal(frames[:, 0], frames[:, 2])
    np.testing.assert_array_equal(frames[:, [1, 0]], other_frames)
    np.testing.assert_array_equal(rewards[:, [1, 0]], other_rewards)
    np.testing.assert_array_equal(two.reset(seed=[8, 7])[0], second_frames)
    assert not np.array_equal(two.reset()[0], second_frames)  # without a seed, the next tracks
    three.close()
    two.close()


@pytest.mark.parametrize("backend", BACKENDS)
def test_an_episode_that_is_over_begins_anew_at_the_next_step(backend: str) -> None:
    env: Any = make_vec("car-racing", 2, backend=backend, max_episode_steps=30)
    start = env.reset(seed=[1, 2])[0]
    for t in range(30):
        *_, terminated, truncated, info = env.step(np.tile(AHEAD, (2, 1)))
        assert truncated.tolist() == [t == 29] * 2
        assert not terminated.any()
    assert (info["tiles"] > 1).all()
    obs, reward, _, truncated, info = env.step(np.tile(AHEAD, (2, 1)))
    assert reward.tolist() == info["tiles"].tolist() == info["lap"].tolist() == [0, 0]
    assert not truncated.any()
    assert obs.shape == start.shape
    assert env.step(np.tile(AHEAD, (2, 1)))[1].any()
    env.close()


def test_tiles_are_counted_from_rewards() -> None:
    tiles = Tiles(3)
    tile_reward = 1000 / 250
    for gains in ([2, 2, 0], [0, 2, 0], [1, 0, 0]):
        tiles.add(tile_reward * np.array(gains) - 0.1)
    np.testing.assert_array_equal(tiles.count, [3, 4, 0])  # also where none came alone
    np.testing.assert_allclose(tiles.share, [3 / 250, 4 / 250, 0])
    tiles.add(np.array([-100.0, -0.1, -0.1]))  # off the field
    np.testing.assert_array_equal(tiles.count, [3, 4, 0])
    tiles.begin(np.array([True, False, False]))
    np.testing.assert_array_equal(tiles.count, [0, 4, 0])


@needs_box2d
def test_tiles_are_those_that_gymnasium_counts() -> None:
    env: Any = make_vec("car-racing", 1, backend="gymnasium")
    env.reset(seed=[3])
    for _ in range(60):
        info = env.step(np.array([AHEAD]))[4]
    inner = env.unwrapped._pool.envs[0].unwrapped
    assert info["tiles"].tolist() == [inner.tile_visited_count]
    np.testing.assert_allclose(info["lap"], inner.tile_visited_count / len(inner.track))
    env.close()


@pytest.mark.parametrize("backend", BACKENDS)
def test_actions_beyond_their_bounds_are_cut_off_there(backend: str) -> None:
    envs: list[Any] = [make_vec("car-racing", 1, backend=backend) for _ in range(2)]
    for env in envs:
        env.reset(seed=[4])
    wild, clipped_action = (np.array([a]) for a in ([-3.0, 2.0, -1.0], [-1.0, 1.0, 0.0]))
    for _ in range(10):
        np.testing.assert_array_equal(envs[0].step(wild)[0], envs[1].step(clipped_action)[0])
    for env in envs:
        env.close()


@needs_envpool
def test_the_single_environment_is_a_slot_of_the_vector_one() -> None:
    single_env: Any = gymnasium.make(WORLDS["car-racing"].id, render_mode="rgb_array")
    many: Any = make_vec("car-racing", 2)
    np.testing.assert_array_equal(single_env.reset(seed=5)[0], many.reset(seed=[5, 6])[0][0])
    for _ in range(5):
        obs, reward, _, _, info = single_env.step(np.array(AHEAD, np.float32))
        frames, rewards, _, _, infos = many.step(np.tile(AHEAD, (2, 1)))
        np.testing.assert_array_equal(obs, frames[0])
        assert reward == rewards[0]
        assert info == {"tiles": infos["tiles"][0], "lap": infos["lap"][0]}
    np.testing.assert_array_equal(single_env.render()[::3, ::3], obs)
    single_env.close()
    many.close()


@pytest.fixture(scope="module")
def demos() -> Demonstrations:
    """60 pairs of the expert."""
    return demonstrate("car-racing", UniformNoise(0.0), 60, 0, max_episode_steps=60)


@needs_envpool
def test_demonstrations_name_their_simulator(demos: Demonstrations) -> None:
    assert demos.backend == "envpool"
    assert demos.obs.shape == (60, 96, 96, 3)
    assert demos.obs.dtype == np.uint8
    assert demos.action_names == ("steer", "gas", "brake")
    assert demos.action_low is not None
    assert demos.action_low.tolist() == [-1, 0, 0]


@needs_envpool
def test_policies_are_evaluated_in_their_own_simulator_alone(demos: Demonstrations) -> None:
    policies = train(demos, "bc", seeds=2, steps=1, batch=4, progress=False, device="cpu")
    options: dict[str, Any] = {"episodes": 2, "progress": False, "max_episode_steps": 8}
    result = evaluate(policies, "car-racing", **options)
    assert result.lengths.tolist() == [[8, 8], [8, 8]]
    assert set(result.measures) == {"tiles", "lap"}
    split = evaluate(policies, "car-racing", slots=1, **options)
    np.testing.assert_allclose(split.returns, result.returns)  # tracks do not depend on slots
    with pytest.raises(OptionError, match="recorded in car-racing with envpool; gymnasium renders"):
        evaluate(policies, "car-racing", backend="gymnasium", **options)


def test_what_is_missing_or_unknown_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(OptionError, match="unknown backend 'box'; allowed: envpool, gymnasium"):
        find_backend("box")
    monkeypatch.setattr(car_racing, "find_spec", lambda name: None)
    for name in (None, "envpool"):
        with pytest.raises(MissingExtra, match=r"pip install 'counterbc\[racing\]'"):
            find_backend(name)
    with pytest.raises(OptionError, match=r"pip install 'gymnasium\[box2d\]'"):
        find_backend("gymnasium")
    monkeypatch.setattr(car_racing, "find_spec", lambda name: name if name == "Box2D" else None)
    with pytest.warns(SlowSimulator, match="a ninth of envpool's speed"):
        assert find_backend(None) == "gymnasium"  # the fallback


@needs_envpool
def test_wrong_seeds_and_actions_are_refused() -> None:
    env = CarRacingVector(2)
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.step(np.zeros((2, 3)))
    with pytest.raises(OptionError, match="3 seeds for 2 slots"):
        env.reset(seed=[1, 2, 3])
    env.reset(seed=1)
    with pytest.raises(OptionError, match=r"actions have shape \(2, 2\); expected \(2, 3\)"):
        env.step(np.zeros((2, 2)))
    env.close()


@pytest.mark.slow
@needs_envpool
def test_the_speed_is_recorded_learned_and_fed_beside_the_frame() -> None:
    env: Any = make_vec("car-racing", 2, speed=True, max_episode_steps=20)
    obs, _ = env.reset(seed=[1, 2])
    assert env.single_observation_space.contains({name: x[0] for name, x in obs.items()})
    assert obs["speed"].max() == 0
    for _ in range(15):
        obs = env.step(np.tile(AHEAD, (2, 1)))[0]
    assert (obs["speed"] > 0.1).all()
    env.close()
    demos = demonstrate("car-racing", UniformNoise(0.1), 60, 0, speed=True)
    assert (demos.obs_keys, demos.cameras) == ((("speed", 1),), {"image": (96, 96, 3)})
    single_part = demonstrate("car-racing", UniformNoise(0.1), 60, 0)
    np.testing.assert_array_equal(single_part.obs, demos.images["image"])
    np.testing.assert_array_equal(single_part.action, demos.action)
    inside = demos.map_actions(lambda a: a.clip([-1, 0, 0], 1))
    policies = train(inside, "bc", steps=2, hidden=(8,), lag=0.0, progress=False)
    result = evaluate(policies, episodes=1, progress=False, max_episode_steps=20)
    assert result.lengths.tolist() == [[20]]


@needs_envpool
def test_one_car_has_the_speed_too() -> None:
    env = gymnasium.make("counterbc/CarRacing-v0", speed=True)
    obs, _ = env.reset(seed=3)
    assert env.observation_space.contains(obs)
    env.close()
