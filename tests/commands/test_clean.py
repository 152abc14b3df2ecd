"""counterbc clean: what it refuses before the work, and what it prints."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from counterbc.commands.clean import _text
from counterbc.data.demonstrations import Demonstrations
from counterbc.demonstrators import Chain, Delay, UniformNoise
from counterbc.demonstrators.recording import demonstrate
from counterbc.formats import load, save
from tests.annotated import QUICK
from tests.fixture_types import Call, CallJson

pytestmark = pytest.mark.filterwarnings("ignore::counterbc.errors.CannotTell")  # of tiny data


def test_a_copy_that_exists_is_refused_before_any_training(
    tiny: Demonstrations, tmp_path: Path, call: Call
) -> None:
    tiny.save(tmp_path / "a.npz")
    (tmp_path / "b.npz.shown.npz").write_text("")
    for out in ("a.npz", "b.npz"):
        status, _, err = call("clean", tmp_path / "a.npz", "--out", tmp_path / out)
        assert (status, "already exists" in err) == (1, True)


def test_a_format_that_cannot_be_written_names_the_way_out(tmp_path: Path, call: Call) -> None:
    path = tmp_path / "demos.csv"
    path.write_text("state,action\n0.1,0.2\n")
    status, _, err = call("clean", path, "--out", tmp_path / "c.csv", "--obs", "state")
    assert status == 1
    assert f"counterbc convert {path} demos.hdf5 --obs state" in err


def test_a_copy_with_an_ending_of_nothing_is_refused_before_any_training(
    demo_file: Path, tmp_path: Path, call: Call
) -> None:
    status, _, err = call("clean", demo_file, "--out", tmp_path / "copy.txt")
    assert (status, "copy.txt has another ending" in err) == (1, True)


@pytest.mark.parametrize(
    ("radius", "distance", "sentence"),
    [
        ([0.0], 0.0, "only actions out of bounds were moved"),
        ([0.3], 0.001, "The actions hardly moved"),
        ([0.3], 0.2, "The radius or the bounds limited 3 of them."),
    ],
)
def test_the_text_explains_how_far_actions_moved(
    radius: list[float], distance: float, sentence: str
) -> None:
    payload = {
        "pairs": 9, "out": "c.npz", "moved_rms": distance, "limited": 3, "radius": radius,
        "lag": (0.0,), "rate": 50.0, "offsets": {}, "not_carried_over": [],
        "train": ["counterbc train a.hdf5", "counterbc train b.hdf5"], "evaluate": None,
    }  # fmt: skip
    assert sentence in _text(payload)


@pytest.mark.parametrize(
    ("lag", "rate", "sentence"),
    [
        (
            (10.0,), 50.0,
            "Undid a lag of 0.2 s (10 steps); the last 10 steps of each episode have weight 0",
        ),
        ((2.5, 4.0), None, "Undid a lag of 2.5/4 steps; the last 3/4 steps of each episode"),
        ((1.0,), None, "Undid a lag of 1 step; the last step of each episode has weight 0"),
    ],
)  # fmt: skip
def test_the_text_says_which_lag_was_undone(
    lag: tuple[float, ...], rate: float | None, sentence: str
) -> None:
    payload = {
        "pairs": 9, "out": "c.npz", "moved_rms": 0.2, "limited": 3, "radius": [0.3],
        "lag": lag, "rate": rate, "offsets": {}, "not_carried_over": [],
        "train": ["counterbc train a.hdf5", "counterbc train b.hdf5"], "evaluate": None,
    }  # fmt: skip
    assert sentence in _text(payload)
    assert "lag" not in _text(payload | {"lag": (0.0,)})
    assert "are not always better" in _text(payload)
    assert _text(payload).startswith("Estimates of 9 intended actions were written to c.npz; they")
    assert _text(payload).splitlines()[-3:] == [
        "  counterbc train a.hdf5", "  counterbc train b.hdf5",
        "Only policies that act can decide.",
    ]  # fmt: skip
    tested = _text(payload | {"evaluate": "counterbc evaluate a b"})
    assert tested.endswith("b.hdf5\n  counterbc evaluate a b")
    assert "Removed constant offsets of ada." in _text(payload | {"offsets": {"ada": [0.1]}})


def test_a_copy_of_chosen_episodes_holds_no_others(
    annotated_file: Path, tmp_path: Path, call: Call
) -> None:
    out = tmp_path / "meant.hdf5"
    status, _, err = call("clean", annotated_file, *QUICK, "--exclude", "demo_1", "--out", out)
    assert status == 0, err
    names = [e.name for e in load(annotated_file).episodes if e.name != "demo_1"]
    assert [e.name for e in load(out).episodes] == names


def test_no_test_is_suggested_in_an_environment_that_does_not_fit(
    annotated_file: Path, tmp_path: Path, call_json: CallJson
) -> None:
    out = ("--out", tmp_path / "meant.hdf5")
    payload = call_json("clean", annotated_file, *QUICK, "--env", "intersection", *out)
    assert payload["evaluate"] is None


def test_a_lerobot_dataset_is_cleaned_in_place_with_everything_else_kept(
    annotated_file: Path, tmp_path: Path, call: Call, call_json: CallJson
) -> None:
    source, out = tmp_path / "demos", tmp_path / "meant"
    save(load(annotated_file), source, format="lerobot")
    video = source / "videos/front/file-000.mp4"
    video.parent.mkdir(parents=True)
    video.write_bytes(b"film")
    payload = call_json("clean", source, *QUICK, "--lag", 1, "--out", out)
    before, after = load(source), load(out)
    assert not np.array_equal(after.action, before.action)
    np.testing.assert_array_equal(after.obs, before.obs)
    shown = np.load(tmp_path / "meant.shown.npz")["actions_shown"]
    np.testing.assert_array_equal(shown, before.action)
    assert (out / "videos/front/file-000.mp4").samefile(video)
    assert payload["weight_0"] == len(before)
    assert any("have no meant action" in text for text in payload["not_carried_over"])
    status, _, err = call("clean", source, *QUICK, "--exclude", 0, "--out", tmp_path / "some")
    assert status == 0, err
    assert len(load(tmp_path / "some")) == len(before) - 1


def test_demonstrators_who_are_late_are_cleaned(tmp_path: Path, call_json: CallJson) -> None:
    path, out = tmp_path / "late.hdf5", tmp_path / "meant.hdf5"
    demonstrate("cartpole", Chain((Delay(0.2), UniformNoise(0.2))), 400, seed=0).save(path)
    options = ("--radius", 0.4, "--steps", 500, "--repeats", 1, "--rounds", 1)
    payload = call_json("clean", path, *options, "--out", out)
    assert payload["lag"] == [10.0]
    assert payload["explained"]["present"]["value"] > 0.8
    assert payload["explained"]["past"]["beyond"]["low"] > 0.1
    assert not np.array_equal(load(out).action, load(path).action)


def test_time_is_used_unless_turned_off(
    annotated_file: Path, tmp_path: Path, call_json: CallJson
) -> None:
    default, plain = (
        call_json("clean", annotated_file, "--out", tmp_path / f"{i}.hdf5", *QUICK, *options)
        for i, options in enumerate([(), ("--no-smooth",)])
    )
    assert (default["smooth"], plain["smooth"]) == (True, False)
    assert plain["reach"] == []
    with_time, without = (load(tmp_path / f"{i}.hdf5").action for i in (0, 1))
    assert not np.array_equal(with_time, without)


def test_a_refusal_says_how_much_is_explained(
    annotated_file: Path, tmp_path: Path, call: Call
) -> None:
    out = tmp_path / "new.hdf5"
    status, text, _ = call("clean", annotated_file, *QUICK[:-1], "--out", out, "--json")
    payload = json.loads(text)
    assert (status, payload["out"], out.exists()) == (1, None, False)
    assert not payload["explained"]["tells"]
