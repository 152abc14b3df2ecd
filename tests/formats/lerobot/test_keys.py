from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from counterbc.data.demonstrations import Demonstrations, Episode
from counterbc.errors import CounterBCError, FormatError
from counterbc.formats import (
    lerobot,
    load,
)
from counterbc.formats.extras import with_checksum
from tests.formats.lerobot.foreign import (
    CAMERA,
    ENDS,
    FEATURES,
    IMAGE,
    LENGTHS,
    columns,
    foreign,
    images,
    with_images,
)


def test_numeric_observations_are_joined_with_the_state_and_the_environment_first(
    tmp_path: Path,
) -> None:
    demos = load(foreign(tmp_path))
    assert demos.obs_keys == (
        ("observation.state", 2),
        ("observation.environment_state", 2),
        ("observation.speed", 1),
        ("observation.grid", 4),
    )
    assert demos.obs[3].tolist() == [3, 3.5, 3, 3.5, 3.25, 3, 3.5, 3, 3.5]


def test_observations_are_chosen_by_their_full_or_short_names(tmp_path: Path) -> None:
    root = foreign(tmp_path)
    subset = load(root, obs=["speed", "observation.state"])
    assert subset.obs_keys == (("observation.speed", 1), ("observation.state", 2))
    assert subset.obs[4].tolist() == [4.25, 4, 4.5]
    with pytest.raises(FormatError, match=r"no observation 'image'; allowed: observation\.state"):
        load(root, obs=["image"])
    with pytest.raises(FormatError, match="no observation was chosen; choose from observation"):
        load(root, obs=[])


def test_numbers_with_three_dimensions_are_read_only_when_they_are_chosen(tmp_path: Path) -> None:
    depth = {"dtype": "float32", "shape": [1, 2, 2], "names": None}
    extra = [{"observation.depth": pa.array([[[[1.0, 2.0], [3.0, 4.0]]]] * n)} for n in LENGTHS]
    root = foreign(tmp_path, FEATURES | {"observation.depth": depth}, extra)
    assert load(root).obs_shape == (9,)
    assert lerobot.stream(root).header.left_out == (
        "observation.depth (float32)", "observation.note (string)", "digits beyond 32 bits",
    )  # fmt: skip
    assert load(root, obs=["depth"]).obs[0].tolist() == [1, 2, 3, 4]


def test_images_are_left_out_beside_vectors_and_read_alone(tmp_path: Path) -> None:
    root = with_images(tmp_path / "both")
    assert load(root).obs_shape == (9,)
    assert lerobot.stream(root).header.left_out == (
        f"{CAMERA} (image)", "observation.note (string)", "digits beyond 32 bits",
    )  # fmt: skip
    joined = load(root, obs=["front", "state"])
    assert joined.obs_keys == (("observation.state", 2),)
    assert joined.cameras == {CAMERA: (6, 8, 3)}
    np.testing.assert_array_equal(joined.images[CAMERA], load(root, obs=["front"]).episodes[0].obs)
    assert (load(root).blind_to, joined.blind_to) == ((CAMERA,), ())
    only = {k: v for k, v in FEATURES.items() if not k.startswith("observation.")}
    cells = [{"bytes": b, "path": None} for b in images("PNG")]
    extra = [{CAMERA: pa.array(cells[end - n : end])} for n, end in zip(LENGTHS, ENDS, strict=True)]
    single_image = foreign(tmp_path / "alone", only | {CAMERA: IMAGE}, extra)
    assert load(single_image).obs_shape == (6, 8, 3)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"obs_features": ["action", "action"]}, "obs_features has 2 entries but obs_keys has 1"),
        ({"obs_features": ["nothing"]}, "feature 'nothing' does not hold the key 'state'"),
        ({"obs_keys": [["state", 9]]}, "does not hold the key 'state'; remove this file"),
        ({"action_set": "sphere"}, "unknown action set 'sphere'"),
        ({"action_names": ["one"]}, "1 action names for 2 action dimensions"),
    ],
)
def test_extras_that_do_not_fit_the_features_are_refused(
    tmp_path: Path, changes: dict[str, Any], message: str
) -> None:
    demos = Demonstrations((Episode(np.zeros((2, 3)), np.zeros((2, 2))),))
    lerobot.write(demos, tmp_path / "demos")
    path = tmp_path / "demos/meta/counterbc.json"
    path.write_text(json.dumps(with_checksum(json.loads(path.read_text()) | changes)))
    with pytest.raises(CounterBCError, match=message):
        load(tmp_path / "demos")


