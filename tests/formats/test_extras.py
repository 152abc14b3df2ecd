from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from counterbc.errors import FormatError
from counterbc.formats import lerobot, load
from counterbc.formats.extras import (
    describe,
    extras_json,
    lost_digits,
    read_extras,
    with_checksum,
)
from counterbc.formats.stream import RawEpisode, Stream
from tests.formats.datasets import uneven


def stored_object(**options: Any) -> dict[str, Any]:
    """Return the object of a dataset as it comes back from a JSON file."""
    stream = Stream.of(uneven())
    episodes = [describe(raw, **options) for raw in stream.raw_episodes]
    return dict(json.loads(json.dumps(extras_json(stream.header, episodes))))


@pytest.mark.parametrize("stores_columns", [True, False])
def test_what_is_described_is_restored(stores_columns: bool) -> None:
    values = stored_object(stores_reward=stores_columns, stores_selected=stores_columns)
    extras = read_extras(values, "a file")
    for i, raw in enumerate(Stream.of(uneven()).raw_episodes):
        zeros = np.zeros(len(raw.action), np.float32)
        columns: dict[str, Any] = {
            "reward": zeros if raw.reward is None else raw.reward,
            "selected": raw.selected,
        }
        data = RawEpisode(raw.obs, raw.action, **(columns if stores_columns else {}))
        back = extras.restore(data, i)
        assert (back.name, back.operator, back.success) == (raw.name, raw.operator, raw.success)
        for name in ("reward", "selected"):
            a, b = getattr(back, name), getattr(raw, name)
            assert (a is None and b is None) or np.array_equal(a, b)


def test_the_header_is_restored() -> None:
    extras = read_extras(stored_object(stores_reward=True), "a file")
    demos = uneven()
    assert extras.obs_keys == demos.obs_keys
    assert extras.obs_names == demos.obs_names
    assert {k: extras.header[k] for k in ("action_set", "action_names", "rate", "masks")} == {
        "action_set": "ball",
        "action_names": ("left", "right"),
        "rate": 12.5,
        "masks": demos.masks,
    }
    assert np.array_equal(extras.header["action_low"], np.array([-5, -4.1], np.float32))


def test_an_episode_without_description_stays_as_it_is() -> None:
    extras = read_extras(stored_object(stores_reward=True), "a file")
    raw = RawEpisode(np.zeros((1, 6)), np.zeros((1, 2)), name="new")
    assert extras.restore(raw, 3) is raw


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"obs_keys": [["a", "b"]]}, r"obs_keys is .*; expected a list of \[name, width\] pairs"),
        ({"masks": []}, "masks is .*; expected an object"),
        ({"masks": {"a": [1]}}, "a is .*; expected a list of texts"),
        ({"episodes": [1]}, "episodes has an entry that is not an object"),
        ({"action_low": 1}, "action_low is 1; expected a list"),
        ({"action_low": ["a", "b"]}, "action_low is not a list of numbers"),
        ({"rate": -1}, "rate is -1; expected a positive number"),
        ({"episodes": [{"name": "a", "operator": 3}]}, "operator is 3; expected a text"),
        ({"episodes": [{"name": "a", "success": "yes"}]}, "success is 'yes'"),
        ({"episodes": [{"name": 4}]}, "name is 4; expected a text"),
        ({"episodes": [{"name": "a", "reward": ["x"]}]}, "reward is not a list of numbers"),
        ({"episodes": [{"name": "a", "selected": [1]}]}, "selected is not a list of true"),
    ],
)
def test_an_object_with_mistakes_is_refused(changes: dict[str, Any], message: str) -> None:
    values = stored_object(stores_reward=True) | changes
    with pytest.raises(FormatError, match=f"a file: {message}"):
        read_extras(values, "a file")


def test_descriptions_are_matched_by_position_and_length() -> None:
    extras = read_extras(stored_object(stores_reward=True), "a file")
    extras.check_fits([3, 2, 1], "a file")
    for lengths, first in (([3, 2], 2), ([3, 1, 2], 1), ([3, 2, 1, 1], 3)):
        with pytest.raises(FormatError, match=f"differ from episode {first} on; remove it"):
            extras.check_fits(lengths, "a file")


@pytest.mark.parametrize("order", [[1, 2], [0, 1], [1, 0, 2]])
def test_operators_of_other_episodes_are_refused_until_they_are_removed(
    order: list[int], tmp_path: Path
) -> None:
    lerobot.write(uneven(), tmp_path / "demos")
    path = tmp_path / "demos/meta/counterbc.json"
    values = json.loads(path.read_text())
    edited_values = values | {"episodes": [values["episodes"][i] for i in order]}
    path.write_text(json.dumps(with_checksum(edited_values)))
    with pytest.raises(FormatError, match=r"counterbc.json does not fit this dataset.*remove it"):
        load(tmp_path / "demos")
    path.unlink()
    assert [e.operator for e in load(tmp_path / "demos").episodes] == [None] * 3


@pytest.mark.parametrize("key", ["action_low", "rate", "episodes", "obs_names"])
def test_a_change_after_writing_is_noticed_until_the_checksum_is_removed(key: str) -> None:
    values = json.loads(json.dumps(with_checksum(stored_object(stores_reward=True)), indent=3))
    read_extras(values, "a file")
    del values[key]
    with pytest.raises(FormatError, match=r"a file changed since it was written; .* checksum"):
        read_extras(values, "a file")
    repaired_values = stored_object(stores_reward=True)  # as earlier versions wrote it
    assert read_extras(repaired_values, "a file").obs_names == uneven().obs_names


def test_only_numbers_beyond_32_bits_lose_digits() -> None:
    assert lost_digits([np.float32, np.uint8]) == []
    assert lost_digits([np.float32, np.float64]) == ["digits beyond 32 bits"]
