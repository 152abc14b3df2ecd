"""Copies of LeRobot datasets with other actions."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from counterbc.errors import FormatError
from counterbc.formats import load
from counterbc.formats.lerobot import stats, write
from counterbc.formats.lerobot.relabel import check_relabelable, write_relabeled
from tests.formats.lerobot.editing import FILE, INDEX, edit_column, edit_info
from tests.formats.lerobot.foreign import FEATURES, foreign
from tests.formats.lerobot.samples import demos, info


def relabeled(source: Path, out: Path) -> Any:
    """Write a copy with actions that are halved, and return the actions before and after."""
    before = load(source)
    write_relabeled(source, out, before.action / 2)
    return before, load(out)


@pytest.mark.parametrize("make", [lambda p: write(demos(), p), foreign])
def test_only_actions_change_in_a_copy(tmp_path: Path, make: Any) -> None:
    make(tmp_path / "a")
    before, after = relabeled(tmp_path / "a", tmp_path / "b")
    np.testing.assert_array_equal(after.action, before.action / 2)
    np.testing.assert_array_equal(after.obs, before.obs)
    assert [e.name for e in after.episodes] == [e.name for e in before.episodes]
    names = [
        sorted(str(p.relative_to(root)) for p in root.rglob("*") if p.is_file())
        for root in (tmp_path / "a", tmp_path / "b")
    ]
    assert names[0] == names[1]


def test_columns_keep_their_types_and_all_others_their_values(tmp_path: Path) -> None:
    foreign(tmp_path / "a")
    relabeled(tmp_path / "a", tmp_path / "b")
    for path in (tmp_path / "a/data").rglob("*.parquet"):
        old, new = (
            pq.read_table(path),
            pq.read_table(tmp_path / "b" / path.relative_to(tmp_path / "a")),
        )
        assert old.schema.equals(new.schema, check_metadata=True)
        assert old.drop_columns("action").equals(new.drop_columns("action"))


def test_statistics_are_those_of_the_new_actions(tmp_path: Path) -> None:
    write(demos(), tmp_path / "a")
    before, _ = relabeled(tmp_path / "a", tmp_path / "b")
    whole = json.loads((tmp_path / "b/meta/stats.json").read_text())
    old = json.loads((tmp_path / "a/meta/stats.json").read_text())
    assert whole["action"] == {
        k: v.tolist() for k, v in stats.number_stats(before.action / 2).items()
    }
    assert {k: v for k, v in whole.items() if k != "action"} == {
        k: v for k, v in old.items() if k != "action"
    }
    (index,) = (tmp_path / "b/meta/episodes").rglob("*.parquet")
    means = pq.read_table(index)["stats/action/mean"].to_pylist()
    np.testing.assert_allclose(
        means, [(e.action / 2).mean(0, dtype=np.float64) for e in before.episodes], rtol=1e-6
    )


def test_episode_statistics_of_version_2_1_are_replaced(tmp_path: Path) -> None:
    write(demos(), tmp_path / "a")
    line = {"episode_index": 1, "stats": {"action": {"max": [9, 9]}, "index": {"max": [1]}}}
    (tmp_path / "a/meta/episodes_stats.jsonl").write_text(json.dumps(line) + "\n")
    before, _ = relabeled(tmp_path / "a", tmp_path / "b")
    new = json.loads((tmp_path / "b/meta/episodes_stats.jsonl").read_text())["stats"]
    largest = (before.episodes[1].action / 2).max(0)
    assert new == {"action": {"max": largest.astype(float).tolist()}, "index": {"max": [1]}}


def test_statistics_of_an_episode_that_is_not_there_are_refused(tmp_path: Path) -> None:
    write(demos(), tmp_path / "a")
    line = {"episode_index": 3, "stats": {"action": {"max": [9, 9]}}}
    (tmp_path / "a/meta/episodes_stats.jsonl").write_text(json.dumps(line) + "\n")
    with pytest.raises(FormatError, match=r"statistics of episode 3, but .* only 3 episodes"):
        relabeled(tmp_path / "a", tmp_path / "b")
    assert not (tmp_path / "b").exists()


@pytest.mark.parametrize("change", [(1, 0), (-1, 0), (0, 1), (0, -1)])
def test_actions_of_another_shape_are_refused(tmp_path: Path, change: tuple[int, int]) -> None:
    write(demos(), tmp_path / "a")
    frames, width = load(tmp_path / "a").action.shape
    actions = np.zeros((frames + change[0], width + change[1]), np.float32)
    with pytest.raises(FormatError, match="one new action for each frame"):
        write_relabeled(tmp_path / "a", tmp_path / "b", actions)
    assert not (tmp_path / "b").exists()


def test_videos_are_linked_and_hidden_files_left_out(tmp_path: Path) -> None:
    write(demos(), tmp_path / "a")
    video = tmp_path / "a/videos/front/file-000.mp4"
    video.parent.mkdir(parents=True)
    video.write_bytes(b"not decoded")
    (tmp_path / "a/.cache").mkdir()
    (tmp_path / "a/.cache/lock").touch()
    relabeled(tmp_path / "a", tmp_path / "b")
    assert (tmp_path / "b/videos/front/file-000.mp4").samefile(video)
    assert not (tmp_path / "b/.cache").exists()


def test_videos_are_copied_where_links_are_not_possible(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError("no links here")

    write(demos(), tmp_path / "a")
    (tmp_path / "a/videos").mkdir()
    (tmp_path / "a/videos/v.mp4").write_bytes(b"film")
    monkeypatch.setattr("os.link", refuse)
    relabeled(tmp_path / "a", tmp_path / "b")
    assert (tmp_path / "b/videos/v.mp4").read_bytes() == b"film"


def test_a_link_out_of_the_dataset_is_refused_and_leaves_nothing(tmp_path: Path) -> None:
    write(demos(), tmp_path / "a")
    (tmp_path / "secret").write_text("secret")
    (tmp_path / "a/meta/note").symlink_to(tmp_path / "secret")
    with pytest.raises(FormatError, match="outside the folder"):
        relabeled(tmp_path / "a", tmp_path / "b")
    assert not (tmp_path / "b").exists()


@pytest.mark.parametrize("inside", [True, False])
def test_a_linked_folder_is_refused_and_not_left_out(tmp_path: Path, inside: bool) -> None:
    write(demos(), tmp_path / "a")
    disk = tmp_path / ("a/disk" if inside else "disk")
    disk.mkdir()
    (disk / "v.mp4").write_bytes(b"film")
    (tmp_path / "a/videos").symlink_to(disk)
    with pytest.raises(FormatError, match=r"a/videos is a link to the folder .*disk"):
        relabeled(tmp_path / "a", tmp_path / "b")
    assert not (tmp_path / "b").exists()


def test_a_link_to_a_missing_file_is_refused_and_not_left_out(tmp_path: Path) -> None:
    write(demos(), tmp_path / "a")
    (tmp_path / "a/videos").mkdir()
    (tmp_path / "a/videos/v.mp4").symlink_to("not-downloaded.mp4")
    with pytest.raises(FormatError, match="not there"):
        relabeled(tmp_path / "a", tmp_path / "b")


def test_hidden_links_are_left_out(tmp_path: Path) -> None:
    write(demos(), tmp_path / "a")
    (tmp_path / "a/.cache").symlink_to(tmp_path)
    (tmp_path / "a/.lock").symlink_to("nowhere")
    relabeled(tmp_path / "a", tmp_path / "b")
    assert not any((tmp_path / "b").glob(".*"))


def test_a_data_file_that_would_not_be_copied_is_refused(tmp_path: Path) -> None:
    write(demos(), tmp_path / "a")
    (tmp_path / "a/data").rename(tmp_path / "a/.data")
    edit_info(tmp_path / "a", data_path="." + info(tmp_path / "a")["data_path"])
    with pytest.raises(FormatError, match="holds episodes, but"):
        relabeled(tmp_path / "a", tmp_path / "b")
    assert not (tmp_path / "b").exists()


def test_a_data_file_without_episodes_is_refused(tmp_path: Path) -> None:
    write(demos(), tmp_path / "a")
    shutil.copyfile(tmp_path / "a" / FILE, tmp_path / "a/data/chunk-000/file-007.parquet")
    with pytest.raises(FormatError, match=r"file-007.parquet holds none of the episodes"):
        relabeled(tmp_path / "a", tmp_path / "b")
    assert not (tmp_path / "b").exists()


def test_rows_of_no_episode_are_refused(tmp_path: Path) -> None:
    write(demos(), tmp_path / "a")
    index = pq.read_table(tmp_path / "a" / INDEX)
    pq.write_table(index.take([0, 2]), tmp_path / "a" / INDEX)  # the second episode is not listed
    edit_column(tmp_path / "a", INDEX, "episode_index", [0, 1])
    edit_info(tmp_path / "a", total_episodes=2, total_frames=7)
    with pytest.raises(FormatError, match="row 4 belongs to no episode"):
        write_relabeled(tmp_path / "a", tmp_path / "b", np.zeros((7, 2), np.float32))
    assert not (tmp_path / "b").exists()


def test_whole_numbers_are_refused_as_actions(tmp_path: Path) -> None:
    features = FEATURES | {"action": {"dtype": "int64", "shape": [2], "names": None}}
    foreign(tmp_path / "a", features)
    with pytest.raises(FormatError, match="floating-point"):
        check_relabelable(tmp_path / "a")


def test_a_copy_from_a_download_cache_holds_files_and_no_links(tmp_path: Path) -> None:
    root = tmp_path / "snapshots/1"
    write(demos(), tmp_path / "a")
    (tmp_path / "blobs").mkdir()
    for i, path in enumerate(sorted(p for p in (tmp_path / "a").rglob("*") if p.is_file())):
        blob, link = tmp_path / f"blobs/{i}", root / path.relative_to(tmp_path / "a")
        shutil.copyfile(path, blob)
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(blob)
    relabeled(root, tmp_path / "b")
    assert not any(p.is_symlink() for p in (tmp_path / "b").rglob("*"))
