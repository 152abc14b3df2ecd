from __future__ import annotations

import importlib
import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from counterbc.data.inspection import Inspection
from counterbc.errors import FormatError
from counterbc.formats import (
    lerobot,
    load,
    open_stream,
)
from tests.formats.lerobot.editing import (
    FILE,
    assert_refused,
    edit_column,
    edit_feature,
    without_column,
)
from tests.formats.lerobot.foreign import (
    CAMERA,
    FEATURES,
    IMAGE,
    LENGTHS,
    foreign,
    with_images,
)


def test_reward_and_success_are_those_of_the_next_state(tmp_path: Path) -> None:
    demos = load(foreign(tmp_path))
    assert [e.success for e in demos.episodes] == [False, True, False]
    assert [e.reward.tolist() for e in demos.episodes if e.reward is not None] == [
        [0, 1, 2],
        [3, 4],
        [5, 6, 7, 8],
    ]


def test_each_task_is_a_mask_of_its_episodes(tmp_path: Path) -> None:
    demos = load(foreign(tmp_path))
    assert demos.masks == {"task: push": ("demo_0", "demo_1"), "task: pull": ("demo_1", "demo_2")}
    assert len(demos.subset(mask="task: pull")) == 2


def test_an_action_in_parts_is_joined(tmp_path: Path) -> None:
    features = {k: v for k, v in FEATURES.items() if k != "action"}
    arm = {"dtype": "float32", "shape": [1], "names": ["arm"]}
    features |= {"action.arm": arm, "action.hand": arm | {"names": ["hand"]}}
    extra = [{f"action.{k}": pa.array([v] * n) for k, v in (("arm", 1.0), ("hand", 2.0))}
             for n in LENGTHS]  # fmt: skip
    demos = load(foreign(tmp_path, features, extra))
    assert demos.action_names == ("arm", "hand")
    assert demos.action[8].tolist() == [1, 2]


def test_masks_and_env_args_of_a_converter_from_robomimic_are_read(tmp_path: Path) -> None:
    root = foreign(tmp_path)
    (root / "meta/robomimic_masks.json").write_text('{"masks": {"better": [2, 0], "none": []}}')
    (root / "meta/robomimic_env_args.json").write_text('{"env_name": "Lift", "type": 1}')
    demos = load(root)
    assert demos.masks["better"] == ("demo_2", "demo_0")
    assert demos.masks["none"] == ()
    assert demos.env == "Lift"


def in_one_row_group(root: Path, episodes: int, length: int = 1000, width: int = 8) -> Path:
    rows = episodes * length
    foreign(root, total_episodes=episodes, total_frames=rows)
    info = json.loads((root / "meta/info.json").read_text())
    vectors = {k: FEATURES[k] | {"shape": [width]} for k in ("observation.state", "action")}
    info["features"] = vectors | {"episode_index": FEATURES["episode_index"]}
    (root / "meta/info.json").write_text(json.dumps(info))
    flat = np.random.default_rng(0).normal(size=rows * width).astype(np.float32)
    values = pa.FixedSizeListArray.from_arrays(pa.array(flat), width)
    numbers = pa.array(np.repeat(np.arange(episodes), length))
    table = pa.table({"observation.state": values, "action": values, "episode_index": numbers})
    pq.write_table(table, root / "data/chunk-001/file-007.parquet", row_group_size=rows)
    index_folder = root / "meta/episodes/chunk-000"
    (index_folder / "file-001.parquet").unlink()
    places = [
        {"episode_index": i, "tasks": [], "length": length, "data/chunk_index": 1,
         "data/file_index": 7, "dataset_from_index": i * length,
         "dataset_to_index": (i + 1) * length}
        for i in range(episodes)
    ]  # fmt: skip
    pq.write_table(pa.Table.from_pylist(places), index_folder / "file-000.parquet")
    return root


def test_four_times_the_episodes_in_a_row_group_take_no_more_memory(tmp_path: Path) -> None:
    peaks = []
    for episodes in (100, 400):
        root = in_one_row_group(tmp_path / str(episodes), episodes)
        before, peak, pairs = pa.total_allocated_bytes(), 0, 0
        for recording in lerobot.stream(root).raw_episodes:
            pairs += len(recording.action)
            peak = max(peak, pa.total_allocated_bytes() - before)
        assert pairs == episodes * 1000
        peaks.append(peak)
    assert peaks[1] < 1.2 * peaks[0]


