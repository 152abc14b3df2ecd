"""inspect and convert, as people type them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import gymnasium
import h5py
import numpy as np
import pytest
from gymnasium.envs.registration import EnvSpec, registry
from gymnasium.spaces import Box

from counterbc.data.demonstrations import Demonstrations, Episode
from counterbc.demonstrators import UniformNoise, demonstrate
from counterbc.formats import load
from tests.fixture_types import Call, CallJson

pytestmark = pytest.mark.filterwarnings("ignore::counterbc.errors.AbsentEpisodes")


def test_a_file_that_cannot_be_trained_on_can_be_inspected(faulty_file: Path, call: Call) -> None:
    status, out, _ = call("inspect", faulty_file)
    assert status == 0
    assert "not finite: 1 value NaN or infinite" in out
    assert "episode demo_1, dimension action action[0], row 3" in out
    status, _, err = call("train", faulty_file, "--steps", 1, "--out", faulty_file.parent / "run")
    assert status == 1
    assert "'demo_1' has 1 values that are NaN" in err


def test_all_episodes_that_cannot_be_read_are_listed(tmp_path: Path, call: Call) -> None:
    path, rng = tmp_path / "demos.hdf5", np.random.default_rng(0)
    with h5py.File(path, "w") as file:
        for i in range(6):
            rows = 20 if i in (1, 4) else 30
            file[f"data/demo_{i}/actions"] = rng.uniform(-1, 1, (rows, 2))
            file[f"data/demo_{i}/obs/state"] = rng.uniform(-1, 1, (30, 3))
    status, out, _ = call("inspect", str(path))
    assert status == 0
    assert "2 episodes that cannot be read" in out
    assert "demo_1" in out
    assert "demo_4" in out
    assert "explained of the actions' variance" in out


def test_a_quick_look_at_much_data_is_called_one(tmp_path: Path, call: Call) -> None:
    rng = np.random.default_rng(0)
    episodes = [Episode(rng.normal(size=(300, 2)), rng.normal(size=(300, 1))) for _ in range(8)]
    Demonstrations(tuple(episodes)).save(tmp_path / "noise.npz")
    out = call("inspect", str(tmp_path / "noise.npz"))[1]
    assert "Cannot tell" in out
    assert "a quick look at about 600 of 2,400 pairs" in " ".join(out.split())


def test_strict_inspection_tells_by_its_status(
    demo_file: Path, faulty_file: Path, tmp_path: Path, call: Call
) -> None:
    assert call("inspect", faulty_file, "--strict")[0] == 3
    assert call("inspect", faulty_file, "--strict", "--ignore", "not finite")[0] == 0
    assert call("inspect", faulty_file, "--strict", "--mask", "expert")[0] == 0
    assert call("inspect", tmp_path / "absent.hdf5", "--strict")[0] == 1


def test_inspect_shows_the_rate_or_that_there_is_none(
    demo_file: Path, tmp_path: Path, call: Call
) -> None:
    assert re.search(r"^  rate +not recorded$", call("inspect", demo_file)[1], re.MULTILINE)
    demonstrate("cartpole", UniformNoise(0.5), 20, seed=0).save(tmp_path / "cart.hdf5")
    assert re.search(r"^  rate +50 Hz$", call("inspect", tmp_path / "cart.hdf5")[1], re.MULTILINE)


def test_inspect_shows_what_the_actions_are_and_how_many_lie_on_a_bound(
    tmp_path: Path, call: Call, call_json: CallJson
) -> None:
    demonstrate("cartpole", UniformNoise(0.9), 40, 0, actions_are="taken").save(tmp_path / "t.npz")
    (action,) = [d for d in call_json("inspect", tmp_path / "t.npz")["dimensions"]][-1:]
    taken = load(tmp_path / "t.npz").action[:, 0]
    assert (action["on_low"], action["on_high"]) == (sum(taken == -1), sum(taken == 1))
    assert action["on_low"] + action["on_high"] > 0
    text = " ".join(call("inspect", tmp_path / "t.npz")[1].split())
    assert "recorded the actions taken, cut at the bounds; on a bound: " in text
    assert f"{action['on_low']} low {action['on_high']} high" in text


@pytest.mark.slow
def test_inspect_suggests_the_option_to_paste_where_actions_are_targets(
    data: Path, tmp_path: Path, call: Call, call_json: CallJson
) -> None:
    path = data / "pusht_human_206.hdf5"
    text = " ".join(call("inspect", path, "--obs", "state")[1].split())
    assert "the actions are targets of state[0], state[1]; train with --relative 'state[0]" in text
    assert "state[4] is an angle that jumps by a full turn" in text
    assert "only returns can judge episodes (counterbc influence --env)" in text
    assert "quick look" not in text  # policies that learn from all pairs would repeat, too
    payload = call_json("inspect", path)
    assert payload["suggested_relative"] == "state[0],state[1]"
    assert payload["wrapped_angles"] == ["state[4]"]
    declared = tmp_path / "declared.npz"
    call_json(
        "convert", path, declared, "--obs", "state", "--relative", payload["suggested_relative"]
    )
    assert "--relative" not in call("inspect", declared)[1]


@pytest.mark.slow
def test_an_option_that_begins_with_a_dash_can_be_pasted(
    data: Path, tmp_path: Path, call: Call
) -> None:
    robot = data / "fixtures/lerobot_v21_g1"
    text = " ".join(call("inspect", robot)[1].split())
    (option,) = re.findall(r"train with (--relative=-,-,\S+)", text)
    status, _, err = call("convert", robot, tmp_path / "declared.npz", option)
    assert (status, err) == (0, "")
    assert load(tmp_path / "declared.npz").relative == option.removeprefix("--relative=")


def test_inspect_names_actions_that_are_the_next_observation(tmp_path: Path, call: Call) -> None:
    places = np.random.default_rng(0).normal(size=(60, 2)).cumsum(axis=0)
    action = np.stack([places[1:, 0], np.zeros(59)], axis=1)
    Demonstrations((Episode(places[:-1], action),)).save(tmp_path / "copy.npz")
    text = " ".join(call("inspect", tmp_path / "copy.npz")[1].split())
    assert "1 of 2 actions is the next value of state[0]: it may be computed" in text
    assert "--relative" not in text


def test_inspect_says_that_nothing_is_wrong(demo_file: Path, call: Call) -> None:
    status, out, _ = call("inspect", demo_file, "--strict")
    assert (status, "No problems found." in out.splitlines()) == (0, True)
    assert "from the present observation" in out


def test_inspect_gives_the_fingerprint_of_the_dataset_in_memory(
    demo_file: Path, call_json: CallJson
) -> None:
    assert call_json("inspect", demo_file)["fingerprint"] == load(demo_file).fingerprint()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "episodes", "pairs"),
    [
        ("pusht_human_206.hdf5", 206, 25650),
        ("pusht_other_goal_151.hdf5", 151, 24644),
        ("adroit_door_human_25.hdf5", 25, 6729),
        ("fixtures/robomimic_ph_lift_low_dim_excerpt.hdf5", 2, 117),
        ("fixtures/robomimic_mg_can_low_dim_excerpt.hdf5", 2, 300),
        ("fixtures/lerobot_v21_g1", 100, 35965),
    ],
)
def test_inspect_finds_what_the_makers_of_real_data_say(
    data: Path, name: str, episodes: int, pairs: int, call_json: CallJson
) -> None:
    payload = call_json("inspect", data / name)
    assert (payload["episodes"], payload["pairs"]) == (episodes, pairs)
    assert payload["fingerprint"] == load(data / name).fingerprint()


def test_the_multi_human_excerpt_reports_masks_operators_and_its_one_demo(
    multi_human: Path, call_json: CallJson
) -> None:
    payload = call_json("inspect", multi_human)
    assert (payload["episodes"], payload["pairs"], len(payload["masks"])) == (1, 48, 44)
    assert len(payload["operators"]) == 6
    assert sum(payload["operators"].values()) == 1
    assert "obs/agentview_image" in payload["left_out"]


def test_an_environment_that_cannot_be_used_is_named_before_a_command_needs_it(
    demo_file: Path, intersection_file: Path, call: Call, call_json: CallJson
) -> None:
    status, out, _ = call("inspect", demo_file, "--env", "no_module_of_mine:World-v0")
    assert status == 0
    text = " ".join(out.split())
    assert "Policies cannot be tested there: " in text
    assert "no_module_of_mine" in text
    assert text.endswith("--env none")
    other = call_json("inspect", demo_file, "--env", "intersection")
    assert "the training has vectors of 3 numbers" in other["env_problem"]
    made = call_json("inspect", intersection_file, "--env", "intersection")
    assert made["env_problem"] is None
    assert made["next"][0].endswith("--env intersection")


def test_an_environment_is_made_once_to_be_looked_at(
    demo_file: Path, call_json: CallJson, monkeypatch: pytest.MonkeyPatch
) -> None:
    instances = []

    class Counted(gymnasium.Env[Any, Any]):
        observation_space = Box(-1, 1, (3,), np.float32)
        action_space = Box(-1, 1, (9,), np.float32)

        def __init__(self, **options: Any) -> None:
            instances.append(self)

    monkeypatch.setitem(registry, "tests/Counted-v0", EnvSpec("tests/Counted-v0", Counted))
    problem = call_json("inspect", demo_file, "--env", "tests/Counted-v0")["env_problem"]
    assert "the actions of tests/Counted-v0 are" in problem
    assert len(instances) == 1
