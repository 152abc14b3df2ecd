from __future__ import annotations

import json
import os
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

from counterbc.data.demonstrations import Demonstrations, Episode
from counterbc.errors import AbsentEpisodes, DataError, FormatError
from counterbc.formats import detect, load, robomimic
from counterbc.formats.robomimic import writer as robomimic_writer

Make = Callable[..., Demonstrations]
Disk = Callable[[], AbstractContextManager[None]]
pytestmark = pytest.mark.filterwarnings("ignore::counterbc.errors.AbsentEpisodes")


def foreign(path: Path, demos: dict[str, dict[str, Any]], **attrs: Any) -> Path:
    """A file as robomimic's own tools make it: no attribute of ours."""
    with h5py.File(path, "w") as file:
        data = file.create_group("data")
        data.attrs.update(attrs)
        for name, datasets in demos.items():
            group = data.create_group(name)
            for key, values in datasets.items():
                group[key] = values
    return path


def demo(length: int = 2, **datasets: Any) -> dict[str, Any]:
    return {"actions": np.zeros((length, 1)), "obs/state": np.zeros((length, 2))} | datasets


def test_the_layout_is_robomimics(tmp_path: Path, small: Make) -> None:
    small().save(tmp_path / "demos.hdf5")
    with h5py.File(tmp_path / "demos.hdf5") as file:
        data = file["data"]
        assert data.attrs["total"] == 5
        assert json.loads(data.attrs["env_args"]) == small().env_args
        assert list(data) == ["demo_0", "demo_1"]
        assert data["demo_0"].attrs["num_samples"] == 3
        assert data["demo_0/actions"].shape == (3, 2)
        assert data["demo_0/rewards"].shape == (3,)
        assert data["demo_0/dones"][()].tolist() == [0, 0, 1]
        assert {k: v.shape for k, v in data["demo_0/obs"].items()} == {
            "angle": (3, 1),
            "position": (3, 2),
        }
        assert file["mask/train"][()].tolist() == [b"demo_1", b"demo_0"]


# Files of others


def test_demos_are_read_in_numeric_order_and_other_names_after_them(tmp_path: Path) -> None:
    names = ["demo_10", "demo_2", "b", "a", "demo_x"]
    path = foreign(tmp_path / "order.hdf5", {n: demo() for n in names})
    read = [e.name for e in load(path).episodes]
    assert read == ["demo_2", "demo_10", "a", "b", "demo_x"]


def test_vectors_are_joined_in_sorted_order_and_images_left_out(tmp_path: Path) -> None:
    one = {
        "actions": np.zeros((2, 1)),
        "obs/b_matrix": np.arange(8.0).reshape(2, 2, 2),
        "obs/a_scalar": np.array([10, 20]),
        "obs/front_image": np.zeros((2, 4, 4, 3), np.uint8),
        "obs/front_depth": np.zeros((2, 4, 4, 1), np.float32),
    }
    demos = load(foreign(tmp_path / "keys.hdf5", {"demo_0": one}))
    assert demos.obs_keys == (("a_scalar", 1), ("b_matrix", 4))
    assert demos.obs.tolist() == [[10, 0, 1, 2, 3], [20, 4, 5, 6, 7]]
    assert demos.obs_names[:2] == ("a_scalar[0]", "b_matrix[0]")


def test_chosen_keys_come_in_the_chosen_order_with_their_names(tmp_path: Path, small: Make) -> None:
    small().save(tmp_path / "demos.hdf5")
    chosen = load(tmp_path / "demos.hdf5", obs=["angle", "position"])
    assert chosen.obs_names == ("angle", "x", "y")
    assert np.array_equal(chosen.obs, small().obs[:, [2, 0, 1]])
    assert load(tmp_path / "demos.hdf5", obs=["angle"]).obs_names == ("angle",)
    with pytest.raises(FormatError, match="no obs/speed; allowed: angle, position"):
        load(tmp_path / "demos.hdf5", obs=["speed"])


def test_one_image_key_alone_is_read_as_images_and_two_need_a_choice(tmp_path: Path) -> None:
    frames = np.zeros((2, 4, 4, 3), np.uint8)
    one = {"actions": np.zeros((2, 1)), "obs/left_image": frames}
    two = one | {"obs/right_image": frames + 1}
    assert load(foreign(tmp_path / "one.hdf5", {"demo_0": one})).obs_shape == (4, 4, 3)
    path = foreign(tmp_path / "two.hdf5", {"demo_0": two})
    with pytest.raises(FormatError, match="left_image, right_image"):
        load(path)
    assert load(path, obs=["right_image"]).obs.max() == 1
    with pytest.raises(FormatError, match="choose one image"):
        load(path, obs=["left_image", "right_image"])


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
    with pytest.warns(AbsentEpisodes, match="name 2 episodes that are not in the file") as caught:
        load(path)
    assert len(caught) == 1


