"""Options of every command that reads demonstrations."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import h5py
import numpy as np
import pytest

from counterbc.acting.policies import Policies
from counterbc.data.demonstrations import Demonstrations, Episode
from counterbc.formats import load
from tests.fixture_types import Call, CallJson

pytestmark = pytest.mark.filterwarnings("ignore::counterbc.errors.AbsentEpisodes")


def test_a_mask_of_absent_episodes_alone_is_refused(
    demo_file: Path, tmp_path: Path, call: Call
) -> None:
    with h5py.File(demo_file, "a") as file:
        file["mask/gone"] = np.array([b"demo_77"])
    for command in (("inspect", demo_file), ("convert", demo_file, tmp_path / "out.npz")):
        status, _, err = call(*command, "--mask", "gone")
        assert status == 1
        assert "none of its episodes is in the mask 'gone'" in err
    assert os.listdir(tmp_path) == ["demos.hdf5"]


def test_a_size_of_images_is_refused_where_no_camera_is_read(demo_file: Path, call: Call) -> None:
    status, out, err = call("train", demo_file, "--image-size", 96, "--steps", 1)
    assert (status, out) == (1, "")
    assert err.splitlines()[-1] == (
        "error: no camera is read, so --image-size has nothing to resize; name cameras with --obs, "
        "or leave it out"
    )
    with h5py.File(demo_file, "a") as file:
        for episode in file["data"].values():
            frames = np.zeros((len(episode["actions"]), 40, 48, 3), np.uint8)
            episode["obs/top_image"] = frames
    err = call("train", demo_file, "--obs", "state", "--image-size", 96, "--steps", 1)[2]
    assert "name cameras with --obs; there are top_image, or leave it out" in err


def test_a_format_can_be_forced_when_training(demo_file: Path, tmp_path: Path, call: Call) -> None:
    status, _, err = call("train", demo_file, "--format", "npz", "--out", tmp_path / "run")
    assert status == 1
    assert "cannot be read" in err


def test_a_declaration_of_the_actions_is_kept_by_a_conversion(
    demo_file: Path, tmp_path: Path, call: Call, call_json: CallJson
) -> None:
    taken = tmp_path / "taken.npz"
    call("convert", demo_file, taken, "--actions-are", "taken")
    assert (load(demo_file).actions_are, load(taken).actions_are) == (None, "taken")
    assert call_json("inspect", taken)["actions_are"] == "taken"
    status, _, err = call("inspect", taken, "--actions-are", "asked")
    assert status == 1
    assert "declares that its actions are taken, not asked" in " ".join(err.split())


def test_keys_of_a_table_are_chosen_when_it_is_converted(
    tmp_path: Path, call: Call, call_json: CallJson
) -> None:
    path = tmp_path / "trial.csv"
    rows = [f"{t},{t / 7},{-t},{t % 3}" for t in range(40)]
    path.write_text("\n".join(["t,x,v,w", *rows]))
    keys = ("--obs", "x", "--action", "w", "--action", "v")
    call_json("convert", path, tmp_path / "trial.npz", *keys)
    demos = load(tmp_path / "trial.npz")
    assert (demos.obs_names, demos.action_names) == (("x",), ("w", "v"))
    assert demos.action[4].tolist() == [1, -4]
    status, _, err = call("inspect", path)
    assert status == 1
    assert "it has t, x, v, w; choose its columns with --obs and --action" in " ".join(err.split())


def test_a_command_to_paste_repeats_how_the_data_were_read(demo_file: Path, call: Call) -> None:
    with h5py.File(demo_file, "a") as file:
        for demo in file["data"].values():
            demo["my actions"] = demo["actions"][()]
    keys = ("--obs", "state", "--action", "my actions", "--actions-are", "asked")
    _, out, _ = call("radius", demo_file, *keys, "--steps", 2, "--repeats", 1)
    words = shlex.split(out.split("Next: counterbc ")[1])
    for key in ("--obs state", "--action my actions", "--actions-are asked"):
        assert key in " ".join(words)
    status, _, err = call(*words)
    assert status == 0, err


def test_warnings_stay_off_stdout(demo_file: Path) -> None:
    with h5py.File(demo_file, "a") as file:
        file["mask/gone"] = np.array([b"demo_77"])
    process = subprocess.run(
        [sys.executable, "-m", "counterbc", "inspect", str(demo_file), "--json"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert json.loads(process.stdout)["masks"] == {"expert": 2, "gone": 1}
    assert process.stderr.count("warning:") == 1


def test_bounds_are_declared_on_the_command_line(
    tmp_path: Path, call: Call, call_json: CallJson
) -> None:
    path = tmp_path / "trial.csv"
    path.write_text(
        "\n".join(["x,action_0,action_1", *(f"{t},{t % 3},{t % 5}" for t in range(40))])
    )
    bounds = ("--low", -1, "--low", 0, "--high", 5)
    assert call_json("inspect", path, *bounds)["bounds"] == {"low": [-1, 0], "high": [5, 5]}
    call("convert", path, tmp_path / "trial.npz", *bounds)
    assert load(tmp_path / "trial.npz").action_low.tolist() == [-1, 0]  # type: ignore[union-attr]
    status, _, err = call("inspect", path, "--low", -1)
    assert status == 1
    assert "1 lower and 0 upper bounds for 2 action dimensions" in " ".join(err.split())


def test_an_angle_is_declared_on_the_command_line_and_kept_by_a_conversion(
    demo_file: Path, tmp_path: Path, call: Call, call_json: CallJson
) -> None:
    angles = ("--angle", "state[1]", "--angle", "state[0]")
    assert call_json("inspect", demo_file, *angles)["angles"] == ["state[0]", "state[1]"]
    for name in ("a.npz", "a.hdf5"):
        call_json("convert", demo_file, tmp_path / name, *angles[:2])
        assert load(tmp_path / name).angles == ("state[1]",)
    more = call_json("inspect", tmp_path / "a.npz", *angles[2:])
    assert more["angles"] == ["state[0]", "state[1]"]


@pytest.mark.parametrize(
    ("name", "sentence"),
    [("yaw", "'yaw' cannot be an angle: there is no such observation; give KEY[INDEX]"),
     ("action[0]", "'action[0]' is an action; only observations can be declared angles")],
)  # fmt: skip
def test_what_is_no_angle_is_refused_in_one_sentence(
    name: str, sentence: str, demo_file: Path, tmp_path: Path, call: Call
) -> None:
    for words in (("inspect",), ("convert", tmp_path / "a.npz"), ("train",)):
        status, _, err = call(words[0], demo_file, *words[1:], "--angle", name)
        assert (status, err.count("error:")) == (1, 1)
        assert sentence in " ".join(err.split())


def test_training_reads_a_declared_angle_as_cosine_and_sine(
    demo_file: Path, tmp_path: Path, call: Call
) -> None:
    options = ("--angle", "state[1]", "--steps", 2, "--radius", 0.1, "--method", "bc")
    status, _, err = call("train", demo_file, *options, "--out", tmp_path / "run")
    assert status == 0, err
    assert Policies.load(tmp_path / "run").scales.angles == (1,)


def _with_keys(path: Path, env: str, **widths: int) -> Path:
    rng, keys = np.random.default_rng(0), tuple(widths.items())
    episodes = tuple(
        Episode(rng.normal(size=(20, sum(widths.values()))), rng.uniform(-1, 1, (20, 2)))
        for _ in range(3)
    )
    Demonstrations(episodes, obs_keys=keys, env_args={"env_name": env}).save(path)
    return path


def test_the_keys_that_a_known_environment_observes_are_read_by_default(
    tmp_path: Path, call: Call, call_json: CallJson
) -> None:
    path = _with_keys(tmp_path / "demos.hdf5", "gym_pusht/PushT-v0", keypoints=18, state=5)
    quick = ("--steps", 2, "--lag", 0, "--radius", 0, "--out")
    _, text, err = call("train", path, *quick, tmp_path / "run")
    assert "5 → 2" in text
    assert "Reads state, as gym_pusht/PushT-v0 does; --obs chooses other observations." in err
    _, text, _ = call("train", path, "--obs", "keypoints", "state", *quick, tmp_path / "all")
    assert "23 → 2" in text


@pytest.mark.slow
@pytest.mark.needs("gym_pusht")
def test_policies_trained_on_recordings_of_people_act_in_their_environment(
    data: Path, tmp_path: Path, call: Call, call_json: CallJson
) -> None:
    run = tmp_path / "run"
    quick = ("--steps", 2, "--lag", 0, "--radius", 0, "--ensemble", 1, "--out", run)
    status, text, err = call("train", data / "pusht_human_206.hdf5", *quick)
    assert status == 0, err
    assert "Reads state, as gym_pusht/PushT-v0 does" in err
    assert f"counterbc evaluate {run}" in text
    answer = call_json("evaluate", run, "--episodes", 2)
    assert np.shape(answer["runs"][0]["returns"]) == (1, 2)
    assert np.min(answer["runs"][0]["returns"]) >= 0


@pytest.mark.parametrize("env", ["push-t", "gym_pusht/PushT-v0", "counterbc/PushT-v0"])
def test_declaring_the_environment_by_any_of_its_names_reads_its_keys(
    env: str, tmp_path: Path, call: Call
) -> None:
    path = _with_keys(tmp_path / "demos.hdf5", "elsewhere", keypoints=18, state=5)
    quick = ("--steps", 2, "--lag", 0, "--radius", 0)
    _, text, err = call("train", path, "--env", env, *quick, "--out", tmp_path / "run")
    assert "5 → 2" in text
    assert f"Reads state, as {env} does" in err
    assert "23 → 2" in call("train", path, *quick, "--out", tmp_path / "all")[1]


def test_every_command_reads_the_keys_of_the_environment(
    tmp_path: Path, call: Call, call_json: CallJson, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    _with_keys(Path("demos.hdf5"), "gym_pusht/PushT-v0", keypoints=18, state=5)
    call_json("convert", "demos.hdf5", "state.hdf5", "--obs", "state")
    quick = ("--steps", 5, "--repeats", 1, "--radius", 0.2, "--force", "--no-intents")
    page, same = (call_json("report", f"{name}.hdf5", *quick) for name in ("demos", "state"))
    assert page["explained"] == same["explained"]
    groups, same = (
        call_json("intents", f"{name}.hdf5", "--groups", 2) for name in ("demos", "state")
    )
    assert (groups["explained"], groups["episodes"]) == (same["explained"], same["episodes"])
    looked, same = (call_json("inspect", f"{name}.hdf5") for name in ("demos", "state"))
    assert looked["explained"] == same["explained"]
    _, text, _ = call("inspect", "demos.hdf5")
    assert "This is explained by state, which the other commands read" in text
    assert "keypoints (18), state (5)" in text


def test_a_policy_for_several_goals_reads_the_goal(
    tmp_path: Path, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    _with_keys(Path("demos.hdf5"), "gym_pusht/PushT-v0", keypoints=18, state=5)
    for keys in (["state"], ["keypoints", "state"]):
        copy = f"{len(keys)}.hdf5"
        call("intents", "demos.hdf5", "--obs", *keys, "--groups", 2, "--condition", "--out", copy)
        quick = ("--steps", 2, "--lag", 0, "--radius", 0)
        assert "7 → 2" in call("train", copy, *quick)[1]


def test_an_evaluation_that_does_not_fit_says_which_key_would(tmp_path: Path, call: Call) -> None:
    path = _with_keys(tmp_path / "demos.hdf5", "counterbc/Intersection-v0", other=3, state=4)
    quick = ("--steps", 2, "--lag", 0, "--radius", 0)
    _, out, _ = call("train", path, *quick, "--out", tmp_path / "run")
    assert "They cannot be tested here: the observations of" in out
    assert out.splitlines()[-1] == f"Next: counterbc export {tmp_path / 'run'}"
    status, _, err = call("evaluate", tmp_path / "run")
    assert status == 1
    assert "has vectors of 7 numbers; train or compare with --obs state, which fits" in err


@pytest.mark.slow
def test_episodes_are_chosen_in_every_command_that_reads_demonstrations(
    demo_file: Path, tmp_path: Path, call: Call, call_json: CallJson
) -> None:
    total = call_json("inspect", demo_file)["episodes"]
    choice = ("--exclude", "demo_0", "--exclude", 1)
    assert call_json("inspect", demo_file, *choice)["episodes"] == total - 2
    call_json("convert", demo_file, tmp_path / "few.npz", *choice)
    few = load(tmp_path / "few.npz")
    assert len(few) == total - 2
    for command in ("score", "clean", "train", "radius", "tune", "report", "intents", "influence"):
        out = ("--out", tmp_path / "copy.hdf5") if command == "clean" else ()
        status, _, err = call(command, demo_file, "--mask", "no", *out)
        assert (status, "unknown mask 'no'; allowed: expert" in err) == (1, True), command
    options = ("--steps", 2, "--radius", 0.1, "--out", tmp_path / "run")
    call_json("train", demo_file, *choice, *options)
    assert Policies.load(tmp_path / "run").members[0].fingerprint == few.fingerprint()


@pytest.mark.slow
def test_a_table_leads_to_a_file_for_the_robot_by_what_is_printed(
    tmp_path: Path, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    rng, rows = np.random.default_rng(0), ["trial,time,x,heading,note,v"]
    for i in range(300):
        heading, x = (i * 0.3) % (2 * np.pi), rng.uniform(-1, 1)
        rows.append(f"t{i // 50},{i % 50},{x:.4f},{heading:.4f},ok,{0.5 * np.sin(heading) - x:.4f}")
    Path("nav.csv").write_text("\n".join(rows))
    status, _, err = call("inspect", "nav.csv")
    assert (status, "choose its columns with --obs and --action" in err) == (1, True)
    text = call("inspect", "nav.csv", "--action", "v")[1]
    (note,) = (line for line in text.splitlines() if "declare it with" in line)
    angle = note.split("declare it with ")[1].split(",")[0].split()
    keys = ("--action", "v", *angle)
    _, text, err = call("train", "nav.csv", *keys, "--steps", 2, "--radius", 0.1)
    assert "Next: counterbc export run\n" in text, err
    line = text.split("Next: counterbc ")[1].splitlines()[0]
    status, _, err = call(*shlex.split(line))
    assert status == 0, err
    assert Path("run.onnx").is_file()
