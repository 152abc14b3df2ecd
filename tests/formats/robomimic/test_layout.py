from __future__ import annotations

import json
from pathlib import Path

import h5py
import numpy as np
import pytest

from counterbc.errors import AbsentEpisodes, FormatError
from counterbc.formats import (
    load,
    robomimic,
)
from tests.formats.datasets import small
from tests.formats.robomimic.foreign import demo, foreign

pytestmark = pytest.mark.filterwarnings("ignore::counterbc.errors.AbsentEpisodes")


def test_demos_are_read_in_numeric_order_and_other_names_after_them(tmp_path: Path) -> None:
    names = ["demo_10", "demo_2", "b", "a", "demo_x"]
    path = foreign(tmp_path / "order.hdf5", {n: demo() for n in names})
    read = [e.name for e in load(path).episodes]
    assert read == ["demo_2", "demo_10", "a", "b", "demo_x"]


def test_vectors_are_joined_in_sorted_order_and_images_left_out(tmp_path: Path) -> None:
    datasets = {
        "actions": np.zeros((2, 1)),
        "obs/b_matrix": np.arange(8.0).reshape(2, 2, 2),
        "obs/a_scalar": np.array([10, 20]),
        "obs/front_image": np.zeros((2, 4, 4, 3), np.uint8),
        "obs/front_depth": np.zeros((2, 4, 4, 1), np.float32),
    }
    demos = load(foreign(tmp_path / "keys.hdf5", {"demo_0": datasets}))
    assert demos.obs_keys == (("a_scalar", 1), ("b_matrix", 4))
    assert demos.obs.tolist() == [[10, 0, 1, 2, 3], [20, 4, 5, 6, 7]]
    assert demos.obs_names[:2] == ("a_scalar[0]", "b_matrix[0]")


def test_chosen_keys_come_in_the_chosen_order_with_their_names(tmp_path: Path) -> None:
    small().save(tmp_path / "demos.hdf5")
    subset = load(tmp_path / "demos.hdf5", obs=["angle", "position"])
    assert subset.obs_names == ("angle", "x", "y")
    assert np.array_equal(subset.obs, small().obs[:, [2, 0, 1]])
    assert load(tmp_path / "demos.hdf5", obs=["angle"]).obs_names == ("angle",)
    with pytest.raises(FormatError, match="no obs/speed; allowed: angle, position"):
        load(tmp_path / "demos.hdf5", obs=["speed"])


def test_image_keys_are_read_as_images_if_there_are_no_vectors(tmp_path: Path) -> None:
    frames = np.zeros((2, 4, 4, 3), np.uint8)
    datasets = {"actions": np.zeros((2, 1)), "obs/left_image": frames}
    two = datasets | {"obs/right_image": frames + 1}
    assert load(foreign(tmp_path / "one.hdf5", {"demo_0": datasets})).obs_shape == (4, 4, 3)
    path = foreign(tmp_path / "two.hdf5", {"demo_0": two})
    assert list(load(path).cameras) == ["left_image", "right_image"]
    right = load(path, obs=["right_image"])
    assert right.obs.max() == 1
    assert (right.camera, right.blind_to) == ("right_image", ("left_image",))
    with pytest.raises(FormatError, match="no observation was chosen; name one of left_image"):
        load(path, obs=[])


def test_an_observation_that_cannot_be_read_matters_only_if_it_is_chosen(tmp_path: Path) -> None:
    datasets = {"actions": np.zeros((2, 1)), "obs/state": np.ones((2, 3))}
    path = foreign(tmp_path / "words.hdf5", {"demo_0": datasets})
    with h5py.File(path, "a") as file:
        file["data/demo_0/obs/words"] = np.array([b"one", b"two"])
        file["data/demo_0/obs/nothing"] = h5py.Empty("f4")
    assert load(path, obs=["state"]).blind_to == ()
    with pytest.raises(FormatError, match="words"):
        load(path, obs=["words"])


def test_images_beside_vectors_are_read_where_they_are_chosen(tmp_path: Path) -> None:
    frames = np.arange(2 * 4 * 4 * 3, dtype=np.uint8).reshape(2, 4, 4, 3)
    datasets = {"actions": np.zeros((2, 1)), "obs/state": np.ones((2, 3)), "obs/image": frames}
    path = foreign(tmp_path / "joined.hdf5", {"demo_0": datasets})
    blind = load(path)
    assert (blind.obs_keys, blind.cameras, blind.blind_to) == ((("state", 3),), {}, ("image",))
    joined = load(path, obs=["image", "state"])
    assert (joined.obs_keys, joined.cameras) == ((("state", 3),), {"image": (4, 4, 3)})
    np.testing.assert_array_equal(joined.images["image"], frames)
    assert "image (not read)" in repr(blind)