def test_what_is_not_read_is_told(tmp_path: Path, small: Make) -> None:
    one = demo(states=np.zeros((2, 9)), dones=np.zeros(2)) | {
        "obs/front_image": np.zeros((2, 4, 4, 3), np.uint8)
    }
    path = foreign(tmp_path / "more.hdf5", {"demo_0": one}, note="of others")
    assert robomimic.stream(path).header.left_out == (
        "obs/front_image", "dones", "states", "attribute note", "digits beyond 32 bits",
    )  # fmt: skip
    small().save(tmp_path / "ours.hdf5")
    assert robomimic.stream(tmp_path / "ours.hdf5").header.left_out == ()


@pytest.mark.parametrize(
    ("name", "episodes", "pairs", "obs", "action"),
    [
        ("pusht_human_206.hdf5", 206, 25650, 23, 2),
        ("pusht_other_goal_151.hdf5", 151, 24644, 23, 2),
        ("adroit_door_human_25.hdf5", 25, 6729, 39, 28),
        ("fixtures/robomimic_ph_lift_low_dim_excerpt.hdf5", 2, 59 + 58, 55, 7),
        ("fixtures/robomimic_mg_can_low_dim_excerpt.hdf5", 2, 300, 59, 7),
        ("fixtures/robomimic_mh_lift_image_excerpt.hdf5", 1, 48, 55, 7),
    ],
)
def test_real_files_hold_what_their_makers_say(
    data: Path, name: str, episodes: int, pairs: int, obs: int, action: int
) -> None:
    demos = load(data / name)
    assert (len(demos), demos.pairs) == (episodes, pairs)
    assert (demos.obs_shape, demos.action_size) == ((obs,), action)
    assert demos.action_low is None


def test_push_t_names_its_environment_and_its_keys(data: Path) -> None:
    demos = load(data / "pusht_human_206.hdf5")
    assert demos.env == "gym_pusht/PushT-v0"
    assert demos.obs_keys == (("keypoints", 18), ("state", 5))
    assert [e.name for e in demos.episodes] == [f"demo_{i}" for i in range(206)]
    assert load(data / "pusht_human_206.hdf5", obs=["state"]).obs_shape == (5,)


def test_the_multi_human_excerpt_has_its_operators_and_all_44_masks(
    data: Path, tmp_path: Path
) -> None:
    demos = load(data / "fixtures/robomimic_mh_lift_image_excerpt.hdf5")
    assert len(demos.masks) == 44
    assert len(demos.masks["train"]) > 1
    six = robomimic.stream(data / "fixtures/robomimic_mh_lift_image_excerpt.hdf5").header.operators
    assert sorted(six) == [f"{t}_operator_{i}" for t in ("better", "okay", "worse") for i in (1, 2)]
    assert demos.operators[0] in demos.masks
    assert "demo_0" in demos.masks[demos.operators[0]]
    demos.save(tmp_path / "copy.hdf5")
    copy = load(tmp_path / "copy.hdf5")
    assert (copy.fingerprint(), copy.masks) == (demos.fingerprint(), demos.masks)


def test_machine_generated_can_is_in_numeric_order(data: Path) -> None:
    demos = load(data / "fixtures/robomimic_mg_can_low_dim_excerpt.hdf5")
    assert [e.name for e in demos.episodes] == ["demo_1", "demo_10"]


# Bad files


def test_a_path_that_is_no_file_is_refused_in_words(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=r"nothing\.hdf5 does not exist"):
        load(tmp_path / "nothing.hdf5")
    with pytest.raises(FormatError, match="is not a file"):
        robomimic.stream(tmp_path / "nothing.hdf5")


