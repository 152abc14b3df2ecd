from __future__ import annotations

import io
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image

from counterbc.errors import FormatError
from counterbc.formats import lerobot, load

LENGTHS, ENDS = (3, 2, 4), (3, 5, 9)
FILES = ((1, 7), (1, 7), (0, 3))  # the last episode lies in the file that comes first by name
TASKS = (("push",), ("push", "pull"), ("pull",))

FEATURES: dict[str, dict[str, Any]] = {
    "observation.speed": {"dtype": "float64", "shape": [1], "names": None},
    "observation.grid": {"dtype": "float32", "shape": [2, 2], "names": None},
    "observation.environment_state": {"dtype": "float32", "shape": [2], "names": None},
    "observation.state": {"dtype": "float32", "shape": [2], "names": {"motors": ["x", "y"]}},
    "observation.note": {"dtype": "string", "shape": [1], "names": None},
    "action": {"dtype": "float32", "shape": [2], "names": {"b": 1, "a": 0}},
    "next.reward": {"dtype": "float32", "shape": [1], "names": None},
    "next.success": {"dtype": "bool", "shape": [1], "names": None},
    "episode_index": {"dtype": "int64", "shape": [1], "names": None},
    "index": {"dtype": "int64", "shape": [1], "names": None},
}


def columns(episode: int, first: int, length: int) -> dict[str, pa.Array]:
    """Numbers that tell where they belong: the row, and after the point the dimension."""
    rows = np.arange(first, first + length)
    pairs = [[r, r + 0.5] for r in rows.tolist()]
    return {
        "observation.speed": pa.array(rows + 0.25),
        "observation.grid": pa.array([[p, p] for p in pairs], pa.list_(pa.list_(pa.float32()))),
        "observation.environment_state": pa.array(pairs, pa.list_(pa.float32())),
        "observation.state": pa.array(pairs, pa.list_(pa.float32(), 2)),
        "observation.note": pa.array(["-"] * length),
        "action": pa.array(pairs, pa.list_(pa.float32(), 2)),
        "next.reward": pa.array(rows.astype(np.float32)),
        "next.success": pa.array(rows == 4),
        "episode_index": pa.array([episode] * length),
        "index": pa.array(rows),
    }


def foreign(
    root: Path,
    features: dict[str, dict[str, Any]] = FEATURES,
    extra: Sequence[dict[str, pa.Array]] = ({}, {}, {}),
    placed: Sequence[dict[str, Any]] = ({}, {}, {}),
    fps: float = 10,
    **info: Any,
) -> Path:
    """A version 3.0 folder as LeRobot makes it, with three episodes in two files."""
    parts: dict[tuple[int, int], list[pa.Table]] = {}
    for i, (length, end) in enumerate(zip(LENGTHS, ENDS, strict=True)):
        held = columns(i, end - length, length) | extra[i]
        stored = [n for n in features if features[n]["dtype"] != "video"]
        parts.setdefault(FILES[i], []).append(pa.table({n: held[n] for n in stored}))
    for (chunk, file), tables in parts.items():
        path = root / f"data/chunk-{chunk:03d}/file-{file:03d}.parquet"
        path.parent.mkdir(parents=True)
        pq.write_table(pa.concat_tables(tables), path)
    rows = [
        {
            "episode_index": i,
            "tasks": list(TASKS[i]),
            "length": LENGTHS[i],
            "data/chunk_index": FILES[i][0],
            "data/file_index": FILES[i][1],
            "dataset_from_index": ENDS[i] - LENGTHS[i],
            "dataset_to_index": ENDS[i],
            **placed[i],
        }
        for i in (2, 0, 1)  # a table need not be sorted
    ]
    folder = root / "meta/episodes/chunk-000"
    folder.mkdir(parents=True)
    pq.write_table(pa.Table.from_pylist(rows[:2]), folder / "file-000.parquet")
    pq.write_table(pa.Table.from_pylist(rows[2:]), folder / "file-001.parquet")
    about = {
        "codebase_version": "v3.0",
        "fps": fps,
        "features": features,
        "total_episodes": 3,
        "total_frames": 9,
        "chunks_size": 1000,
        "data_path": "data/chunk-{chunk_index:03d}/file-{file_index:03d}.parquet",
        "video_path": "videos/{video_key}/chunk-{chunk_index:03d}/file-{file_index:03d}.mp4",
        "robot_type": "arm",
        "a key of tomorrow": 1,
    }
    (root / "meta/info.json").write_text(json.dumps(about | info))
    return root


