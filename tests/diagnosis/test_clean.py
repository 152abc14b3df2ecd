"""Cleaned copies of files, written by counterbc clean."""

from __future__ import annotations

import json
from pathlib import Path

import h5py
import numpy as np
import pytest

from counterbc.data.demonstrations import Demonstrations
from counterbc.formats import load, save
from tests.annotated import QUICK, hdf5_contents
from tests.fixture_types import Call, CallJson

pytestmark = pytest.mark.filterwarnings(
    "ignore::counterbc.errors.AbsentEpisodes",
    "ignore::counterbc.errors.InfeasibleActions",
    "ignore::counterbc.errors.CannotTell",
)


def test_a_cleaned_file_equals_the_original_in_all_but_its_actions(
    annotated_file: Path, tmp_path: Path, call_json: CallJson
) -> None:
    out = tmp_path / "cleaned.hdf5"
    payload = call_json("clean", annotated_file, "--out", out, *QUICK)
    before, after = hdf5_contents(annotated_file), hdf5_contents(out)
    names = {f"data/demo_{i}/actions" for i in range(4)}
    for name in names:
        assert after.pop(f"{name}_shown") == before[name]
        assert after[name][:2] == before[name][:2], "type and shape stay"
        assert after[name] != before[name]
        provenance = json.loads(after.pop(f"{name}@meant"))
        assert provenance == {
            "radius": [0.3, 0.3], "shape": "ball", "lag": [0.0], "offsets": {}, "smooth": True,
            "reach": [0.3, 0.3],
        }  # fmt: skip
    assert after.pop("data/demo_2/actions_shown@unit") == after["data/demo_2/actions@unit"]
    assert {k for k in after if k not in names} == {k for k in before if k not in names}
    assert all(after[k] == before[k] for k in before if k not in names)
    assert payload["not_carried_over"] == ["action_dict: still as it was demonstrated"]


def test_cleaned_actions_are_near_and_feasible_also_in_the_file(
    annotated_file: Path, tmp_path: Path, call_json: CallJson
) -> None:
    payload = call_json("clean", annotated_file, "--out", tmp_path / "c.hdf5", *QUICK)
    action, meant_actions = load(annotated_file).action, load(tmp_path / "c.hdf5").action
    distances = np.linalg.norm(meant_actions - action, axis=1)
    assert distances.max() <= 0.3 + 1e-6
    assert payload["moved_most"] == pytest.approx(distances.max(), abs=1e-5)
    assert np.abs(meant_actions).max() <= 1
    assert load(tmp_path / "c.hdf5").operators == ("ada", "bob")


def test_only_what_the_radius_or_the_bounds_stop_is_called_limited(
    annotated_file: Path, tmp_path: Path, call_json: CallJson
) -> None:
    wide, near = (
        call_json(
            "clean", annotated_file, "--out", tmp_path / f"{r}.hdf5", *QUICK[:7], r, "--force"
        )
        for r in ("2", "0.01")
    )
    assert near["limited"] > near["pairs"] / 2
    assert near["limited"] > wide["limited"]


def test_cleaning_the_same_file_twice_gives_the_same_actions(
    annotated_file: Path, tmp_path: Path, call_json: CallJson
) -> None:
    for name in ("a.hdf5", "b.hdf5"):
        call_json("clean", annotated_file, "--out", tmp_path / name, *QUICK)
    assert np.array_equal(load(tmp_path / "a.hdf5").action, load(tmp_path / "b.hdf5").action)


def test_other_formats_are_cleaned_through_their_writers(
    tiny: Demonstrations, tmp_path: Path, call_json: CallJson
) -> None:
    save(tiny, tmp_path / "demos.npz")
    payload = call_json("clean", tmp_path / "demos.npz", "--out", tmp_path / "c.npz", *QUICK)
    assert payload["format"] == "npz"
    assert any("the demonstrated actions" in text for text in payload["not_carried_over"])
    cleaned_demos = load(tmp_path / "c.npz")
    assert np.array_equal(cleaned_demos.obs, tiny.obs)
    assert not np.array_equal(cleaned_demos.action, tiny.action)


