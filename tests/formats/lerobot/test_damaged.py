"""Folders that are damaged, lie or mean harm: each is refused in one sentence."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from counterbc.data.demonstrations import Demonstrations, Episode
from counterbc.errors import CounterBCError, DataError, FormatError
from counterbc.formats import lerobot, load, parquet

FILE = "data/chunk-000/file-000.parquet"
LISTED = "meta/episodes/chunk-000/file-000.parquet"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A version 3.0 folder with episodes of 3 and 2 frames and nothing of ours in it."""
    rng = np.random.default_rng(0)
    episodes = [Episode(rng.normal(size=(n, 3)), rng.normal(size=(n, 2))) for n in (3, 2)]
    lerobot.write(Demonstrations(tuple(episodes), rate=10.0), tmp_path / "demos")
    (tmp_path / "demos/meta/counterbc.json").unlink()
    return tmp_path / "demos"


def edit_info(root: Path, **changes: Any) -> None:
    path = root / "meta/info.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


def edit_feature(root: Path, name: str, **changes: Any) -> None:
    features = json.loads((root / "meta/info.json").read_text())["features"]
    features[name] |= changes
    edit_info(root, features=features)


def edit_column(root: Path, file: str, name: str, values: Any) -> None:
    table = pq.read_table(root / file)
    place = table.column_names.index(name)
    pq.write_table(table.set_column(place, name, pa.array(values)), root / file)


def without_column(root: Path, file: str, name: str) -> None:
    pq.write_table(pq.read_table(root / file).drop_columns([name]), root / file)


def refused(root: Path, sentence: str) -> None:
    with pytest.raises((FormatError, DataError), match=sentence) as caught:
        load(root, format="lerobot")
    assert str(root) in str(caught.value)
    assert "\n" not in str(caught.value)


