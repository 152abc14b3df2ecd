"""counterbc convert, as people type it."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest

from counterbc.acting.policies import Policies
from counterbc.formats import load
from tests.fixture_types import Call, CallJson

pytestmark = pytest.mark.filterwarnings("ignore::counterbc.errors.AbsentEpisodes")


def test_operators_masks_and_environment_survive_the_way_over_lerobot(
    multi_human: Path, tmp_path: Path, call_json: CallJson
) -> None:
    payload = call_json("convert", multi_human, tmp_path / "folder", "--to", "lerobot")
    assert (payload["format"], payload["episodes"], payload["pairs"]) == ("lerobot", 1, 48)
    assert {"states", "next_obs", "digits beyond 32 bits"} <= set(payload["not_carried_over"])
    call_json("convert", tmp_path / "folder", tmp_path / "back.hdf5")
    source, back = load(multi_human), load(tmp_path / "back.hdf5")
    assert back.fingerprint() == source.fingerprint()
    assert (back.masks, back.operators) == (source.masks, source.operators)
    assert back.env_args == source.env_args


@pytest.mark.parametrize("to", ["robomimic", "lerobot", "minari", "npz"])
def test_every_format_gives_back_what_it_was_given(
    to: str, demo_file: Path, tmp_path: Path, call_json: CallJson
) -> None:
    call_json("convert", demo_file, tmp_path / "there", "--to", to)
    call_json("convert", tmp_path / "there", tmp_path / "back.hdf5")
    first, back = load(demo_file), load(tmp_path / "back.hdf5")
    assert back.fingerprint() == first.fingerprint()
    assert (back.masks, back.obs_names) == (first.masks, first.obs_names)
    assert sorted(os.listdir(tmp_path)) == ["back.hdf5", "demos.hdf5", "there"]


def test_what_actions_are_relative_to_is_declared_by_a_conversion_and_kept(
    demo_file: Path, tmp_path: Path, call: Call, call_json: CallJson
) -> None:
    first, again = tmp_path / "first.npz", tmp_path / "again.hdf5"
    call_json("convert", demo_file, first, "--relative", "state[1],-")
    call_json("convert", first, again)
    assert (load(demo_file).relative, load(again).relative) == (None, "state[1],-")
    assert call_json("inspect", again)["relative"] == "state[1],-"
    assert re.search(r"^  relative +state\[1\],-$", call("inspect", again)[1], re.MULTILINE)
    status, _, err = call("convert", first, tmp_path / "no.npz", "--relative", "wheel")
    assert (status, (tmp_path / "no.npz").exists()) == (1, False)
    assert "there is no 'wheel'; keys: state" in " ".join(err.split())


def test_keys_of_the_environment_become_its_state_in_lerobot_and_are_read_back(
    demo_file: Path, tmp_path: Path, call: Call, call_json: CallJson
) -> None:
    (key, _), *_ = load(demo_file).obs_keys
    out, options = tmp_path / "folder", ("--to", "lerobot", "--environment", key)
    call_json("convert", demo_file, out, *options)
    features = json.loads((out / "meta/info.json").read_text())["features"]
    assert "observation.environment_state" in features
    assert load(out).fingerprint() == load(demo_file).fingerprint()
    for arguments, text in (
        (("b.npz", "--environment", key), "--environment is for LeRobot, not for npz"),
        (("b", *options[:-1], "cup"), "unknown observation key of the environment 'cup'"),
    ):
        status, _, err = call("convert", demo_file, tmp_path / arguments[0], *arguments[1:])
        assert (status, text in err) == (1, True), err


def test_a_mask_and_keys_choose_what_is_converted(
    demo_file: Path, tmp_path: Path, call_json: CallJson
) -> None:
    out = tmp_path / "some.npz"
    payload = call_json("convert", demo_file, out, "--mask", "expert", "--obs", "state")
    assert (payload["episodes"], payload["pairs"], payload["not_carried_over"]) == (2, 20, [])
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
    arguments: tuple[str, ...], words: str, demo_file: Path, tmp_path: Path,
    call: Call,
) -> None:  # fmt: skip
    words_of_call = [a.format(demos=demo_file, tmp=tmp_path) for a in arguments]
    status, out, err = call("convert", *words_of_call)
    assert (status, out) == (1, "")
    assert err.startswith("error: ")
    assert re.search(words, err)
    assert os.listdir(tmp_path) == ["demos.hdf5"]


@pytest.mark.parametrize("to", ["robomimic", "lerobot", "minari", "npz"])
def test_a_conversion_that_fails_on_the_way_leaves_nothing(
    to: str, faulty_file: Path, tmp_path: Path, call: Call
) -> None:
    status, _, err = call("convert", faulty_file, tmp_path / "out", "--to", to)
    assert status == 1
    assert "'demo_1' has 1 values that are NaN" in err
    assert os.listdir(tmp_path) == ["demos.hdf5"]


def test_images_are_inspected_converted_and_learned_from(
    multi_human: Path, tmp_path: Path, call_json: CallJson
) -> None:
    image_options = (multi_human, "--obs", "agentview_image")
    payload = call_json("inspect", *image_options)
    assert (payload["obs_shape"], payload["obs_keys"]) == ([84, 84, 3], {})
    call_json("convert", multi_human, tmp_path / "a.npz", "--obs", "agentview_image")
    assert load(tmp_path / "a.npz").obs_shape == (84, 84, 3)
    run = tmp_path / "run"
    call_json("train", *image_options, "--radius", 0.4, "--steps", 1, "--out", run)
    assert Policies.load(run).obs_shape == (84, 84, 3)