def test_a_file_cut_in_half_is_refused(tmp_path: Path, small: Make) -> None:
    small().save(tmp_path / "whole.hdf5")
    content = (tmp_path / "whole.hdf5").read_bytes()
    (tmp_path / "half.hdf5").write_bytes(content[: len(content) // 2])
    with pytest.raises(FormatError, match=r"half\.hdf5 cannot be read; it may be incomplete"):
        load(tmp_path / "half.hdf5")


def test_a_file_without_demos_is_refused(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "other.hdf5", "w") as file:
        file["episode_0/observations"] = np.zeros(3)
    with pytest.raises(FormatError, match="no group 'data'; it has episode_0"):
        load(tmp_path / "other.hdf5", format="robomimic")
    with pytest.raises(FormatError, match="no demos"):
        load(foreign(tmp_path / "empty.hdf5", {}))


@pytest.mark.parametrize(
    ("datasets", "sentence"),
    [
        ({"obs/state": np.zeros((2, 2))}, "'demo_1' has no actions; it has obs"),
        ({"actions": np.zeros((2, 1))}, "'demo_1' has no obs; it has actions"),
        (demo(actions=np.zeros((3, 1))), "2 rows of obs/state but 3 actions"),
        (
            demo() | {"obs/state": np.zeros((2, 5))},
            "has 5 numbers per row, but 2 in the first demo",
        ),
        (demo(0), "episode 'demo_1' is empty"),
        (demo(actions=np.full((2, 1), np.nan)), "action of episode 'demo_1' has 2 values"),
        (demo(actions=np.zeros((2, 3))), "'demo_1' has 3 dimensions"),
        (demo(actions=np.zeros(2)), r"action of episode 'demo_1' has shape \(2,\)"),
        (demo(rewards=np.zeros(5)), r"reward of episode 'demo_1' has shape \(5,\)"),
        (demo(actions=np.array([[b"x"], [b"y"]])), "only numbers can be read"),
        (demo(selected=np.ones(7)), r"selected of episode 'demo_1' has shape \(7,\)"),
    ],
)
def test_a_bad_demo_is_refused_in_words(
    tmp_path: Path, datasets: dict[str, Any], sentence: str
) -> None:
    path = foreign(tmp_path / "bad.hdf5", {"demo_0": demo(), "demo_1": datasets})
    with pytest.raises((FormatError, DataError), match=sentence) as caught:
        load(path)
    assert str(path) in str(caught.value)


def test_states_without_observations_name_the_tool_that_makes_them(tmp_path: Path) -> None:
    raw = {"actions": np.zeros((2, 1)), "states": np.zeros((2, 9))}
    with pytest.raises(FormatError, match=r"dataset_states_to_obs\.py"):
        load(foreign(tmp_path / "raw.hdf5", {"demo_0": raw}))


def test_python_objects_are_refused_and_not_unpickled(tmp_path: Path) -> None:
    path = foreign(tmp_path / "objects.hdf5", {"demo_0": demo()})
    with h5py.File(path, "a") as file:
        group = file["data/demo_0/obs"]
        group.create_dataset("zzz", (2,), dtype=h5py.string_dtype())
    with pytest.raises(FormatError, match="zzz of 'demo_0' holds values of type object"):
        load(path)


def test_a_wrong_count_of_samples_is_refused(tmp_path: Path) -> None:
    path = foreign(tmp_path / "count.hdf5", {"demo_0": demo()})
    with h5py.File(path, "a") as file:
        file["data/demo_0"].attrs["num_samples"] = 9
    with pytest.raises(FormatError, match="declares 9 samples but holds 2"):
        load(path)


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


# Writing that fails


def test_an_existing_file_is_never_overwritten(tmp_path: Path, small: Make) -> None:
    path = tmp_path / "mine.hdf5"
    path.write_text("precious")
    with pytest.raises(FormatError, match="already exists; choose another name, or delete it"):
        small().save(path)
    assert path.read_text() == "precious"


def test_a_missing_folder_is_named(tmp_path: Path, small: Make) -> None:
    with pytest.raises(FormatError, match=r"folder .*nowhere does not exist; create it first"):
        small().save(tmp_path / "nowhere" / "demos.hdf5")


@pytest.mark.parametrize("stage", ["data", "rename"])
@pytest.mark.parametrize(
    ("failure", "seen"),
    [
        (KeyboardInterrupt(), KeyboardInterrupt),
        (OSError(28, "No space left on device"), FormatError),
    ],
)
def test_an_interrupted_write_leaves_nothing_behind(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    stage: str,
    failure: BaseException,
    seen: type[BaseException],
    small: Make,
) -> None:
    def fail(*_: object) -> None:
        assert os.listdir(tmp_path) != []
        raise failure

    if stage == "data":
        monkeypatch.setattr(robomimic_writer, "_write_demo", fail)
    else:
        monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(seen):
        small().save(tmp_path / "demos.hdf5")
    assert os.listdir(tmp_path) == []


def test_a_full_disk_is_said_in_words_and_leaves_nothing_behind(
    tmp_path: Path, disk_of_10_kb: Disk
) -> None:
    large = Demonstrations((Episode(obs=np.zeros((50_000, 2)), action=np.zeros((50_000, 1))),))
    with pytest.raises(FormatError, match=r"could not be written .* free space"), disk_of_10_kb():
        large.save(tmp_path / "demos.hdf5")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    "fields",
    [
        {"masks": {"a": ("demo\0",)}},
        {"masks": {"a\0": ()}},
        {"obs_keys": (("a/b", 3),)},
        {"env_args": {"space": object()}},
        {
            "episodes": (Episode(np.zeros((3, 3)), np.zeros((3, 2)), operator="a\0"),),
            "masks": {},
            "selected": None,
        },
    ],
)
def test_names_that_hdf5_cannot_hold_are_refused(
    tmp_path: Path, fields: dict[str, Any], small: Make
) -> None:
    with pytest.raises(FormatError, match="rename"):
        small(**fields).save(tmp_path / "demos.hdf5")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("mask", ["task: red/blue", "", ".", "..", "a/b/../c"])
def test_masks_of_any_name_read_back(mask: str, tmp_path: Path, tiny: Demonstrations) -> None:
    masks = {mask: (tiny.episodes[0].name,), "other": ()}
    replace(tiny, masks=masks).save(tmp_path / "d.hdf5")
    assert load(tmp_path / "d.hdf5").masks == masks
    with h5py.File(tmp_path / "d.hdf5") as file:
        assert len(file["mask"]) == 2


def test_a_dataset_is_saved_as_npz_where_the_path_says_so(
    tmp_path: Path, tiny: Demonstrations
) -> None:
    tiny.save(tmp_path / "d.npz")
    assert detect(tmp_path / "d.npz") == "npz"
    assert load(tmp_path / "d.npz").fingerprint() == tiny.fingerprint()