# info.json


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
    written = content.encode() if isinstance(content, str) else content
    (root / "meta/info.json").write_bytes(written)
    refused(root, sentence)


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
        ({"total_episodes": 10**15}, "declares 1000000000000000 episodes"),
        ({"total_episodes": -1}, "total_episodes is -1; expected a whole number of at least 1"),
        ({"total_episodes": True}, "total_episodes is True"),
        ({"total_frames": 6}, "declares 6 frames, but the episodes add up to 5"),
        ({"total_frames": 10**15}, "the episodes add up to 5"),
        ({"chunks_size": 0}, "chunks_size is 0; expected a whole number of at least 1"),
        ({"features": {}}, "no feature is an observation"),
        ({"features": {"action": 1}}, "feature 'action' is 1; expected an object"),
        ({"data_path": None}, "data_path is None; expected a text"),
        ({"data_path": "data/nowhere.parquet"}, r"nowhere\.parquet is missing"),
    ],
)
def test_info_that_is_wrong_is_refused(root: Path, changes: dict[str, Any], sentence: str) -> None:
    edit_info(root, **changes)
    refused(root, sentence)


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
def test_paths_that_lead_outside_the_folder_or_format_at_will_are_refused(
    root: Path, template: str
) -> None:
    edit_info(root, data_path=template)
    refused(
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
    refused(root, sentence)


def test_a_dataset_without_a_numeric_action_is_refused(root: Path) -> None:
    edit_feature(root, "action", dtype="string")
    refused(root, "there is no numeric feature named action; it has observation.state, action")


# Data


@pytest.mark.parametrize("left", [0, 4, 100, -1, -4, -300])
def test_a_data_file_that_is_cut_short_is_refused(root: Path, left: int) -> None:
    content = (root / FILE).read_bytes()
    (root / FILE).write_bytes(content[:left])
    refused(root, r"file-000\.parquet cannot be read; it may be incomplete or damaged")


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
    refused(root, sentence)


def test_a_missing_column_is_named(root: Path) -> None:
    without_column(root, FILE, "action")
    refused(root, "has no column action; it has observation.state, timestamp")


def test_more_rows_than_the_metadata_say_are_refused_before_they_are_read(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def read(*_: object, **__: object) -> None:
        raise AssertionError("data were read")

    zeros = pa.table({"action": pa.array([0.0] * 2_000_000)})
    pq.write_table(zeros, root / FILE)
    monkeypatch.setattr(pq.ParquetFile, "iter_batches", read)
    refused(root, "has 2000000 rows; the metadata of the dataset say 5")


def test_a_file_that_claims_more_rows_than_bytes_could_hold_is_refused(root: Path) -> None:
    rows = 3_000_000
    zeros = pa.table({"action": pa.nulls(rows, pa.float32()).fill_null(0)})
    pq.write_table(zeros, root / FILE, compression="zstd")
    assert (root / FILE).stat().st_size < rows / 64
    with pytest.raises(FormatError, match=r"claims 3,000,000 rows in [\d,]+ bytes"):
        next(parquet.spans(root / FILE, {"action": 1}, rows, [(0, rows)]))


# The episodes table


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
    edit_column(root, LISTED, column, values)
    refused(root, sentence)


def test_an_episode_of_no_frames_is_refused(root: Path) -> None:
    edit_column(root, LISTED, "length", [5, 0])
    edit_column(root, LISTED, "dataset_to_index", [5, 5])
    edit_column(root, LISTED, "dataset_from_index", [0, 5])
    edit_column(root, FILE, "episode_index", [0] * 5)
    refused(root, "episode 'demo_1' is empty")


@pytest.mark.parametrize("name", [FILE, LISTED, "meta/info.json"])
def test_a_missing_file_is_named(root: Path, name: str) -> None:
    (root / name).unlink()
    refused(root, r"is missing; copy or download|has no Parquet tables")


def test_a_folder_in_the_place_of_a_file_is_refused(root: Path) -> None:
    (root / FILE).unlink()
    (root / FILE).mkdir()
    refused(root, r"file-000\.parquet cannot be read")


@contextmanager
def as_nobody() -> Iterator[None]:
    """Without root's right to read everything."""
    if os.geteuid() == 0:
        os.seteuid(65534)
        try:
            yield
        finally:
            os.seteuid(0)
    else:
        yield


@pytest.mark.parametrize("name", [FILE, "data/chunk-000", "meta/info.json", "meta"])
def test_what_may_not_be_read_is_refused(root: Path, name: str) -> None:
    with tempfile.TemporaryDirectory() as folder:  # pytest's own is closed to others
        os.chmod(folder, 0o755)
        copy = Path(shutil.copytree(root, Path(folder) / "demos"))
        (copy / name).chmod(0)
        with as_nobody():
            refused(copy, "permission denied; check its permissions")
            assert lerobot.recognizes(copy) is (name != "meta")
        (copy / name).chmod(0o755)


# Files of ours, edited by hand


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"obs_keys": [["a", "b"]]}, "obs_keys is .* expected a list of .name, width. pairs"),
        ({"obs_features": ["action", "action"]}, "obs_features has 2 entries but obs_keys has 1"),
        ({"obs_features": ["nothing"]}, "feature 'nothing' does not hold the key 'state'"),
        ({"obs_keys": [["state", 9]]}, "does not hold the key 'state'"),
        ({"masks": []}, "masks is .*; expected an object"),
        ({"masks": {"a": [1]}}, "a is .*; expected a list of texts"),
        ({"episodes": [1]}, "episodes has an entry that is not an object"),
        ({"action_low": 1}, "action_low is 1; expected a list"),
        ({"action_low": ["a", "b"], "action_high": [1, 1]}, "action_low is not a list of numbers"),
        ({"action_set": "sphere"}, "unknown action set 'sphere'"),
        ({"action_names": ["one"]}, "1 action names for 2 action dimensions"),
        ({"rate": -1}, "rate is -1; expected a positive number"),
        ({"episodes": [{"name": "a", "operator": 3}]}, "operator is 3; expected a text"),
        ({"episodes": [{"name": "a", "success": "yes"}]}, "success is 'yes'"),
        ({"episodes": [{"name": 4}]}, "name is 4; expected a text"),
        ({"episodes": [{"name": "a", "reward": ["x"]}]}, "reward is not a list of numbers"),
    ],
)
def test_our_own_file_with_mistakes_is_refused(
    tmp_path: Path, changes: dict[str, Any], sentence: str
) -> None:
    demos = Demonstrations((Episode(np.zeros((2, 3)), np.zeros((2, 2))),))
    lerobot.write(demos, tmp_path / "demos")
    path = tmp_path / "demos/meta/counterbc.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))
    with pytest.raises(CounterBCError, match=sentence):
        load(tmp_path / "demos")


@pytest.mark.parametrize("content", ['{"masks": [1]}', '{"masks": {"a": ["x"]}}', "[]", "{"])
def test_masks_that_are_no_lists_of_episodes_are_refused(root: Path, content: str) -> None:
    (root / "meta/robomimic_masks.json").write_text(content)
    refused(root, r"robomimic_masks\.json")


# Mutations of the real dataset

Change = Callable[[Path], None]
ONE = "data/chunk-000/episode_000001.parquet"
LINES = "meta/episodes.jsonl"


def cut(name: str, share: float) -> Change:
    def change(root: Path) -> None:
        content = (root / name).read_bytes()
        (root / name).write_bytes(content[: int(share * len(content))])

    return change


def flip(name: str, seed: int, count: int = 1) -> Change:
    def change(root: Path) -> None:
        content = bytearray((root / name).read_bytes())
        rng = np.random.default_rng(seed)
        for place in rng.integers(len(content), size=count):
            content[place] ^= int(rng.integers(1, 256))
        (root / name).write_bytes(content)

    return change


def flip_footer(seed: int) -> Change:
    def change(root: Path) -> None:
        content = bytearray((root / ONE).read_bytes())
        rng = np.random.default_rng(seed)
        for _ in range(int(rng.integers(1, 4))):
            place = len(content) - int(rng.integers(1, 3200))
            content[place] = int(rng.integers(256))
        (root / ONE).write_bytes(content)

    return change


def remove(name: str) -> Change:
    return lambda root: (root / name).unlink()