# Version 3.0


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


def test_numeric_observations_are_joined_the_state_and_its_surroundings_first(
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


def test_names_are_read_in_each_of_lerobots_spellings(tmp_path: Path) -> None:
    demos = load(foreign(tmp_path))
    assert demos.action_names == ("a", "b")
    assert demos.obs_names[:3] == ("x", "y", "observation.environment_state[0]")


def test_reward_and_success_are_those_of_the_next_state(tmp_path: Path) -> None:
    demos = load(foreign(tmp_path))
    assert [e.success for e in demos.episodes] == [False, True, False]
    assert [e.reward.tolist() for e in demos.episodes if e.reward is not None] == [
        [0, 1, 2],
        [3, 4],
        [5, 6, 7, 8],
    ]


def test_each_task_is_a_mask_of_the_episodes_that_were_asked_for_it(tmp_path: Path) -> None:
    demos = load(foreign(tmp_path))
    assert demos.masks == {"task: push": ("demo_0", "demo_1"), "task: pull": ("demo_1", "demo_2")}
    assert len(demos.subset(mask="task: pull")) == 2


def test_observations_are_chosen_by_their_whole_or_their_short_names(tmp_path: Path) -> None:
    root = foreign(tmp_path)
    chosen = load(root, obs=["speed", "observation.state"])
    assert chosen.obs_keys == (("observation.speed", 1), ("observation.state", 2))
    assert chosen.obs[4].tolist() == [4.25, 4, 4.5]
    with pytest.raises(FormatError, match=r"no observation 'image'; allowed: observation\.state"):
        load(root, obs=["image"])
    with pytest.raises(FormatError, match="cannot join nothing"):
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
    listed = root / "meta/episodes/chunk-000"
    (listed / "file-001.parquet").unlink()
    places = [
        {"episode_index": i, "tasks": [], "length": length, "data/chunk_index": 1,
         "data/file_index": 7, "dataset_from_index": i * length,
         "dataset_to_index": (i + 1) * length}
        for i in range(episodes)
    ]  # fmt: skip
    pq.write_table(pa.Table.from_pylist(places), listed / "file-000.parquet")
    return root


def test_four_times_the_episodes_in_a_row_group_take_no_more_memory(tmp_path: Path) -> None:
    peaks = []
    for episodes in (100, 400):
        root = in_one_row_group(tmp_path / str(episodes), episodes)
        before, most, seen = pa.total_allocated_bytes(), 0, 0
        for recording in lerobot.stream(root).raw_episodes:
            seen += len(recording.action)
            most = max(most, pa.total_allocated_bytes() - before)
        assert seen == episodes * 1000
        peaks.append(most)
    assert peaks[1] < 1.2 * peaks[0]


# Images and films


def images(kind: str) -> list[bytes]:
    """Nine flat images of 6×8 pixels, each a little brighter than the one before."""
    made = []
    for i in range(9):
        buffer = io.BytesIO()
        Image.fromarray(np.full((6, 8, 3), 20 * i, np.uint8)).save(buffer, kind)
        made.append(buffer.getvalue())
    return made


CAMERA = "observation.images.front"
IMAGE = {"dtype": "image", "shape": [6, 8, 3], "names": ["height", "width", "channels"]}


def with_images(root: Path, kind: str = "PNG", about: dict[str, Any] = IMAGE) -> Path:
    held = [{"bytes": b, "path": None} for b in images(kind)]
    extra = [{CAMERA: pa.array(held[end - n : end])} for n, end in zip(LENGTHS, ENDS, strict=True)]
    return foreign(root, FEATURES | {CAMERA: about}, extra)


@pytest.mark.parametrize("kind", ["PNG", "JPEG"])
@pytest.mark.parametrize("name", ["front", "images.front", CAMERA])
def test_images_are_read_when_they_are_chosen(tmp_path: Path, kind: str, name: str) -> None:
    demos = load(with_images(tmp_path, kind), obs=[name])
    assert demos.obs_shape == (6, 8, 3)
    assert demos.obs.dtype == np.uint8
    assert demos.obs[:, 0, 0, 0].tolist() == [20 * i for i in range(9)]


def test_images_are_left_out_beside_vectors_and_read_alone(tmp_path: Path) -> None:
    root = with_images(tmp_path / "both")
    assert load(root).obs_shape == (9,)
    assert lerobot.stream(root).header.left_out == (
        f"{CAMERA} (image)", "observation.note (string)", "digits beyond 32 bits",
    )  # fmt: skip
    with pytest.raises(FormatError, match="choose one camera or only vectors"):
        load(root, obs=["front", "state"])
    only = {k: v for k, v in FEATURES.items() if not k.startswith("observation.")}
    held = [{"bytes": b, "path": None} for b in images("PNG")]
    extra = [{CAMERA: pa.array(held[end - n : end])} for n, end in zip(LENGTHS, ENDS, strict=True)]
    alone = foreign(tmp_path / "alone", only | {CAMERA: IMAGE}, extra)
    assert load(alone).obs_shape == (6, 8, 3)


def test_images_that_are_not_what_the_metadata_say_are_refused(tmp_path: Path) -> None:
    root = with_images(tmp_path / "size", about=IMAGE | {"shape": [60, 80, 3]})
    with pytest.raises(FormatError, match="8×6 pixels in row 0; the metadata say 80×60"):
        load(root, obs=["front"])
    root = with_images(tmp_path / "channels", about=IMAGE | {"shape": [6, 8, 9]})
    with pytest.raises(FormatError, match=r"expected \(H, W, 3\) or \(H, W, 1\)"):
        load(root, obs=["front"])
    root = with_images(tmp_path / "cut", "JPEG")
    path = root / "data/chunk-000/file-003.parquet"
    table = pq.read_table(path)
    cut = [{"bytes": row["bytes"][:100], "path": None} for row in table[CAMERA].to_pylist()]
    place = table.column_names.index(CAMERA)
    pq.write_table(table.set_column(place, CAMERA, pa.array(cut)), path)
    with pytest.raises(FormatError, match="row 0 is not a PNG or JPEG image"):
        load(root, obs=["front"])
    absent = [{"bytes": b"", "path": None}] * len(cut)
    pq.write_table(table.set_column(place, CAMERA, pa.array(absent, table[CAMERA].type)), path)
    with pytest.raises(FormatError, match="has no image in row 0; store the images"):
        load(root, obs=["front"])


FILM = IMAGE | {"dtype": "video", "shape": [32, 48, 3]}
BEGINS = (0.0, 0.3, 0.0)


def with_films(root: Path, av: Any) -> Path:
    """Episodes 0 and 1 one after the other in one film, episode 2 in another."""
    placed = [
        {f"videos/{CAMERA}/chunk_index": 0, f"videos/{CAMERA}/file_index": file,
         f"videos/{CAMERA}/from_timestamp": begin, f"videos/{CAMERA}/to_timestamp": begin + n / 10}
        for file, begin, n in zip((0, 0, 5), BEGINS, LENGTHS, strict=True)
    ]  # fmt: skip
    foreign(root, FEATURES | {CAMERA: FILM}, placed=placed)
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


def test_films_are_read_from_the_second_at_which_an_episode_begins(tmp_path: Path) -> None:
    root = with_films(tmp_path, pytest.importorskip("av", reason="PyAV is not installed"))
    assert load(root).obs_shape == (9,)
    demos = load(root, obs=["front"])
    assert demos.obs_shape == (32, 48, 3)
    shades = demos.obs.mean(axis=(1, 2, 3))
    assert np.abs(shades - (20 * np.arange(9) + 40)).max() < 4  # what compression costs


def test_a_film_that_is_short_or_missing_or_no_film_is_refused(tmp_path: Path) -> None:
    root = with_films(tmp_path, pytest.importorskip("av", reason="PyAV is not installed"))
    films = root / "videos" / CAMERA / "chunk-000"
    placed = pq.read_table(root / "meta/episodes/chunk-000/file-001.parquet").to_pylist()
    placed[0][f"videos/{CAMERA}/from_timestamp"] = 0.4
    pq.write_table(
        pa.Table.from_pylist(placed), root / "meta/episodes/chunk-000/file-001.parquet"
    )  # fmt: skip
    with pytest.raises(FormatError, match=r"has 1 frames from second 0\.4 on at 10 Hz; expected 2"):
        load(root, obs=["front"])
    (films / "file-000.mp4").write_bytes(b"not a film")
    with pytest.raises(FormatError, match=r"file-000\.mp4 cannot be read as a video"):
        load(root, obs=["front"])
    (films / "file-000.mp4").unlink()
    with pytest.raises(FormatError, match=r"file-000\.mp4 is missing; download the videos"):
        load(root, obs=["front"])


def test_a_library_that_is_not_installed_is_named_with_its_install_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = with_images(tmp_path / "images")
    monkeypatch.setitem(sys.modules, "PIL.Image", None)
    with pytest.raises(FormatError, match=r"needs pillow, .* pip install pillow, or choose other"):
        load(root, obs=["front"])
    assert load(root).pairs == 9
    films = foreign(tmp_path / "films", FEATURES | {CAMERA: FILM}, placed=[
        {f"videos/{CAMERA}/{k}": 0 for k in ("chunk_index", "file_index", "from_timestamp")}
    ] * 3)  # fmt: skip
    film = films / "videos" / CAMERA / "chunk-000/file-000.mp4"
    film.parent.mkdir(parents=True)
    film.touch()
    monkeypatch.setitem(sys.modules, "av", None)
    with pytest.raises(FormatError, match=r"needs av, .* pip install av, or choose other"):
        load(films, obs=["front"])


# Version 2.1


def test_the_real_version_2_dataset_holds_what_its_makers_say(data: Path) -> None:
    demos = load(data / "fixtures/lerobot_v21_g1")
    assert (len(demos), demos.pairs) == (100, 35965)
    assert (demos.obs_shape, demos.action_size, demos.rate) == ((26,), 26, 30)
    assert demos.obs_names[0] == demos.action_names[0] == "kLeftShoulderPitch"
    task = "task: Pick up the yellow bottle on the table."
    assert {k: len(v) for k, v in demos.masks.items()} == {task: 100}
    assert demos.env_args == {"robot_type": "Unitree_G1_Inspire"}


def test_the_real_datasets_films_are_missed_by_name(data: Path) -> None:
    path = data / "fixtures/lerobot_v21_g1"
    assert "observation.images.cam_high (video)" in lerobot.stream(path).header.left_out
    with pytest.raises(FormatError, match=r"cam_high/episode_000000\.mp4 is missing"):
        load(path, obs=["cam_high"])


def test_recognized_is_a_folder_with_info(tmp_path: Path) -> None:
    assert not lerobot.recognizes(tmp_path)
    assert not lerobot.recognizes(tmp_path / "nowhere")
    assert lerobot.recognizes(foreign(tmp_path / "demos"))
    assert not lerobot.recognizes(tmp_path / "demos/meta/info.json")
