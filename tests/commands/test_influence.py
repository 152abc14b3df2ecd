"""counterbc influence, as people type it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from counterbc.data.demonstrations import Demonstrations
from tests.diagnosis.test_influence import reversed_episodes
from tests.fixture_types import Call, CallJson

QUICK = ("--splits", 60, "--steps", 150, "--device", "cpu")


@pytest.fixture
def demos(tmp_path: Path) -> Path:
    path = tmp_path / "demos.hdf5"
    reversed_episodes().save(path)
    return path


@pytest.mark.slow
def test_harmful_episodes_are_named_and_an_exclude_line_is_printed(
    demos: Path, call: Call, call_json: CallJson
) -> None:
    status, out, _ = call("influence", demos, "--judge", "good", *QUICK)
    assert status == 0
    assert "Clearly worse with than without (5 %, adjusted for all episodes)" in out
    assert "--dataset.episodes='[0, 1, 2, 3, 4, 5, 6, 7, 8]'" in out
    assert "120 policies of 150 steps" in out
    file = demos.with_name("list.json")
    payload = call_json("influence", demos, "--judge", "good", *QUICK, "--episode-list", file)
    assert json.loads(file.read_text()) == list(range(9))
    assert [e["index"] for e in payload["episodes"] if e["harmful"]] == [9, 10, 11]
    assert payload["can_tell"] is True
    assert all(e["low"] < e["effect"] < e["high"] for e in payload["episodes"])


def test_nothing_is_ranked_where_nothing_can_be_told(tmp_path: Path, call: Call) -> None:
    rng = np.random.default_rng(0)
    episodes = reversed_episodes().episodes
    noise = [replace(e, action=rng.uniform(-1, 1, e.action.shape)) for e in episodes]
    path = tmp_path / "noise.hdf5"
    Demonstrations(tuple(noise)).save(path)
    status, out, _ = call("influence", path, "--splits", 30, "--steps", 100)
    assert status == 1
    assert "Cannot tell: policies explain" in out
    assert "exclude" not in out
    status, out, _ = call("influence", path, "--splits", 30, "--steps", 100, "--json")
    payload = json.loads(out)
    assert (status, payload["can_tell"], payload["next"]) == (1, False, [])
    assert [set(e) for e in payload["episodes"]] == [{"index", "name", "operator"}] * 12
    status, out, _ = call("influence", path, "--splits", 30, "--steps", 100, "--force")
    assert status == 0
    assert "Cannot tell: policies explain" in out
    assert "--force" not in out
    assert "hurts" in out or "No episode clearly hurts" in out


def test_good_episodes_are_all_kept(tmp_path: Path, call: Call) -> None:
    path = tmp_path / "good.hdf5"
    reversed_episodes(wrong=0).save(path)
    status, out, _ = call("influence", path, *QUICK)
    assert (status, "No episode clearly hurts: keep them all." in out) == (0, True)


def test_bad_options_are_refused(demos: Path, call: Call) -> None:
    status, _, err = call("influence", demos, "--judge", "ann")
    assert (status, "no episode is by ann; the operators are: good, bad" in err) == (1, True)
    status, _, err = call("influence", demos, "--method", "magic")
    assert (status, "magic" in err) == (1, True)
    status, _, err = call("influence", demos, "--episodes", 0)
    assert (status, "cannot evaluate 0 episodes" in err) == (1, True)