def replaced(name: str, old: str, new: str) -> Change:
    def change(root: Path) -> None:
        content = (root / name).read_text()
        assert old in content
        (root / name).write_text(content.replace(old, new))

    return change


def swapped(root: Path) -> None:
    a, b = root / ONE, root / ONE.replace("001", "002")
    first = a.read_bytes()
    a.write_bytes(b.read_bytes())
    b.write_bytes(first)


REFUSED: dict[str, Change] = {
    **{f"data cut to {share}": cut(ONE, share) for share in (0, 0.001, 0.1, 0.5, 0.9, 0.999)},
    **{f"{n} cut to half": cut(n, 0.5) for n in ("meta/info.json", LINES)},
    **{f"{n} removed": remove(n) for n in ("meta/info.json", LINES, ONE)},
    "two episodes swapped": swapped,
    "a longer episode": replaced(LINES, '"length": 393', '"length": 394'),
    "an endless episode": replaced(LINES, '"length": 393', '"length": 393000000000'),
    "a negative episode": replaced(LINES, '"length": 393', '"length": -1'),
    "an episode twice": replaced(LINES, '"episode_index": 1', '"episode_index": 0'),
    "an episode that is text": replaced(LINES, '"episode_index": 1', '"episode_index": "1"'),
    "a wider action": replaced("meta/info.json", "26", "27"),
    "no features": replaced("meta/info.json", '"features"', '"other"'),
    "no action": replaced("meta/info.json", '"action"', '"deed"'),
    "an old version": replaced("meta/info.json", '"v2.1"', '"v1.4"'),
    "another version": replaced("meta/info.json", '"v2.1"', '"v3.0"'),
    "more frames": replaced("meta/info.json", '"total_frames": ', '"total_frames": 1'),
    "a path outside": replaced("meta/info.json", '"data/chunk', '"../data/chunk'),
    "no chunks": replaced("meta/info.json", '"chunks_size": 1000', '"chunks_size": 0'),
    "small chunks": replaced("meta/info.json", '"chunks_size": 1000', '"chunks_size": 1'),
    "a column called otherwise": replaced("meta/info.json", "observation.state", "observation.x"),
}
EITHER: dict[str, Change] = {
    **{f"bytes flipped {i}": flip(ONE, i, 1 + i % 4) for i in range(16)},
    **{f"bytes flipped in the footer {i}": flip_footer(i) for i in range(16)},
    "a footer on which pyarrow can end the process": flip_footer(551),
    **{f"info flipped {i}": flip("meta/info.json", i) for i in range(8)},
    **{f"lines flipped {i}": flip(LINES, i) for i in range(8)},
    "no tasks": remove("meta/tasks.jsonl"),
    "no statistics": remove("meta/episodes_stats.jsonl"),
}

WORKER = """
import json, sys
from counterbc.errors import CounterBCError
from counterbc.formats import load
for path in sys.stdin.read().splitlines():
    try:
        demos = load(path)
        said = ["read", len(demos), demos.pairs, demos.obs_shape == (26,), demos.action_size]
    except CounterBCError as error:
        said = ["refused", str(error)]
    print(json.dumps(said), flush=True)
"""


def cut_down(data: Path, root: Path) -> Path:
    """The first three episodes of the real dataset."""
    real = data / "fixtures/lerobot_v21_g1"
    shutil.copytree(real / "meta", root / "meta", copy_function=shutil.copyfile)
    (root / "data/chunk-000").mkdir(parents=True)
    for i in range(3):
        name = f"data/chunk-000/episode_{i:06d}.parquet"
        shutil.copyfile(real / name, root / name)
    for folder in (root, root / "meta"):
        folder.chmod(0o755)  # the original may be read only
    lines = (root / LINES).read_text().splitlines()[:3]
    (root / LINES).write_text("\n".join(lines))
    frames = sum(json.loads(line)["length"] for line in lines)
    edit_info(root, total_episodes=3, total_frames=frames)
    return root


def test_mutations_of_the_real_dataset_are_read_or_refused_and_break_nothing(
    data: Path, tmp_path: Path
) -> None:
    """In a process of its own, which a crash of a library would end."""
    whole = load(cut_down(data, tmp_path / "whole"))
    changes: dict[str, Change] = {"nothing": lambda _: None} | REFUSED | EITHER
    paths = [tmp_path / str(i) for i in range(len(changes))]
    for path, change in zip(paths, changes.values(), strict=True):
        shutil.copytree(tmp_path / "whole", path)
        change(path)
    done = subprocess.run(
        [sys.executable, "-c", WORKER],
        input="\n".join(map(str, paths)),
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    answers = dict(zip(changes, map(json.loads, done.stdout.splitlines()), strict=True))
    right = ["read", 3, whole.pairs, True, 26]
    assert answers["nothing"] == right
    assert {n: answers[n] for n in REFUSED if answers[n][0] != "refused"} == {}
    assert {n: answers[n] for n in EITHER if answers[n] != right and answers[n][0] == "read"} == {}
    assert answers["no tasks"] == answers["no statistics"] == right
    assert sum(answers[n][0] == "refused" for n in EITHER) > 10
