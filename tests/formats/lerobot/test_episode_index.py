from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from counterbc.formats import (
    load,
)
from counterbc.formats.lerobot.episode_index import EpisodeEntry, split_by_file
from tests.formats.lerobot.editing import (
    FILE,
    INDEX,
    assert_refused,
    edit_column,
)
from tests.formats.lerobot.foreign import (
    LENGTHS,
    foreign,
)


def test_episodes_are_found_by_their_offsets_whatever_their_files_are_called(
    tmp_path: Path,
) -> None:
    demos = load(foreign(tmp_path))
    assert [len(e) for e in demos.episodes] == list(LENGTHS)
    assert [e.name for e in demos.episodes] == ["demo_0", "demo_1", "demo_2"]
    rows = np.arange(9.0)
    assert demos.action.tolist() == np.stack([rows, rows + 0.5], axis=1).tolist()
    assert demos.rate == 10
    assert demos.env_args == {"robot_type": "arm"}
    assert demos.source == str(tmp_path)


@pytest.mark.parametrize(
    ("column", "values", "sentence"),
    [
        ("length", [3, 3], "episode 1 has length 3 but rows 3 … 5"),
        ("length", [-3, 2], "length is -3; expected a whole number of at least 0"),
        (
            "dataset_to_index",
            [3, 2],
            "dataset_to_index is 2; expected a whole number of at least 3",
        ),
        ("dataset_from_index", [None, 3], "dataset_from_index is None"),
        (
            "episode_index",
            [0, 5],
            "declares episodes 0 … 1, but the episode index has 2 entries or other numbers",
        ),
        ("episode_index", [0, 0], "or other numbers"),
        (
            "data/file_index",
            [0, 9],
            "file-000.parquet has 5 rows; the metadata of the dataset say 3",
        ),
        ("data/chunk_index", ["../..", "0"], "data/chunk_index is '../..'"),
        ("tasks", [[1], [2]], r"tasks is \[1\]; expected a list of texts"),
    ],
)
def test_an_episodes_table_that_lies_is_refused(
    root: Path, column: str, values: Any, sentence: str
) -> None:
    edit_column(root, INDEX, column, values)
    assert_refused(root, sentence)


def test_an_episode_of_no_frames_is_refused(root: Path) -> None:
    edit_column(root, INDEX, "length", [5, 0])
    edit_column(root, INDEX, "dataset_to_index", [5, 5])
    edit_column(root, INDEX, "dataset_from_index", [0, 5])
    edit_column(root, FILE, "episode_index", [0] * 5)
    assert_refused(root, "episode 'demo_1' is empty")


@pytest.mark.parametrize("name", [FILE, INDEX, "meta/info.json"])
def test_a_missing_file_is_named(root: Path, name: str) -> None:
    (root / name).unlink()
    assert_refused(root, r"is missing; copy or download|has no Parquet tables")


def entry(index: int, file: str, start: int, length: int) -> EpisodeEntry:
    return EpisodeEntry(index=index, length=length, tasks=(), file=Path(file), start=start)


def test_a_run_ends_at_a_new_file_and_where_a_file_would_have_to_be_read_backwards() -> None:
    entries = [
        entry(0, "a", 0, 3), entry(1, "a", 5, 2), entry(2, "b", 0, 4), entry(3, "a", 3, 2),
        entry(4, "a", 4, 1),
    ]  # fmt: skip
    runs = [[e.index for e in run] for run in split_by_file(entries)]
    assert runs == [[0, 1], [2], [3], [4]]
