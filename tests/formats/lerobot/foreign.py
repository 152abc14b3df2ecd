"""A version 3.0 dataset as LeRobot itself writes it, with three episodes in two files."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from PIL import Image

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
    video_rows: Sequence[dict[str, Any]] = ({}, {}, {}),
    fps: float = 10,
    **info: Any,
) -> Path:
    """A version 3.0 folder as LeRobot makes it, with three episodes in two files."""
    parts: dict[tuple[int, int], list[pa.Table]] = {}
    for i, (length, end) in enumerate(zip(LENGTHS, ENDS, strict=True)):
        cells = columns(i, end - length, length) | extra[i]
        names_in_file = [n for n in features if features[n]["dtype"] != "video"]
        parts.setdefault(FILES[i], []).append(pa.table({n: cells[n] for n in names_in_file}))
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
            **video_rows[i],
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


def images(kind: str) -> list[bytes]:
    """Nine flat images of 6×8 pixels, each a little brighter than the one before."""
    encoded_images = []
    for i in range(9):
        buffer = io.BytesIO()
        Image.fromarray(np.full((6, 8, 3), 20 * i, np.uint8)).save(buffer, kind)
        encoded_images.append(buffer.getvalue())
    return encoded_images


CAMERA = "observation.images.front"


IMAGE = {"dtype": "image", "shape": [6, 8, 3], "names": ["height", "width", "channels"]}


def with_images(root: Path, kind: str = "PNG", about: dict[str, Any] = IMAGE) -> Path:
    cells = [{"bytes": b, "path": None} for b in images(kind)]
    extra = [{CAMERA: pa.array(cells[end - n : end])} for n, end in zip(LENGTHS, ENDS, strict=True)]
    return foreign(root, FEATURES | {CAMERA: about}, extra)
