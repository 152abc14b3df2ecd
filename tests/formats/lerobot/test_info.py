from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from counterbc.formats import (
    load,
)
from tests.formats.lerobot.editing import (
    assert_refused,
    edit_feature,
    edit_info,
)
from tests.formats.lerobot.foreign import foreign


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("{not json", "is not JSON"),
        ("[" * 100_000, "is not JSON"),
        ("[1]", "holds a JSON list; expected an object"),
        ("{}", "has no features; expected an object"),
        (b"\xff\xfe", r"info\.json cannot be read"),
    ],
)
def test_info_that_is_not_a_json_object_is_refused(
    root: Path, content: str | bytes, sentence: str
) -> None:
    content_bytes = content.encode() if isinstance(content, str) else content
    (root / "meta/info.json").write_bytes(content_bytes)
    assert_refused(root, sentence)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        (
            {"codebase_version": "v1.6"},
            "has version 'v1.6'; versions v2.0, v2.1 and v3.0 can be read",
        ),
        ({"codebase_version": 3}, "codebase_version is 3; expected a text"),
        ({"storage_format": "lance"}, "stored as 'lance'; only Parquet can be read; export it"),
        ({"fps": 0}, "fps is 0; expected a positive number"),
        ({"fps": "30"}, "fps is '30'; expected a positive number"),
        ({"fps": float("inf")}, "fps is inf"),
        ({"total_episodes": 3}, "declares 3 episodes, but .* lists 2"),
        ({"total_episodes": 10**15}, "has 1,000,000,000,000,000 episodes; at most 1,000,000"),
        ({"total_episodes": -1}, "total_episodes is -1; expected a whole number of at least 1"),
        ({"total_episodes": True}, "total_episodes is True"),
        ({"total_frames": 6}, "declares 6 frames, but the episodes add up to 5"),
        ({"total_frames": 10**15}, "the episodes add up to 5"),
        ({"chunks_size": 0}, "chunks_size is 0; expected a whole number of at least 1"),
        ({"features": {}}, "no numeric feature named action; it has none"),
        ({"features": {"action": 1}}, "feature 'action' is 1; expected an object"),
        ({"data_path": None}, "data_path is None; expected a text"),
        ({"data_path": "data/nowhere.parquet"}, r"nowhere\.parquet is missing"),
    ],
)
def test_info_that_is_wrong_is_refused(root: Path, changes: dict[str, Any], sentence: str) -> None:
    edit_info(root, **changes)
    assert_refused(root, sentence)


@pytest.mark.parametrize(
    "template",
    [
        "../demos/data/chunk-000/file-000.parquet",
        "data/../../demos/data/chunk-000/file-000.parquet",
        "/etc/passwd",
        "..",
        "",
        "data\\..\\file.parquet",
        "data/\0.parquet",
        "data/chunk-{chunk_index:0999999999d}/x.parquet",
        "data/{chunk_index.__class__}.parquet",
        "data/{chunk_index!r:>999999999}.parquet",
        "data/{secret}.parquet",
        "data/{{chunk_index}}.parquet",
    ],
)
def test_templates_of_paths_outside_the_folder_or_with_other_fields_are_refused(
    root: Path, template: str
) -> None:
    edit_info(root, data_path=template)
    assert_refused(
        root,
        "is not inside the folder of the dataset or has unknown fields; allowed fields: chunk",
    )


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"shape": [4]}, "observation.state has 15 numbers in 5 rows; expected 4 in every row"),
        ({"shape": [10**12]}, r"has shape \[1000000000000\]"),
        ({"shape": [0]}, r"has shape \[0\]; expected positive sizes"),
        ({"shape": ["3"]}, "expected positive sizes"),
        ({"shape": 3}, "shape is 3; expected a list"),
        ({"dtype": None}, "dtype is None; expected a text"),
        ({"dtype": "image"}, "holds values of type fixed_size_list.*; expected images as bytes"),
    ],
)
def test_a_feature_that_is_not_what_info_says_is_refused(
    root: Path, changes: dict[str, Any], sentence: str
) -> None:
    edit_feature(root, "observation.state", **changes)
    assert_refused(root, sentence)


def test_names_are_read_in_each_of_lerobots_spellings(tmp_path: Path) -> None:
    demos = load(foreign(tmp_path))
    assert demos.action_names == ("a", "b")
    assert demos.obs_names[:3] == ("x", "y", "observation.environment_state[0]")


def test_a_link_may_not_lead_out_of_the_folder_except_to_the_blobs_of_a_cache(
    tmp_path: Path,
) -> None:
    snapshot = tmp_path / "snapshots" / "1"
    file = next(foreign(snapshot).glob("data/*/*.parquet"))
    blob = tmp_path / "blobs" / "abc"
    blob.parent.mkdir()
    file.rename(blob)
    file.symlink_to(blob)
    assert len(load(snapshot)) == 3
    inside = snapshot / "data/elsewhere.parquet"
    blob.rename(inside)
    file.unlink()
    file.symlink_to(inside)
    assert len(load(snapshot)) == 3
    inside.rename(tmp_path / "outside.parquet")
    file.unlink()
    file.symlink_to(tmp_path / "outside.parquet")
    assert_refused(snapshot, "is a link to .*outside.parquet, outside the folder of the dataset")
