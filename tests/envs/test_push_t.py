"""Push-T is gym-pusht's, faster; without it, one sentence says what to install."""

from __future__ import annotations

import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import SyncVectorEnv

from counterbc.cli import main
from counterbc.demonstrators import UniformNoise, demonstrate
from counterbc.envs import WORLDS, make_vec
from counterbc.errors import CounterBCError, MissingExtra, OptionError
from counterbc.formats import load

needs_simulator = pytest.mark.needs("gym_pusht")
ID = WORLDS["push-t"].id


def place_tee(tables: Any, slot: int, x: float, y: float, angle: float) -> None:
    """Put the block of one table somewhere, at rest."""
    block = tables.tables[slot].env.block
    block.angle, block.position = angle, (x, y)


def test_there_is_no_synthetic_expert_and_the_next_step_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["demonstrate", "push-t"]) == 1
    words = "push-t has no synthetic expert; use recorded demonstrations: counterbc train DEMOS"
    assert words in capsys.readouterr().err
    with pytest.raises(OptionError, match="push-t has no synthetic expert"):
        demonstrate("push-t", UniformNoise(0.5), 10, 0)


def test_without_the_simulator_the_install_line_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("gym_pusht", "gym_pusht.envs", "gym_pusht.envs.pusht"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(MissingExtra, match=r"pip install 'counterbc\[pusht\]'"):
        make_vec("push-t", 2)


@needs_simulator
def test_half_a_pygame_is_named_with_its_repair(monkeypatch: pytest.MonkeyPatch) -> None:
    import pygame

    monkeypatch.delattr(pygame, "Color")
    with pytest.raises(CounterBCError, match="pip install --force-reinstall --no-deps pygame"):
        make_vec("push-t", 1)


@needs_simulator
def test_episodes_are_those_of_gym_pusht_to_the_bit() -> None:
    seeds = [3, 5, 7, 9]
    references: Any = [gymnasium.make("gym_pusht/PushT-v0").unwrapped for _ in seeds]
    batch_env = make_vec("push-t", 4)
    obs, _ = batch_env.reset(seed=seeds)  # type: ignore[arg-type]  # lists are taken, but untyped
    for env, seed, start in zip(references, seeds, obs, strict=True):
        np.testing.assert_array_equal(start, env.reset(seed=seed)[0].astype(np.float32))
    rng, blocks, largest_reward = np.random.default_rng(0), obs[:, 2:], 0.0
    for _ in range(120):
        action = np.clip(obs[:, 2:4] + rng.normal(0, 60, (4, 2)), 0, 512).astype(np.float32)
        obs, reward, _, _, info = batch_env.step(action)
        for i, env in enumerate(references):
            true_obs, true_reward, _, _, true_info = env.step(action[i])
            np.testing.assert_array_equal(obs[i], true_obs.astype(np.float32))
            assert (reward[i], info["coverage"][i]) == (true_reward, true_info["coverage"])
        largest_reward = max(largest_reward, float(reward.max()))
    assert (obs[:, 2:] != blocks).any(axis=1).all()  # the blocks were pushed, one over the outline
    assert largest_reward > 0.01


@needs_simulator
def test_a_slot_of_a_batch_is_the_single_environment_to_the_bit() -> None:
    batch_env = make_vec("push-t", 3, max_episode_steps=15)
    references = SyncVectorEnv([lambda: gymnasium.make(ID, max_episode_steps=15)] * 3)
    np.testing.assert_equal(batch_env.reset(seed=40), references.reset(seed=40))
    rng = np.random.default_rng(0)
    for _ in range(40):  # over two resets
        action = rng.uniform(0, 512, (3, 2)).astype(np.float32)
        np.testing.assert_equal(batch_env.step(action), references.step(action))


@needs_simulator
def test_gymnasium_finds_nothing_to_complain_about() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # Its actions are the recordings' pixels.
        warnings.filterwarnings("ignore", ".*symmetric and normalized space.*")
        check_env(gymnasium.make(ID, render_mode="rgb_array").unwrapped)


@needs_simulator
def test_coverage_is_the_shared_area_of_two_ts() -> None:
    from counterbc.envs.push_t import GOAL, coverage

    x, y, angle = GOAL
    c, s = np.cos(angle), np.sin(angle)
    # 30 pixels along its stem: its bar lies on 900 pixels of the stem, its stem on 1800, of 6300.
    places = np.array([[x, y], [x - 30 * s, y + 30 * c], [x + 200, y]])
    coverages = coverage(places, np.tile([c, s], (3, 1)))
    np.testing.assert_allclose(coverages, [1.0, 3 / 7, 0.0], atol=1e-9)


@needs_simulator
def test_success_ends_an_episode_and_the_best_coverage_is_kept() -> None:
    from counterbc.envs.push_t import GOAL

    env: Any = make_vec("push-t", 2)
    obs, _ = env.reset(seed=0)
    x, y, angle = GOAL
    place_tee(env._slots, 0, x, y, angle)
    place_tee(env._slots, 1, x + 15, y, angle)
    stay = obs[:, :2].copy()
    _, reward, terminated, _, info = env.step(stay)
    np.testing.assert_array_equal(terminated, [True, False])
    np.testing.assert_array_equal(info["success"], [1.0, 0.0])
    assert reward[0] == 1.0
    assert reward[1] == pytest.approx(info["coverage"][1] / 0.95)
    best = info["coverage"][1]
    place_tee(env._slots, 1, 100, 100, angle)
    info = env.step(stay)[4]
    assert info["coverage"][1] == 0.0
    assert info["best_coverage"][1] == best
    assert info["success"][0] == 0.0  # of the next episode


@needs_simulator
def test_targets_off_the_table_and_those_that_are_no_numbers_are_brought_onto_it() -> None:
    env = make_vec("push-t", 2)
    env.reset(seed=[1, 1])  # type: ignore[arg-type]  # lists are taken, but untyped
    for _ in range(20):
        obs = env.step(np.array([[np.nan, 9999.0], [0.0, 512.0]]))[0]
        np.testing.assert_array_equal(obs[0], obs[1])
    with pytest.raises(OptionError, match=r"actions have shape \(1, 2\); expected \(2, 2\)"):
        env.step(np.zeros((1, 2)))


@needs_simulator
def test_a_world_says_what_its_numbers_mean_and_when_it_ends() -> None:
    envs: list[Any] = [gymnasium.make(ID).unwrapped, make_vec("push-t", 2)]
    for env in envs:
        assert (len(env.obs_names), len(env.action_names)) == (5, 2)
        assert env.max_episode_steps == WORLDS["push-t"].steps == 300
        assert env.metadata["render_fps"] == 10
    with pytest.raises(OptionError, match="unknown option of PushTVector 'damping'; allowed: rend"):
        make_vec("push-t", 2, damping=1.0)


@needs_simulator
def test_loading_it_writes_nothing_to_stdout() -> None:
    code = "from counterbc.envs import make_vec; make_vec('push-t', 1).reset(seed=0)"
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert result.stdout == ""


@needs_simulator
def test_the_disc_follows_recorded_actions_as_it_did_for_the_person(data: Path) -> None:
    from counterbc.envs.push_t import Tables

    demos = load(data / "pusht_human_206.hdf5", ("state",))
    angle = demos.obs[:, 4]
    assert 0 <= angle.min() < 0.1
    assert 6.2 < angle.max() < 2 * np.pi  # wrapped like ours
    tables, far = Tables(1, None), []
    for episode in demos.episodes[:10]:
        tables.begin(np.array([0]))
        env = tables.tables[0].env
        place_tee(tables, 0, *map(float, episode.obs[0, 2:]))
        env.agent.position = tuple(map(float, episode.obs[0, :2]))
        for action, after in zip(episode.action[:15], episode.obs[1:16], strict=True):
            tables.advance(action[None])
            far.append(np.abs(tables.obs[0, :2] - after[:2]).max())
    assert np.max(far) < 1.0  # pixels
