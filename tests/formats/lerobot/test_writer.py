from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

from counterbc.data.demonstrations import Demonstrations
from counterbc.errors import FormatError
from counterbc.formats import (
    lerobot,
    load,
)
from counterbc.formats.lerobot import writer as lerobot_writer
from counterbc.formats.stream import Stream
from tests.formats.datasets import assert_same, uneven
from tests.formats.lerobot.samples import demos, info


def episodes(root: Path) -> list[dict[str, Any]]:
    return list(pq.read_table(root / "meta/episodes/chunk-000/file-000.parquet").to_pylist())


def test_the_layout_is_lerobots(tmp_path: Path) -> None:
    root = tmp_path / "demos"
    assert lerobot.write(demos(), root) == []
    file_names = sorted(str(p.relative_to(root)) for p in root.rglob("*") if p.is_file())
    assert file_names == [
        "data/chunk-000/file-000.parquet",
        "meta/counterbc.json",
        "meta/episodes/chunk-000/file-000.parquet",
        "meta/info.json",
        "meta/robomimic_env_args.json",
        "meta/robomimic_masks.json",
        "meta/stats.json",
        "meta/tasks.parquet",
    ]
    about = info(root)
    features = about.pop("features")
    assert about == {
        "codebase_version": "v3.0",
        "robot_type": "arm",
        "total_episodes": 3,
        "total_frames": 9,
        "total_tasks": 2,
        "chunks_size": 1000,
        "data_files_size_in_mb": 100,
        "video_files_size_in_mb": 200,
        "fps": 20,
        "splits": {"train": "0:3"},
        "data_path": "data/chunk-{chunk_index:03d}/file-{file_index:03d}.parquet",
        "video_path": None,
    }
    assert {name: f["shape"] for name, f in features.items()} == {
        "observation.state": [3],
        "observation.environment_state": [1],
        "action": [2],
        "next.reward": [1],
        "next.success": [1],
        **{k: [1] for k in ("timestamp", "frame_index", "episode_index", "index", "task_index")},
    }
    assert features["observation.state"]["names"] == ["x", "y", "v"]


def test_pandas_reads_the_tasks_as_lerobot_expects_them(tmp_path: Path) -> None:
    lerobot.write(demos(), tmp_path / "demos")
    frame = pd.read_parquet(tmp_path / "demos/meta/tasks.parquet")
    assert frame.index.tolist() == ["push", "pull"]
    assert frame["task_index"].tolist() == [0, 1]


def test_the_episodes_table_tells_where_each_episode_lies(tmp_path: Path) -> None:
    lerobot.write(demos(), tmp_path / "demos")
    rows = episodes(tmp_path / "demos")
    assert [(r["dataset_from_index"], r["dataset_to_index"]) for r in rows] == [
        (0, 4), (4, 6), (6, 9),
    ]  # fmt: skip
    assert [r["tasks"] for r in rows] == [["push"], ["pull"], ["push"]]
    action = demos().episodes[1].action
    assert np.allclose(rows[1]["stats/action/mean"], action.mean(0))
    assert rows[1]["stats/action/count"] == [2]
    assert rows[1]["stats/index/max"] == [5]


def test_a_new_file_begins_when_one_has_grown_large(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lerobot_writer, "_MEGABYTES", 1e-4)
    monkeypatch.setattr("counterbc.formats.parquet._FILES", 2)
    monkeypatch.setattr(lerobot_writer, "_ROWS", 1)
    lerobot.write(demos(), tmp_path / "demos")
    names = ["chunk-000/file-000", "chunk-000/file-001", "chunk-001/file-000"]
    for folder in ("data", "meta/episodes"):
        root = tmp_path / "demos" / folder
        file_names = sorted(str(p.relative_to(root)) for p in root.rglob("*.parquet"))
        assert file_names == [f"{n}.parquet" for n in names]
    back = load(tmp_path / "demos")
    assert back.fingerprint() == demos().fingerprint()
    last = pq.read_table(tmp_path / "demos/meta/episodes/chunk-001/file-000.parquet").to_pylist()[0]
    assert (last["data/chunk_index"], last["data/file_index"]) == (1, 0)
    assert (last["meta/episodes/chunk_index"], last["meta/episodes/file_index"]) == (1, 0)


def test_masks_are_written_as_converters_from_robomimic_do(tmp_path: Path) -> None:
    lerobot.write(demos(), tmp_path / "demos")
    content_bytes = json.loads((tmp_path / "demos/meta/robomimic_masks.json").read_text())
    assert content_bytes == {"masks": {"best": [1]}}


def test_a_foreign_reading_finds_all_that_lerobot_has_a_place_for(tmp_path: Path) -> None:
    """Without our own file, as after LeRobot's tools have copied the dataset."""
    lerobot.write(demos(), tmp_path / "demos")
    (tmp_path / "demos/meta/counterbc.json").unlink()
    back = load(tmp_path / "demos")
    assert back.obs_keys == (("observation.state", 3), ("observation.environment_state", 1))
    assert back.obs_names == ("x", "y", "v", "angle")
    assert np.array_equal(back.obs, demos().obs[:, [0, 1, 3, 2]])
    assert [e.success for e in back.episodes] == [True, False, True]
    assert back.masks == demos().masks
    assert (back.env, back.rate) == ("Lift", 20)


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"rate": None}, "no rate is recorded; fps is written as 10"),
        ({"rate": 12.6}, "the rate of 12.6 Hz is written as fps 13, a whole number"),
        ({"masks": {}}, "no task is recorded; the task is written as 'Lift'"),
    ],
)
def test_invented_values_are_reported(
    tmp_path: Path, fields: dict[str, Any], sentence: str
) -> None:
    assert lerobot.write(demos(**fields), tmp_path / "demos") == [sentence]


def test_missing_rewards_and_successes_are_reported(tmp_path: Path) -> None:
    first, second, third = demos().episodes
    gaps = replace(demos(), episodes=(replace(first, reward=None, success=None), second, third))
    assert lerobot.write(gaps, tmp_path / "demos") == [
        "1 episodes have no reward; next.reward is written as 0 there",
        "1 episodes have no success; next.success is written as false there",
    ]


def test_a_task_that_is_not_valid_text_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="rename"):
        lerobot.write(demos(masks={"task: \ud800": ("demo_0",)}), tmp_path / "demos")
    assert list(tmp_path.iterdir()) == []


def test_rewards_that_a_stream_brings_late_are_stored_beside_the_data(tmp_path: Path) -> None:
    with_reward, without = uneven().episodes[:2]
    late = Demonstrations((without, with_reward))
    notes = lerobot.write(Stream.of(late), tmp_path / "late")
    assert any("rewards of 1 episodes are only in meta/counterbc.json" in note for note in notes)
    assert_same(late, load(tmp_path / "late"))


def test_a_selection_that_a_stream_brings_late_is_stored_beside_the_data(tmp_path: Path) -> None:
    raw = [replace(r, selected=None) for r in Stream.of(uneven(selected=None)).raw_episodes]
    raw[1] = replace(raw[1], selected=np.array([False, True]))
    notes = lerobot.write(Stream(Stream.of(uneven()).header, iter(raw)), tmp_path / "demos")
    assert any("selected pairs of 1 episodes are only in meta" in note for note in notes)
    selected = load(tmp_path / "demos").selected
    assert selected is not None
    assert selected.tolist() == [0, 1, 2, 4, 5]