def test_extras_that_are_no_file_are_not_taken_for_missing(tmp_path: Path) -> None:
    lerobot.write(
        Demonstrations((Episode(np.zeros((2, 3)), np.zeros((2, 2))),)), tmp_path / "demos"
    )
    path = tmp_path / "demos/meta/counterbc.json"
    path.unlink()
    path.symlink_to("nowhere")
    with pytest.raises(CounterBCError, match=r"counterbc\.json is missing"):
        load(tmp_path / "demos")
    path.unlink()
    path.mkdir()
    with pytest.raises(CounterBCError, match=r"counterbc\.json is not a file"):
        load(tmp_path / "demos")


OPENPI: dict[str, dict[str, Any]] = {
    "image": IMAGE,
    "state": {"dtype": "float32", "shape": [2], "names": ["x", "y"]},
    "actions": {"dtype": "float32", "shape": [2], "names": ["a", "b"]},
    "episode_index": {"dtype": "int64", "shape": [1], "names": None},
}


def test_features_without_prefixes_are_read_as_openpi_names_them(tmp_path: Path) -> None:
    cells = [{"bytes": b, "path": None} for b in images("PNG")]
    extra = []
    for i, (n, end) in enumerate(zip(LENGTHS, ENDS, strict=True)):
        numbers = columns(i, end - n, n)
        extra.append({
            "image": pa.array(cells[end - n : end]), "state": numbers["observation.state"],
            "actions": numbers["action"],
        })  # fmt: skip
    root = foreign(tmp_path / "demos", OPENPI, extra)
    demos = load(root)
    assert (demos.obs_names, demos.action_names) == (("x", "y"), ("a", "b"))
    assert demos.action[0].tolist() == [0, 0.5]
    assert load(root, ["image"]).obs_shape == (6, 8, 3)
    with pytest.raises(CounterBCError, match="it has image, state, actions, episode_index; choose"):
        load(root, action=["command"])


def test_a_state_without_a_prefix_is_read_beside_cameras_that_have_one(tmp_path: Path) -> None:
    names: dict[str, dict[str, Any]] = {CAMERA: IMAGE} | {
        k: v for k, v in OPENPI.items() if k != "image"
    }
    cells = [{"bytes": b, "path": None} for b in images("PNG")]
    extra = []
    for i, (n, end) in enumerate(zip(LENGTHS, ENDS, strict=True)):
        numbers = columns(i, end - n, n)
        extra.append({
            CAMERA: pa.array(cells[end - n : end]), "state": numbers["observation.state"],
            "actions": numbers["action"],
        })  # fmt: skip
    demos = load(foreign(tmp_path / "demos", names, extra))
    assert demos.obs_names == ("x", "y")
    assert demos.blind_to == (CAMERA,)


def test_an_action_that_is_not_chosen_is_no_observation_unless_it_is_named(tmp_path: Path) -> None:
    names = {"state": FEATURES["observation.state"], "actions": FEATURES["action"]}
    names |= {"actions_raw": FEATURES["action"], "episode_index": FEATURES["episode_index"]}
    extra = []
    for i, (n, end) in enumerate(zip(LENGTHS, ENDS, strict=True)):
        pairs = columns(i, end - n, n)["action"]
        extra.append(dict.fromkeys(("state", "actions", "actions_raw"), pairs))
    root = foreign(tmp_path / "demos", names, extra)
    assert load(root).obs_keys == (("state", 2),)
    assert load(root, ["actions_raw"]).obs_keys == (("actions_raw", 2),)