@pytest.mark.parametrize(
    ("change", "text"),
    [("actions_shown", "cleaned before"), ("int", "store floating-point numbers")],
)
def test_files_whose_actions_cannot_be_replaced_are_refused(
    change: str, text: str, annotated_file: Path, tmp_path: Path, call: Call
) -> None:
    with h5py.File(annotated_file, "a") as file:
        group = file["data/demo_1"]
        if change == "int":
            del group["actions"]
            group["actions"] = np.zeros((10, 2), np.int64)
        else:
            group[change] = np.zeros((10, 2))
    status, _, err = call("clean", annotated_file, "--out", tmp_path / "c.hdf5", *QUICK)
    assert status == 1
    assert text in err
    assert "predicting" not in err, "it is refused before any work is done"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["demos.hdf5"]


def test_an_undone_lag_is_named_in_the_file_and_the_last_steps_are_marked(
    annotated_file: Path, tmp_path: Path, call_json: CallJson
) -> None:
    out = tmp_path / "cleaned.hdf5"
    payload = call_json("clean", annotated_file, "--out", out, "--lag", "3", *QUICK)
    assert (payload["lag"], payload["pairs"], payload["weight_0"]) == ([3.0], 28, 12)
    before, after = load(annotated_file), load(out)
    last = np.arange(40) % 10 >= 7
    assert np.array_equal(after.learned, np.flatnonzero(~last)), "training leaves out the last"
    assert np.array_equal(after.action[last], before.action[last])
    with h5py.File(out) as file:
        demo = file["data/demo_1"]
        assert demo["selected"][:].tolist() == [True] * 7 + [False] * 3
        assert np.array_equal(demo["actions_shown"], before.episodes[1].action)
        assert json.loads(demo["actions"].attrs["meant"])["lag"] == [3.0]
    answer = before.action[np.flatnonzero(~last) + 3]
    off = np.linalg.norm(after.action[~last] - np.clip(answer, -1, 1), axis=1)
    assert off.max() <= 0.3 + 1e-6, "near the action that was shown 3 steps later"


def test_other_formats_mark_the_last_steps_too(
    tiny: Demonstrations, tmp_path: Path, call_json: CallJson
) -> None:
    tiny.save(tmp_path / "demos.npz")
    command = ("clean", tmp_path / "demos.npz", "--out", tmp_path / "c.npz", "--lag", "1.5")
    call_json(*command, *QUICK)
    steps = np.arange(40) % 10
    assert np.array_equal(load(tmp_path / "c.npz").learned, np.flatnonzero(steps < 8))


@pytest.mark.slow
def test_real_human_demonstrations_are_cleaned_whole(
    data: Path, tmp_path: Path, call_json: CallJson
) -> None:
    source = data / "adroit_door_human_25.hdf5"
    out = tmp_path / "cleaned.hdf5"
    payload = call_json("clean", source, "--out", out, *QUICK)
    assert payload["pairs"] == 6729
    before, after = hdf5_contents(source), hdf5_contents(out)
    changed_keys = {k for k in before if after[k] != before[k]}
    assert changed_keys == {k for k in before if k.endswith("/actions")}


def test_what_was_shown_is_kept_beside_a_copy_in_another_format(
    annotated_file: Path, tmp_path: Path, call: Call
) -> None:
    load(annotated_file).save(tmp_path / "a.npz")
    status, text, err = call("clean", tmp_path / "a.npz", *QUICK, "--out", tmp_path / "b.npz")
    assert status == 0, err
    assert "the demonstrated actions: kept in" in text
    with np.load(tmp_path / "b.npz.shown.npz") as shown_file:
        np.testing.assert_array_equal(shown_file["actions_shown"], load(annotated_file).action)
