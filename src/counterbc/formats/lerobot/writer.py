"""Write LeRobot v3.0 datasets as LeRobot's own recorder does, plus meta/counterbc.json."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import ExitStack
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from counterbc.data.arrays import Array
from counterbc.data.demonstrations import Demonstrations
from counterbc.errors import FormatError
from counterbc.files import aside, check_free
from counterbc.formats import json_files, parquet
from counterbc.formats.extras import describe, extras_json, with_checksum
from counterbc.formats.lerobot import stats
from counterbc.formats.lerobot.features import (
    Feature,
    choose_features,
    column,
    episode_stats,
    episodes_schema,
    obs_columns,
    obs_features,
    schema,
    stats_of_columns,
)
from counterbc.formats.parquet import Rolling
from counterbc.formats.stream import Header, RawEpisode, Stream, camera_names

EXTRAS = Path("meta/counterbc.json")
TASK = "task: "  # the prefix of masks that stand for tasks
_FPS = 10  # if no rate is recorded
_MEGABYTES = 100  # per file, before the next one begins
_ROWS = 500  # episodes per row group of the episodes table


def write(data: Demonstrations | Stream, path: str | Path) -> list[str]:
    """Write a dataset that reads back unchanged; return what LeRobot itself will not see of it."""
    path = Path(path)
    check_free(path)
    episodes = data.episodes if isinstance(data, Demonstrations) else ()
    stream = Stream.of(data).checked()
    with aside(path) as folder, ExitStack() as stack:
        first = next(stream.raw_episodes)  # `checked` refuses a dataset without episodes
        features = choose_features(
            stream.header,
            first,
            reward=any(e.reward is not None for e in episodes),
            success=any(e.success is not None for e in episodes),
        )
        writer = _Writer(folder, stream.header, features, stack)
        for raw in chain([first], stream.raw_episodes):
            writer.add(raw)
        return writer.finish()


class _Writer:
    """The files of a dataset while its episodes are being written."""

    def __init__(
        self, folder: Path, header: Header, features: dict[str, Feature], stack: ExitStack
    ) -> None:
        (folder / "meta").mkdir(parents=True)
        self._folder, self._header, self._features = folder, header, features
        self._fps = _FPS if header.rate is None else max(round(header.rate), 1)
        self._schema = episodes_schema(features)
        data = Rolling(folder / "data", schema(features), _MEGABYTES)
        self._data = stack.enter_context(data)
        self._index = stack.enter_context(
            Rolling(folder / "meta" / "episodes", self._schema, _MEGABYTES)
        )
        self._rows: list[dict[str, Any]] = []  # of the episodes table that are not written yet
        self._episodes: list[dict[str, Any]] = []
        self._stats: dict[str, stats.Stats] = {}
        self._tasks: dict[str, int] = {}
        self._frames = 0
        self._cameras: list[str] = []
        self._tasks_by_name: dict[str, list[str]] = {}
        for mask, members in header.masks.items():
            for name in members if mask.startswith(TASK) else ():
                self._tasks_by_name.setdefault(name, []).append(mask.removeprefix(TASK))

    def add(self, raw: RawEpisode) -> None:
        """Write one episode."""
        tasks = list(dict.fromkeys(self._tasks_by_name.get(raw.name, [self._default_task()])))
        for task in tasks:
            _check_text(task)
            self._tasks.setdefault(task, len(self._tasks))
        values = self._values(raw, self._tasks[tasks[0]])
        self._cameras = camera_names(self._header, raw)
        chunk, file = self._data.next_file()
        arrays = [column(values[n], f) for n, f in self._features.items()]
        self._data.write(pa.table(arrays, list(self._features)))
        start, length = self._frames, len(raw.action)
        self._frames += length
        self._rows.append(
            {
                "episode_index": len(self._episodes),
                "tasks": tasks,
                "length": length,
                "data/chunk_index": chunk,
                "data/file_index": file,
                "dataset_from_index": start,
                "dataset_to_index": start + length,
                **self._add_stats(values),
            }
        )
        self._episodes.append(
            describe(
                raw,
                stores_reward="next.reward" in self._features,
                stores_selected="selected" in self._features,
            )
        )
        if len(self._rows) == _ROWS:
            self._write_rows()

    def _add_stats(self, values: dict[str, Array]) -> dict[str, Any]:
        """Update the statistics of the dataset, and return those of this episode as columns."""
        statistics = episode_stats(values, self._features)
        for name, new in statistics.items():
            total = self._stats.get(name)
            self._stats[name] = new if total is None else stats.combine(total, new)
        columns = stats_of_columns(statistics, self._features)
        return {f"stats/{n}/{key}": v for n, s in columns.items() for key, v in s.items()}

    def _default_task(self) -> str:
        """Return the task to write if none is recorded; LeRobot needs one for every frame."""
        return str(self._header.env_args.get("env_name") or "not recorded")

    def _values(self, raw: RawEpisode, task: int) -> dict[str, Array]:
        """Return the columns of one episode: (T, width), or (T, H, W, C)."""
        length = len(raw.action)
        steps = np.arange(length)
        success = np.zeros(length, bool)
        success[-1] = bool(raw.success)
        reward, selected = raw.reward, raw.selected
        values = {
            "next.reward": np.zeros(length, np.float32) if reward is None else reward,
            "next.success": success,
            "selected": np.ones(length, bool) if selected is None else selected.astype(bool),
            "timestamp": (steps / self._fps).astype(np.float32),
            "frame_index": steps,
            "episode_index": np.full(length, len(self._episodes)),
            "index": self._frames + steps,
            "task_index": np.full(length, task),
        }
        scalars = {name: scalar[:, None] for name, scalar in values.items()}
        return scalars | obs_columns(raw, self._header) | {"action": raw.action}

    def _write_rows(self) -> None:
        chunk, file = self._index.next_file()
        location = {"meta/episodes/chunk_index": chunk, "meta/episodes/file_index": file}
        rows = [row | location for row in self._rows]
        self._index.write(pa.Table.from_pylist(rows, self._schema))
        self._rows = []

    def finish(self) -> list[str]:
        """Write the metadata, and return what LeRobot will not see."""
        if self._rows:
            self._write_rows()
        meta, header = self._folder / "meta", self._header
        json_files.dump(self._info(), meta / "info.json")
        json_files.dump(stats_of_columns(self._stats, self._features), meta / "stats.json")
        parquet.write(_tasks_table(list(self._tasks)), meta / "tasks.parquet")
        extras = extras_json(header, self._episodes, self._cameras)
        extras |= {"obs_features": obs_features(header)}
        json_files.dump(with_checksum(extras), self._folder / EXTRAS)
        numbers = {episode["name"]: i for i, episode in enumerate(self._episodes)}
        masks = {
            mask: [numbers[name] for name in members if name in numbers]
            for mask, members in header.masks.items()
            if not mask.startswith(TASK)
        }
        if masks:
            json_files.dump({"masks": masks}, meta / "robomimic_masks.json")
        if header.env_args:
            json_files.dump(header.env_args, meta / "robomimic_env_args.json")
        return self._notes()

    def _info(self) -> dict[str, Any]:
        robot = self._header.env_args.get("robot_type")
        return {
            "codebase_version": "v3.0",
            "robot_type": robot if isinstance(robot, str) else None,
            "total_episodes": len(self._episodes),
            "total_frames": self._frames,
            "total_tasks": len(self._tasks),
            "chunks_size": 1000,
            "data_files_size_in_mb": _MEGABYTES,
            "video_files_size_in_mb": 200,
            "fps": self._fps,
            "splits": {"train": f"0:{len(self._episodes)}"},
            "data_path": "data/chunk-{chunk_index:03d}/file-{file_index:03d}.parquet",
            "video_path": None,
            "features": self._features,
        }

    def _notes(self) -> list[str]:
        """Return what is invented or rounded for LeRobot; our reader restores it."""
        notes, rate = [], self._header.rate
        if rate is None:
            notes.append(f"no rate is recorded; fps is written as {self._fps}")
        elif rate != self._fps:
            notes.append(f"the rate of {rate:g} Hz is written as fps {self._fps}, a whole number")
        if not self._tasks_by_name:
            notes.append(f"no task is recorded; the task is written as {self._default_task()!r}")
        unrewarded = sum(e["reward"] is False for e in self._episodes)
        if unrewarded and "next.reward" in self._features:
            notes.append(f"{unrewarded} episodes have no reward; next.reward is written as 0 there")
        if count := sum(isinstance(e["reward"], list) for e in self._episodes):
            notes.append(
                f"the rewards of {count} episodes are only in {EXTRAS}, since the first has none"
            )
        if count := sum("selected" in e for e in self._episodes):
            notes.append(
                f"the selected pairs of {count} episodes are only in {EXTRAS}, "
                "since the first has no selection"
            )
        undecided = sum("success" not in e for e in self._episodes)
        if undecided and "next.success" in self._features:
            notes.append(
                f"{undecided} episodes have no success; next.success is written as false there"
            )
        return notes


def _check_text(task: str) -> None:
    try:
        task.encode()
    except UnicodeEncodeError:
        raise FormatError(f"the task {task!r} is not valid text; rename its mask") from None


def _tasks_table(tasks: Sequence[str]) -> pa.Table:
    """Return a table that pandas reads with the tasks as its index, as LeRobot does."""
    pandas_columns = [
        {"name": name, "field_name": name, "pandas_type": kind, "numpy_type": dtype,
         "metadata": None}
        for name, kind, dtype in (("task_index", "int64", "int64"), ("task", "unicode", "object"))
    ]  # fmt: skip
    pandas = {
        "index_columns": ["task"],
        "column_indexes": [],
        "columns": pandas_columns,
        "creator": {"library": "pyarrow", "version": pa.__version__},
        "pandas_version": "2.2.0",
    }
    table = pa.table({"task_index": np.arange(len(tasks)), "task": pa.array(tasks, pa.string())})
    return table.replace_schema_metadata({"pandas": json.dumps(pandas)})
