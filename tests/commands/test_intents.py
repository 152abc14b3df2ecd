"""counterbc intents, as people type it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from counterbc.data.demonstrations import Demonstrations, Episode
from counterbc.formats import load
from tests.fixture_types import Call, CallJson


@pytest.fixture
def demos(tmp_path: Path) -> Path:
    """Twelve episodes that go up or down, six each."""
    rng, episodes = np.random.default_rng(0), []
    for i in range(12):
        action = np.full((20, 1), 0.5 if i % 2 else -0.5) + 0.02 * rng.normal(size=(20, 1))
        episodes.append(Episode(np.cumsum(action, axis=0), action))
    path = tmp_path / "demos.hdf5"
    Demonstrations(tuple(episodes)).save(path)
    return path


def test_groups_are_found_and_written_as_masks_and_observations(
    demos: Path, tmp_path: Path, call_json: CallJson
) -> None:
    out = tmp_path / "marked.hdf5"
    payload = call_json("intents", demos, "--groups", 2, "--out", out, "--condition")
    groups = [episode["group"] for episode in payload["episodes"]]
    assert groups == groups[:2] * 6
    assert sorted(groups[:2]) == [0, 1]
    copy = load(out)
    assert {name: len(names) for name, names in copy.masks.items()} == {
        "intent_0": 6,
        "intent_1": 6,
    }
    assert copy.obs_shape == (3,)


def test_only_several_groups_are_said_to_differ_where_actions_tell_little(
    tmp_path: Path, call: Call
) -> None:
    rng, path = np.random.default_rng(0), tmp_path / "noise.hdf5"
    episodes = tuple(
        Episode(rng.normal(size=(20, 2)), rng.uniform(-1, 1, (20, 1))) for _ in range(12)
    )
    Demonstrations(episodes).save(path)
    sentence = "so groups differ in where episodes end"
    assert sentence in call("intents", path, "--groups", 2)[1]
    _, out, _ = call("intents", path, "--groups", 1)
    assert "Cannot tell" in out
    assert sentence not in out
    assert f"Next: counterbc inspect {path}" in out.replace("\n", "")


def test_options_of_the_search_reach_it(demos: Path, call: Call) -> None:
    status, out, _ = call("intents", demos, "--max-groups", 1)
    assert (status, "One intent" in out) == (0, True)
    status, _, err = call("intents", demos, "--folds", 1)
    assert (status, "folds is 1; it must be 2 or more" in err) == (1, True)


def test_a_condition_without_a_copy_is_refused(demos: Path, call: Call) -> None:
    status, _, err = call("intents", demos, "--condition")
    assert (status, "add --out FILE" in err) == (1, True)
