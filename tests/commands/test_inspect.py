"""inspect and convert, as people type them."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

from counterbc.acting.policies import Policies
from counterbc.data.demonstrations import Demonstrations
from counterbc.formats import load

Call = Callable[..., tuple[int, str, str]]
CallJson = Callable[..., dict[str, Any]]
pytestmark = pytest.mark.filterwarnings("ignore::counterbc.errors.AbsentEpisodes")


@pytest.fixture
def demos(tiny: Demonstrations, tmp_path: Path) -> Path:
    tiny.save(tmp_path / "demos.hdf5")
    return tmp_path / "demos.hdf5"


@pytest.fixture
def multi_human(data: Path) -> Path:
    return data / "fixtures/robomimic_mh_lift_image_excerpt.hdf5"


@pytest.fixture
def faulty(demos: Path) -> Path:
    with h5py.File(demos, "a") as file:
        file["data/demo_1/actions"][3, 0] = np.nan
    return demos


def test_a_file_that_cannot_be_trained_on_can_be_inspected(faulty: Path, call: Call) -> None:
    status, out, _ = call("inspect", faulty)
    assert status == 0
    assert "not finite: 1 value NaN or infinite" in out
    assert "episode demo_1, dimension action action[0], row 3" in out
    status, _, err = call("train", faulty, "--steps", 1, "--out", faulty.parent / "run")
    assert status == 1
    assert "'demo_1' has 1 values that are NaN" in err


def test_strict_inspection_tells_by_its_status(
    demos: Path, faulty: Path, tmp_path: Path, call: Call
) -> None:
    assert call("inspect", faulty, "--strict")[0] == 3
    assert call("inspect", faulty, "--strict", "--ignore", "not finite")[0] == 0
    assert call("inspect", faulty, "--strict", "--mask", "expert")[0] == 0
    assert call("inspect", tmp_path / "absent.hdf5", "--strict")[0] == 1


def test_inspect_says_that_nothing_is_wrong(demos: Path, call: Call) -> None:
    status, out, _ = call("inspect", demos, "--strict")
    assert (status, out.splitlines()[-1]) == (0, "No problems found.")


def test_inspect_gives_the_fingerprint_of_the_dataset_in_memory(
    demos: Path, call_json: CallJson
) -> None:
    assert call_json("inspect", demos)["fingerprint"] == load(demos).fingerprint()


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
    said = call_json("inspect", data / name)
    assert (said["episodes"], said["pairs"]) == (episodes, pairs)
    assert said["fingerprint"] == load(data / name).fingerprint()


def test_the_multi_human_excerpt_reports_masks_operators_and_its_one_demo(
    multi_human: Path, call_json: CallJson
) -> None:
    said = call_json("inspect", multi_human)
    assert (said["episodes"], said["pairs"], len(said["masks"])) == (1, 48, 44)
    assert len(said["operators"]) == 6
    assert sum(said["operators"].values()) == 1
    assert "obs/agentview_image" in said["left_out"]


def test_operators_masks_and_environment_survive_the_way_over_lerobot(
    multi_human: Path, tmp_path: Path, call_json: CallJson
) -> None:
    said = call_json("convert", multi_human, tmp_path / "folder", "--to", "lerobot")
    assert (said["format"], said["episodes"], said["pairs"]) == ("lerobot", 1, 48)
    assert {"states", "next_obs", "digits beyond 32 bits"} <= set(said["not_carried_over"])
    call_json("convert", tmp_path / "folder", tmp_path / "back.hdf5")
    there, back = load(multi_human), load(tmp_path / "back.hdf5")
    assert back.fingerprint() == there.fingerprint()
    assert (back.masks, back.operators) == (there.masks, there.operators)
    assert back.env_args == there.env_args


@pytest.mark.parametrize("to", ["robomimic", "lerobot", "minari", "npz"])
def test_every_format_gives_back_what_it_was_given(
    to: str, demos: Path, tmp_path: Path, call_json: CallJson
) -> None:
    call_json("convert", demos, tmp_path / "there", "--to", to)
    call_json("convert", tmp_path / "there", tmp_path / "back.hdf5")
    first, back = load(demos), load(tmp_path / "back.hdf5")
    assert back.fingerprint() == first.fingerprint()
    assert (back.masks, back.obs_names) == (first.masks, first.obs_names)
    assert sorted(os.listdir(tmp_path)) == ["back.hdf5", "demos.hdf5", "there"]


def test_a_mask_and_keys_choose_what_is_converted(
    demos: Path, tmp_path: Path, call_json: CallJson
) -> None:
    out = tmp_path / "some.npz"
    said = call_json("convert", demos, out, "--mask", "expert", "--obs", "state")
    assert (said["episodes"], said["pairs"], said["not_carried_over"]) == (2, 20, [])
    assert [e.name for e in load(out).episodes] == ["demo_0", "demo_2"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("{demos}", "{tmp}/demos.hdf5"), "already exists"),
        (("{demos}", "{tmp}/no/out.hdf5"), "does not exist; create it"),
        (("{demos}", "{tmp}/out"), "does not stand for a format.*--to"),
        (("{demos}", "{tmp}/out", "--to", "csv"), "unknown format to write 'csv'"),
        (("{demos}", "{tmp}/out.npz", "--mask", "no"), "unknown mask 'no'; allowed: expert"),
        (("{demos}", "{tmp}/out.npz", "--obs", "no"), "no obs/no; allowed: state"),
        (("{demos}", "{tmp}/out.npz", "--format", "csv"), "column names"),
        (("{tmp}/none", "{tmp}/out.npz"), "none does not exist"),
    ],
)
def test_bad_conversions_are_one_sentence_and_leave_nothing(
    arguments: tuple[str, ...], words: str, demos: Path, tmp_path: Path,
    call: Call,
) -> None:  # fmt: skip
    filled = [a.format(demos=demos, tmp=tmp_path) for a in arguments]
    status, out, err = call("convert", *filled)
    assert (status, out) == (1, "")
    assert err.startswith("error: ")
    assert re.search(words, err)
    assert os.listdir(tmp_path) == ["demos.hdf5"]


@pytest.mark.parametrize("to", ["robomimic", "lerobot", "minari", "npz"])
def test_a_conversion_that_fails_on_the_way_leaves_nothing(
    to: str, faulty: Path, tmp_path: Path, call: Call
) -> None:
    status, _, err = call("convert", faulty, tmp_path / "out", "--to", to)
    assert status == 1
    assert "'demo_1' has 1 values that are NaN" in err
    assert os.listdir(tmp_path) == ["demos.hdf5"]


def test_a_mask_of_absent_episodes_alone_is_refused(
    demos: Path, tmp_path: Path, call: Call
) -> None:
    with h5py.File(demos, "a") as file:
        file["mask/gone"] = np.array([b"demo_77"])
    for command in (("inspect", demos), ("convert", demos, tmp_path / "out.npz")):
        status, _, err = call(*command, "--mask", "gone")
        assert status == 1
        assert "none of its episodes is in the mask 'gone'" in err
    assert os.listdir(tmp_path) == ["demos.hdf5"]


def test_images_are_inspected_converted_and_learned_from(
    multi_human: Path, tmp_path: Path, call_json: CallJson
) -> None:
    chosen = (multi_human, "--obs", "agentview_image")
    said = call_json("inspect", *chosen)
    assert (said["obs_shape"], said["obs_keys"]) == ([84, 84, 3], {})
    call_json("convert", multi_human, tmp_path / "a.npz", "--obs", "agentview_image")
    assert load(tmp_path / "a.npz").obs_shape == (84, 84, 3)
    run = tmp_path / "run"
    call_json("train", *chosen, "--radius", 0.4, "--steps", 1, "--out", run)
    assert Policies.load(run).obs_shape == (84, 84, 3)


def test_a_format_can_be_forced_when_training(demos: Path, tmp_path: Path, call: Call) -> None:
    status, _, err = call("train", demos, "--format", "npz", "--out", tmp_path / "run")
    assert status == 1
    assert "cannot be read" in err


def test_warnings_stay_off_stdout(demos: Path) -> None:
    with h5py.File(demos, "a") as file:
        file["mask/gone"] = np.array([b"demo_77"])
    done = subprocess.run(
        [sys.executable, "-m", "counterbc", "inspect", str(demos), "--json"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert json.loads(done.stdout)["masks"] == {"expert": 2, "gone": 1}
    assert done.stderr.count("warning:") == 1
