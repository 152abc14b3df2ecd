from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

from counterbc.errors import FormatError
from counterbc.formats import (
    load,
    minari,
    open_stream,
)
from counterbc.formats.extras import with_checksum
from tests.formats.datasets import uneven
from tests.formats.minari.foreign import (
    STEPS,
    STORES,
    box,
    foreign,
)


@pytest.mark.parametrize("store", STORES)
def test_the_parts_of_a_dict_are_joined_and_the_last_observation_is_dropped(
    tmp_path: Path, store: str
) -> None:
    demos = load(foreign(tmp_path, store))
    assert [len(e) for e in demos.episodes] == list(STEPS)
    assert demos.obs_keys == (("b.deep", 2), ("b.pair.0", 1), ("b.pair.1", 2), ("a", 2))
    assert demos.obs.tolist() == [
        [r, r + 0.5, r, r % 2, 0, r + 0.25, r + 0.75] for r in range(5)
    ]  # fmt: skip
    assert demos.action.tolist() == [[r, -r] for r in range(5)]
    assert [e.success for e in demos.episodes] == [False, True]
    rewards = [e.reward for e in demos.episodes if e.reward is not None]
    assert np.allclose(np.concatenate(rewards), np.arange(5) * 0.1)


@pytest.mark.parametrize("store", STORES)
def test_jpeg_images_are_read_when_they_are_chosen(tmp_path: Path, store: str) -> None:
    root = foreign(tmp_path, store)
    demos = load(root, obs=["camera"])
    assert demos.obs_shape == (32, 40, 3)
    assert demos.obs[:, 0, 0, 0].tolist() == [0, 1, 2, 3, 4]
    assert minari.stream(root).header.left_out == (
        "camera (Box)", "word (Text)", "terminations", "truncations",
        "the last observation of each episode", "metadata dataset_id", "digits beyond 32 bits",
    )  # fmt: skip


def test_bounds_environment_and_source_come_from_the_metadata(tmp_path: Path) -> None:
    demos = load(foreign(tmp_path))
    assert demos.action_low is not None
    assert demos.action_high is not None
    assert (demos.action_low.tolist(), demos.action_high.tolist()) == ([-1, -2], [1, 2])
    assert demos.env == "Door-v1"
    assert demos.env_args["env_kwargs"] == {"x": 1}
    assert json.loads(demos.env_args["env_spec"])["id"] == "Door-v1"
    assert demos.source == str(tmp_path)
    assert demos.rate is None


@pytest.mark.parametrize("name", ["", "data", "data/main_data.hdf5"])
def test_a_path_may_be_the_folder_its_data_or_their_file(tmp_path: Path, name: str) -> None:
    foreign(tmp_path)
    assert minari.recognizes(tmp_path / name)
    assert load(tmp_path / name).pairs == 5


@pytest.mark.parametrize("store", STORES)
def test_recognized_is_what_minari_made(tmp_path: Path, store: str) -> None:
    (tmp_path / "metadata.json").write_text("[]")
    assert not minari.recognizes(tmp_path)
    assert not minari.recognizes(tmp_path / "metadata.json")
    assert minari.recognizes(foreign(tmp_path / "demos", store))


def test_parts_are_chosen_by_name_and_images_read_beside_vectors(tmp_path: Path) -> None:
    root = foreign(tmp_path)
    assert load(root, obs=["a", "b.pair.0"]).obs[3].tolist() == [3.25, 3.75, 3]
    with pytest.raises(FormatError, match=r"no observation 'c'; allowed: b.deep, b.pair.0"):
        load(root, obs=["c"])
    joined = load(root, obs=["camera", "a"])
    assert list(joined.cameras) == ["camera"]
    np.testing.assert_array_equal(
        joined.images["camera"], load(root, obs=["camera"]).episodes[0].obs
    )
    for wish in (["word"], []):
        with pytest.raises(FormatError, match="choose images and vectors from b"):
            load(root, obs=wish)


def test_discrete_actions_are_refused(tmp_path: Path) -> None:
    space = json.dumps({"type": "Discrete", "n": 4, "start": 0})
    with pytest.raises(
        FormatError, match=r"the action space is Discrete; only continuous actions \(Box\)"
    ):
        load(foreign(tmp_path, action_space=space))


@pytest.mark.parametrize(
    ("metadata", "sentence"),
    [
        ({"data_format": "lance"}, "data_format is 'lance'; allowed: hdf5, arrow, parquet"),
        ({"total_episodes": 3}, "declares 3 episodes, but .* has 2"),
        ({"total_episodes": 10**6}, "declares 1000000 episodes, but .* has 2"),
        ({"total_episodes": 0}, "total_episodes is 0; expected a whole number of at least 1"),
        ({"total_steps": 6}, "declares 6 steps, but the episodes have 5"),
        ({"observation_space": None}, "observation_space is None; expected a text"),
        ({"observation_space": "{"}, "observation_space is not JSON"),
        ({"observation_space": "[]"}, "observation_space holds a JSON list; expected an object"),
        ({"observation_space": "{}"}, "observation_space: has no type"),
        ({"observation_space": '{"type": "Dict", "subspaces": {}}'}, "observation_space is empty"),
        ({"observation_space": '{"type": "Graph"}'}, "cannot join nothing; choose images"),
        ({"action_space": json.dumps(box(3))}, "actions of 'episode_0' has 2 numbers per row"),
        ({"action_space": '{"type": "Box", "shape": [1000000000000]}'}, "expected positive sizes"),
        ({"action_space": '{"type": "Box", "shape": [2], "low": [1, 2, 3]}'}, "expected 2 numbers"),
        ({"action_space": '{"type": "Box", "shape": [2], "low": "x"}'}, "has the bound 'x'"),
        ({"env_spec": "{"}, "env_spec is not JSON"),
        ({"counterbc": 1}, "counterbc is 1; expected an object"),
        ({"counterbc": {}}, "counterbc: has no obs_keys"),
    ],
)
def test_metadata_that_are_wrong_are_refused(
    tmp_path: Path, metadata: dict[str, Any], sentence: str
) -> None:
    root = foreign(tmp_path, **metadata)
    with pytest.raises(FormatError, match=sentence):
        load(root)


def test_episodes_that_others_added_are_read_without_description(tmp_path: Path) -> None:
    minari.write(uneven(), tmp_path / "more")
    path = tmp_path / "more/data/metadata.json"
    metadata = json.loads(path.read_text())
    del metadata["counterbc"]["episodes"][-1]
    metadata["counterbc"] = with_checksum(metadata["counterbc"])
    path.write_text(json.dumps(metadata))
    back = load(tmp_path / "more")
    assert [e.operator for e in back.episodes] == ["ann", None, None]
    assert [e.name for e in back.episodes] == ["demo_0", "demo_1", "demo_2"]


@pytest.mark.parametrize("store", STORES)
def test_an_episode_that_cannot_be_read_does_not_hide_the_others(
    tmp_path: Path, store: str
) -> None:
    root = foreign(tmp_path / "demos", store)
    if store == "hdf5":
        with h5py.File(root / "data/main_data.hdf5", "a") as file:
            del file["episode_0/actions"]
    else:
        next((root / "data/0").glob(f"*.{store}")).write_bytes(b"nothing")
    episodes = list(open_stream(root).raw_episodes)
    assert [e.error is None for e in episodes] == [False, True]
    with pytest.raises(FormatError, match=str(root)):
        load(root)