@pytest.mark.parametrize("kind", ["PNG", "JPEG"])
@pytest.mark.parametrize("name", ["front", "images.front", CAMERA])
def test_images_are_read_when_they_are_chosen(tmp_path: Path, kind: str, name: str) -> None:
    demos = load(with_images(tmp_path, kind), obs=[name])
    assert demos.obs_shape == (6, 8, 3)
    assert demos.obs.dtype == np.uint8
    assert demos.obs[:, 0, 0, 0].tolist() == [20 * i for i in range(9)]


VIDEO = IMAGE | {"dtype": "video", "shape": [32, 48, 3]}


BEGINS = (0.0, 0.3, 0.0)


def with_videos(root: Path, av: Any) -> Path:
    """Episodes 0 and 1 one after the other in one film, episode 2 in another."""
    video_rows = [
        {f"videos/{CAMERA}/chunk_index": 0, f"videos/{CAMERA}/file_index": file,
         f"videos/{CAMERA}/from_timestamp": begin, f"videos/{CAMERA}/to_timestamp": begin + n / 10}
        for file, begin, n in zip((0, 0, 5), BEGINS, LENGTHS, strict=True)
    ]  # fmt: skip
    foreign(root, FEATURES | {CAMERA: VIDEO}, video_rows=video_rows)
    folder = root / "videos" / CAMERA / "chunk-000"
    folder.mkdir(parents=True)
    for file, shades in ((0, range(5)), (5, range(5, 9))):
        with av.open(str(folder / f"file-{file:03d}.mp4"), "w") as container:
            stream = container.add_stream("mpeg4", rate=10)
            stream.width, stream.height, stream.pix_fmt = 48, 32, "yuv420p"
            for shade in shades:
                pixels = np.full((32, 48, 3), 20 * shade + 40, np.uint8)
                container.mux(stream.encode(av.VideoFrame.from_ndarray(pixels, format="rgb24")))
            container.mux(stream.encode(None))
    return root


@pytest.mark.needs("av")
def test_videos_are_read_from_the_second_at_which_an_episode_begins(tmp_path: Path) -> None:
    root = with_videos(tmp_path, importlib.import_module("av"))
    assert load(root).obs_shape == (9,)
    demos = load(root, obs=["front"])
    assert demos.obs_shape == (32, 48, 3)
    shades = demos.obs.mean(axis=(1, 2, 3))
    assert np.abs(shades - (20 * np.arange(9) + 40)).max() < 4  # what compression costs


def test_the_real_version_2_dataset_holds_what_its_makers_say(data: Path) -> None:
    demos = load(data / "fixtures/lerobot_v21_g1")
    assert (len(demos), demos.pairs) == (100, 35965)
    assert (demos.obs_shape, demos.action_size, demos.rate) == ((26,), 26, 30)
    assert demos.obs_names[0] == demos.action_names[0] == "kLeftShoulderPitch"
    task = "task: Pick up the yellow bottle on the table."
    assert {k: len(v) for k, v in demos.masks.items()} == {task: 100}
    assert demos.env_args == {"robot_type": "Unitree_G1_Inspire"}


def test_missing_videos_of_the_real_dataset_are_named(data: Path) -> None:
    path = data / "fixtures/lerobot_v21_g1"
    assert "observation.images.cam_high (video)" in lerobot.stream(path).header.left_out
    with pytest.raises(FormatError, match=r"cam_high/episode_000000\.mp4 is missing"):
        load(path, obs=["cam_high"])


def test_recognized_is_a_folder_with_info(tmp_path: Path) -> None:
    assert not lerobot.recognizes(tmp_path)
    assert not lerobot.recognizes(tmp_path / "nowhere")
    assert lerobot.recognizes(foreign(tmp_path / "demos"))
    assert not lerobot.recognizes(tmp_path / "demos/meta/info.json")


def test_a_dataset_without_a_numeric_action_is_refused(root: Path) -> None:
    edit_feature(root, "action", dtype="string")
    assert_refused(
        root, "there is no numeric feature named action; it has observation.state, action"
    )