def test_of_a_robosuite_file_the_keys_are_read_that_robomimic_trains_on(tmp_path: Path) -> None:
    widths = {"object": 14, "robot0_eef_pos": 3, "robot0_eef_quat": 4, "robot0_gripper_qpos": 2}
    for kind, keys in ((1, list(widths)), (2, [*widths, "robot0_joint_pos"])):
        path = tmp_path / f"{kind}.hdf5"
        with h5py.File(path, "w") as file:
            file.create_group("data").attrs["env_args"] = json.dumps({"type": kind})
            for key, width in (widths | {"robot0_joint_pos": 7}).items():
                file[f"data/demo_0/obs/{key}"] = np.zeros((5, width))
            file["data/demo_0/actions"] = np.zeros((5, 7))
        assert [key for key, _ in load(path).obs_keys] == keys
        assert load(path, obs=["robot0_joint_pos"]).obs_shape == (7,)


@pytest.mark.parametrize(("kind", "bounded"), [(1, True), (2, False), (3, False)])
def test_only_robosuite_actions_are_known_to_lie_in_the_unit_box(
    tmp_path: Path, kind: int, bounded: bool
) -> None:
    args = json.dumps({"type": kind, "env_kwargs": {"control_freq": 20}})
    demos = load(foreign(tmp_path / "kind.hdf5", {"demo_0": demo()}, env_args=args))
    assert (demos.action_low is not None) is bounded
    if demos.action_low is not None and demos.action_high is not None:
        assert (demos.action_low.tolist(), demos.action_high.tolist()) == ([-1], [1])
    assert demos.rate == 20


def test_operators_are_found_in_multi_human_masks(tmp_path: Path) -> None:
    path = foreign(tmp_path / "mh.hdf5", {f"demo_{i}": demo() for i in range(3)})
    with h5py.File(path, "a") as file:
        file["mask/worse_operator_2"] = np.array([b"demo_2", b"demo_200"])
        file["mask/better_operator_1"] = np.array([b"demo_0"])
        file["mask/better_operator_1_train"] = np.array([b"demo_1"])
    demos = load(path)
    assert [e.operator for e in demos.episodes] == ["better_operator_1", None, "worse_operator_2"]
    assert demos.masks["worse_operator_2"] == ("demo_2", "demo_200")
    assert all(e.success is None for e in demos.episodes)


def test_absent_demos_in_masks_are_one_warning(tmp_path: Path) -> None:
    path = foreign(tmp_path / "mask.hdf5", {"demo_0": demo()})
    with h5py.File(path, "a") as file:
        file["mask/a"] = np.array([b"demo_0", b"demo_8", b"demo_9"])
        file["mask/b"] = np.array([b"demo_9"])
    with pytest.warns(
        AbsentEpisodes, match="name 2 episodes that are not in the file"
    ) as warning_list:
        load(path)
    assert len(warning_list) == 1


def test_what_is_not_read_is_named(tmp_path: Path) -> None:
    datasets = demo(states=np.zeros((2, 9)), dones=np.zeros(2)) | {
        "obs/front_image": np.zeros((2, 4, 4, 3), np.uint8)
    }
    path = foreign(tmp_path / "more.hdf5", {"demo_0": datasets}, note="of others")
    assert robomimic.stream(path).header.left_out == (
        "obs/front_image", "dones", "states", "attribute note", "digits beyond 32 bits",
    )  # fmt: skip
    small().save(tmp_path / "ours.hdf5")
    assert robomimic.stream(tmp_path / "ours.hdf5").header.left_out == ()


def test_a_file_without_demos_is_refused(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "other.hdf5", "w") as file:
        file["episode_0/observations"] = np.zeros(3)
    with pytest.raises(FormatError, match="no group 'data'; it has episode_0"):
        load(tmp_path / "other.hdf5", format="robomimic")
    with pytest.raises(FormatError, match="no demos"):
        load(foreign(tmp_path / "empty.hdf5", {}))


def test_states_without_observations_name_the_tool_that_makes_them(tmp_path: Path) -> None:
    raw = {"actions": np.zeros((2, 1)), "states": np.zeros((2, 9))}
    with pytest.raises(FormatError, match=r"dataset_states_to_obs\.py"):
        load(foreign(tmp_path / "raw.hdf5", {"demo_0": raw}))


@pytest.mark.parametrize("args", ["{not json", "[1, 2]"])
def test_env_args_that_are_no_json_object_are_refused(tmp_path: Path, args: str) -> None:
    path = foreign(tmp_path / "args.hdf5", {"demo_0": demo()}, env_args=args)
    with pytest.raises(FormatError, match="attribute env_args"):
        load(path)


def test_a_mask_of_numbers_is_refused(tmp_path: Path) -> None:
    path = foreign(tmp_path / "mask.hdf5", {"demo_0": demo()})
    with h5py.File(path, "a") as file:
        file["mask/train"] = np.arange(3)
    with pytest.raises(FormatError, match="mask/train is not a list of demo names"):
        load(path)
