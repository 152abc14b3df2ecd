from __future__ import annotations

from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

from counterbc.data.inspection import Inspection
from counterbc.errors import DataError, FormatError
from counterbc.formats import (
    load,
    open_stream,
    robomimic,
    save,
)
from tests.formats.datasets import small
from tests.formats.robomimic.foreign import demo, foreign

pytestmark = pytest.mark.filterwarnings("ignore::counterbc.errors.AbsentEpisodes")


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


def test_a_path_that_is_no_file_is_refused_in_words(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=r"nothing\.hdf5 does not exist"):
        load(tmp_path / "nothing.hdf5")
    with pytest.raises(FormatError, match="is not a file"):
        robomimic.stream(tmp_path / "nothing.hdf5")


def test_a_file_cut_in_half_is_refused(tmp_path: Path) -> None:
    small().save(tmp_path / "whole.hdf5")
    content = (tmp_path / "whole.hdf5").read_bytes()
    (tmp_path / "half.hdf5").write_bytes(content[: len(content) // 2])
    with pytest.raises(FormatError, match=r"half\.hdf5 cannot be read; it may be incomplete"):
        load(tmp_path / "half.hdf5")


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
    with pytest.raises((FormatError, DataError), match=sentence) as error_info:
        load(path)
    assert str(path) in str(error_info.value)


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


def test_any_file_may_declare_what_its_actions_are(tmp_path: Path) -> None:
    path = tmp_path / "demos.hdf5"
    save(small(actions_are=None), path)
    with h5py.File(path, "a") as file:
        del file["data"].attrs["written_by"]
        file["data"].attrs["actions_are"] = "taken"
    stream = open_stream(path)
    assert stream.header.actions_are == "taken"
    assert "attribute actions_are" not in stream.header.left_out
    assert stream.demonstrations().actions_are == "taken"  # reads to the end, so the file is closed
    with h5py.File(path, "a") as file:
        file["data"].attrs["actions_are"] = "cut"
    with pytest.raises(DataError, match=r"demos.hdf5: actions_are is 'cut'; allowed: asked"):
        load(path)


def test_any_file_may_declare_what_its_actions_are_relative_to(tmp_path: Path) -> None:
    path = foreign(tmp_path / "demos.hdf5", {"demo_0": demo()})
    with h5py.File(path, "a") as file:
        file["data"].attrs["relative"] = "state[0]"
    demos = load(path)
    assert demos.relative == "state[0]"
    with h5py.File(path, "a") as file:
        file["data"].attrs["relative"] = 3
    with pytest.raises(FormatError, match="attribute relative of 'data' is not text"):
        load(path)


def test_scalar_actions_are_refused(tmp_path: Path) -> None:
    small().save(tmp_path / "a.hdf5")
    with h5py.File(tmp_path / "a.hdf5", "r+") as file:
        del file["data/demo_0/actions"]
        file["data/demo_0/actions"] = 1.0
    with pytest.raises(FormatError, match="actions of demo 'demo_0' is a single number"):
        load(tmp_path / "a.hdf5")


def test_inspect_reads_on_after_bad_demos_and_lists_them_all(tmp_path: Path) -> None:
    demos = {f"demo_{i}": demo(4) for i in range(5)}
    demos["demo_0"] = {"actions": np.zeros((4, 1))}  # without observations
    demos["demo_2"] = demo(4) | {"obs/state": np.zeros((3, 2))}
    path = foreign(tmp_path / "some.hdf5", demos)
    with h5py.File(path, "a") as file:
        file["data/demo_3"].attrs["num_samples"] = 9
    stream, inspection = open_stream(path), Inspection()
    inspection.add(stream.header, stream.raw_episodes)
    report = inspection.report()
    problem = report.problems[0]
    assert (report.episodes, report.pairs, problem.kind, problem.count) == (2, 8, "unreadable", 3)
    facts = [place.facts() for place in problem.places]
    assert [f["episode"] for f in facts] == ["demo_0", "demo_2", "demo_3"]
    assert "'demo_0' has no obs" in facts[0]["reason"]
    assert "3 rows of obs/state but 4 actions" in facts[1]["reason"]
    assert report.fingerprint is None
    with pytest.raises(FormatError, match="'demo_0' has no obs"):
        load(path)


def test_a_file_of_which_no_demo_can_be_read_is_refused(tmp_path: Path) -> None:
    path = foreign(tmp_path / "none.hdf5", {"demo_0": demo(2) | {"obs/state": np.zeros((3, 2))}})
    stream = open_stream(path)
    with pytest.raises(FormatError, match="3 rows of obs/state but 2 actions"):
        Inspection().add(stream.header, stream.raw_episodes)