@pytest.mark.parametrize("left", [0, 4, 100, -1, -4, -300])
def test_a_data_file_that_is_cut_short_is_refused(root: Path, left: int) -> None:
    content = (root / FILE).read_bytes()
    (root / FILE).write_bytes(content[:left])
    assert_refused(root, r"file-000\.parquet cannot be read; it may be incomplete or damaged")


@pytest.mark.parametrize(
    ("column", "values", "sentence"),
    [
        ("action", [[1.0, 2.0]] * 4 + [[1.0]], "action has 9 numbers in 5 rows; expected 2"),
        ("action", [[1.0]] * 2 + [[1.0, 2, 3]] * 2 + [[1.0, 2]], "rows of 1 to 3 numbers"),
        ("action", [["a", "b"]] * 5, "action holds values of type string; only numbers"),
        ("action", [[1.0, 2.0]] * 4 + [[1.0, None]], "action has 1 empty values"),
        ("action", [[1.0, 2.0]] * 4 + [[1.0, np.nan]], "action of episode 'demo_1' has 1 values"),
        (
            "action",
            [[1e300, 0.0]] * 5,
            "action of episode 'demo_0' has 3 values that are NaN or inf",
        ),
        ("action", list("abcde"), "action has 5 numbers in 5 rows; expected 2"),
        ("episode_index", [0, 0, 0, 0, 1], "rows 3 … 5 do not all belong to episode 1"),
    ],
)
def test_bad_columns_are_refused(root: Path, column: str, values: Any, sentence: str) -> None:
    edit_column(root, FILE, column, values)
    assert_refused(root, sentence)


def test_a_missing_column_is_named(root: Path) -> None:
    without_column(root, FILE, "action")
    assert_refused(root, "has no column action; it has observation.state, timestamp")


def test_a_folder_in_the_place_of_a_file_is_refused(root: Path) -> None:
    (root / FILE).unlink()
    (root / FILE).mkdir()
    assert_refused(root, r"file-000\.parquet is not a file")


@pytest.mark.parametrize("content", ['{"masks": [1]}', '{"masks": {"a": ["x"]}}', "[]", "{"])
def test_masks_that_are_no_lists_of_episodes_are_refused(root: Path, content: str) -> None:
    (root / "meta/robomimic_masks.json").write_text(content)
    assert_refused(root, r"robomimic_masks\.json")


def test_version_2_may_number_its_chunks_as_version_3_does(data: Path, tmp_path: Path) -> None:
    root = tmp_path / "g1"
    shutil.copytree(data / "fixtures/lerobot_v21_g1", root)
    path = root / "meta/info.json"
    path.chmod(0o600)
    path.parent.chmod(0o700)
    template = "data/chunk-{chunk_index:03d}/episode_{episode_index:06d}.parquet"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"data_path": template}))
    assert next(open_stream(root).raw_episodes).action.shape[1] == 26


def test_inspect_lists_every_episode_whose_file_cannot_be_read(data: Path, tmp_path: Path) -> None:
    root = tmp_path / "g1"
    shutil.copytree(data / "fixtures/lerobot_v21_g1", root, copy_function=shutil.copyfile)
    (root / "data/chunk-000").chmod(0o700)
    (root / "data/chunk-000/episode_000003.parquet").unlink()
    (root / "data/chunk-000/episode_000096.parquet").write_bytes(b"PAR1 and nothing more")
    stream, inspection = open_stream(root), Inspection()
    inspection.add(stream.header, stream.raw_episodes)
    problem = inspection.report().problems[0]
    assert (problem.kind, problem.count) == ("unreadable", 2)
    facts = [place.facts() for place in problem.places]
    assert [f["episode"] for f in facts] == ["demo_3", "demo_96"]
    assert ["is missing" in f["reason"] for f in facts] == [True, False]


def test_one_bad_episode_of_a_shared_file_does_not_hide_the_others(tmp_path: Path) -> None:
    root = foreign(tmp_path / "demos")
    path = root / "data/chunk-001/file-007.parquet"
    values = pq.read_table(path)["observation.speed"].to_pylist()
    values[1] = None
    edit_column(root, "data/chunk-001/file-007.parquet", "observation.speed", values)
    episodes = list(open_stream(root).raw_episodes)
    assert [e.error is None for e in episodes] == [False, True, True]
    assert "observation.speed has 1 empty values" in str(episodes[0].error)
    with pytest.raises(FormatError, match="has 1 empty values"):
        load(root)
