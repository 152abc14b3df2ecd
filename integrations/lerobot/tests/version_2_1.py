"""Datasets in LeRobot's version 2.1, as many on the Hub still are: one data file per episode."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

DATA_AND_INDEX = ("data", "meta/episodes")
STATISTICS = ("min", "max", "mean", "std", "count")


def write_version_2_1(source: Path, out: Path) -> Path:
    """Write a dataset of version 3.0 without images in version 2.1, and return its folder."""
    info = json.loads((source / "meta/info.json").read_text())
    (data,), (index,) = (list((source / name).rglob("*.parquet")) for name in DATA_AND_INDEX)
    frames, episodes = pq.read_table(data), pq.read_table(index).to_pylist()
    (out / "data/chunk-000").mkdir(parents=True)
    (out / "meta").mkdir()
    for i, row in enumerate(episodes):
        episode = frames.slice(row["dataset_from_index"], row["length"])
        pq.write_table(episode, out / f"data/chunk-000/episode_{i:06d}.parquet")
    tasks = list(dict.fromkeys(task for row in episodes for task in row["tasks"]))
    names = ("episode_index", "tasks", "length")
    _write_lines(out / "meta/episodes.jsonl", ({n: row[n] for n in names} for row in episodes))
    _write_lines(
        out / "meta/tasks.jsonl", ({"task_index": i, "task": task} for i, task in enumerate(tasks))
    )
    stats = (
        {"episode_index": i, "stats": _statistics(row, info["features"])}
        for i, row in enumerate(episodes)
    )
    _write_lines(out / "meta/episodes_stats.jsonl", stats)
    info |= {
        "codebase_version": "v2.1",
        "total_chunks": 1,
        "total_videos": 0,
        "data_path": "data/chunk-{episode_chunk:03d}/episode_{episode_index:06d}.parquet",
    }
    (out / "meta/info.json").write_text(json.dumps(info))
    return out


def _statistics(row: Mapping[str, Any], features: Iterable[str]) -> dict[str, Any]:
    return {name: {key: row[f"stats/{name}/{key}"] for key in STATISTICS} for name in features}


def _write_lines(path: Path, lines: Iterable[Mapping[str, Any]]) -> None:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
