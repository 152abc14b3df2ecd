"""LeRobot v3.0, written as LeRobot's own recorder writes it; extras go to meta/counterbc.json."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import ExitStack
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from counterbc.data.demonstrations import Demonstrations
from counterbc.data.episode import Array
from counterbc.errors import FormatError
from counterbc.files import aside, check_free
from counterbc.formats import extras, json_files
from counterbc.formats.lerobot import features as lerobot_features
from counterbc.formats.lerobot import stats as lerobot_stats
from counterbc.formats.lerobot.features import Feature
from counterbc.formats.parquet import Rolling
from counterbc.formats.stream import Header, RawEpisode, Stream

EXTRAS = Path("meta/counterbc.json")
TASK = "task: "  # masks that are called so are tasks
_FPS = 10  # where no rate is recorded
_MEGABYTES = 100  # in a file, before the next one begins
_ROWS = 500  # episodes described in one row group


def write(data: Demonstrations | Stream, path: str | Path) -> list[str]:
    """Write a dataset that `read` gives back unchanged; returns what LeRobot will not see of it."""
    path = Path(path)
    check_free(path)
    rewarded = isinstance(data, Demonstrations) and any(e.reward is not None for e in data.episodes)
    judged = isinstance(data, Demonstrations) and any(e.success is not None for e in data.episodes)
    passing = Stream.of(data).checked()
    with aside(path) as folder, ExitStack() as stack:
        first = next(passing.raw_episodes)  # there is one, or `checked` would have refused
        features = lerobot_features.of(passing.header, first, rewarded, judged)
        writer = _Writer(folder, passing.header, features, stack)
        for recording in chain([first], passing.raw_episodes):
            writer.add(recording)
        return writer.finish()


class _Writer:
    """The files of one dataset while episodes pass by."""

    def __init__(
        self, folder: Path, header: Header, features: dict[str, Feature], stack: ExitStack
    ) -> None:
        (folder / "meta").mkdir(parents=True)
        self._folder, self._header, self._features = folder, header, features
        self._fps = _FPS if header.rate is None else max(round(header.rate), 1)
        self._schema = lerobot_features.episodes_schema(features)
        data = Rolling(folder / "data", lerobot_features.schema(features), _MEGABYTES)
        self._data = stack.enter_context(data)
        self._lists = stack.enter_context(
            Rolling(folder / "meta" / "episodes", self._schema, _MEGABYTES)
        )
        self._rows: list[dict[str, Any]] = []  # of the episodes table, not yet written
        self._about: list[dict[str, Any]] = []
        self._stats: dict[str, lerobot_stats.Stats] = {}
        self._tasks: dict[str, int] = {}
        self._frames = 0
        self._asked: dict[str, list[str]] = {}
        for mask, members in header.masks.items():
            for name in members if mask.startswith(TASK) else ():
                self._asked.setdefault(name, []).append(mask.removeprefix(TASK))

    def add(self, recording: RawEpisode) -> None:
        """Write one episode."""
        tasks = list(dict.fromkeys(self._asked.get(recording.name, [self._task()])))
        for task in tasks:
            _check_text(task)
            self._tasks.setdefault(task, len(self._tasks))
        values = self._values(recording, self._tasks[tasks[0]])
        chunk, file = self._data.place()
        arrays = [lerobot_features.array(values[n], f) for n, f in self._features.items()]
        self._data.write(pa.table(arrays, list(self._features)))
        stats = lerobot_features.stats(values, self._features)
        start, length = self._frames, len(recording.action)
        self._frames += length
        self._rows.append(
            {
                "episode_index": len(self._about),
                "tasks": tasks,
                "length": length,
                "data/chunk_index": chunk,
                "data/file_index": file,
                "dataset_from_index": start,
                "dataset_to_index": start + length,
                **{f"stats/{n}/{k}": v.tolist() for n, s in stats.items() for k, v in s.items()},
            }
        )
        for name, one in stats.items():
            known = self._stats.get(name)
            self._stats[name] = one if known is None else lerobot_stats.joined(known, one)
        held = (name in self._features for name in ("next.reward", "selected"))
        self._about.append(extras.about(recording, *held))
        if len(self._rows) == _ROWS:
            self._write_rows()

    def _task(self) -> str:
        """What to say where no task is recorded: LeRobot wants one for every frame."""
        return str(self._header.env_args.get("env_name") or "not recorded")

    def _values(self, recording: RawEpisode, task: int) -> dict[str, Array]:
        """The columns of one episode: (T, width), or (T, H, W, C)."""
        length = len(recording.action)
        steps = np.arange(length)
        success = np.zeros(length, bool)
        success[-1] = bool(recording.success)
        reward, selected = recording.reward, recording.selected
        values = {
            "next.reward": np.zeros(length, np.float32) if reward is None else reward,
            "next.success": success,
            "selected": np.ones(length, bool) if selected is None else selected.astype(bool),
            "timestamp": (steps / self._fps).astype(np.float32),
            "frame_index": steps,
            "episode_index": np.full(length, len(self._about)),
            "index": self._frames + steps,
            "task_index": np.full(length, task),
        }
        columns = {name: column[:, None] for name, column in values.items()}
        obs = lerobot_features.obs_columns(recording.obs, self._header)
        return columns | obs | {"action": recording.action}

    def _write_rows(self) -> None:
        chunk, file = self._lists.place()
        place = {"meta/episodes/chunk_index": chunk, "meta/episodes/file_index": file}
        rows = [row | place for row in self._rows]
        self._lists.write(pa.Table.from_pylist(rows, self._schema))
        self._rows = []

    def finish(self) -> list[str]:
        """Write what is known only now; what LeRobot will not see."""
        if self._rows:
            self._write_rows()
        meta, header = self._folder / "meta", self._header
        json_files.dump(self._info(), meta / "info.json")
        stats = {n: {k: v.tolist() for k, v in s.items()} for n, s in self._stats.items()}
        json_files.dump(stats, meta / "stats.json")
        pq.write_table(_tasks_table(list(self._tasks)), meta / "tasks.parquet")
        own = {"obs_features": lerobot_features.obs_features(header)}
        json_files.dump(extras.of(header, self._about) | own, self._folder / EXTRAS)
        numbers = {about["name"]: i for i, about in enumerate(self._about)}
        masks = {
            mask: [numbers[name] for name in members if name in numbers]
            for mask, members in header.masks.items()
            if not mask.startswith(TASK)
        }
        if masks:
            json_files.dump({"masks": masks}, meta / "robomimic_masks.json")
        if header.env_args:
            json_files.dump(header.env_args, meta / "robomimic_env_args.json")
        return self._unseen()

    def _info(self) -> dict[str, Any]:
        robot = self._header.env_args.get("robot_type")
        return {
            "codebase_version": "v3.0",
            "robot_type": robot if isinstance(robot, str) else None,
            "total_episodes": len(self._about),
            "total_frames": self._frames,
            "total_tasks": len(self._tasks),
            "chunks_size": 1000,
            "data_files_size_in_mb": _MEGABYTES,
            "video_files_size_in_mb": 200,
            "fps": self._fps,
            "splits": {"train": f"0:{len(self._about)}"},
            "data_path": "data/chunk-{chunk_index:03d}/file-{file_index:03d}.parquet",
            "video_path": None,
            "features": self._features,
        }

    def _unseen(self) -> list[str]:
        """What is made up or rounded for LeRobot; reading the dataset here gives it back."""
        said, rate = [], self._header.rate
        if rate is None:
            said.append(f"no rate is recorded; LeRobot's fps is written as {self._fps}")
        elif rate != self._fps:
            said.append(f"the rate of {rate:g} Hz is written as fps {self._fps}, a whole number")
        if not self._asked:
            said.append(f"no task is recorded; LeRobot's task is written as {self._task()!r}")
        without = sum(about["reward"] is False for about in self._about)
        if without and "next.reward" in self._features:
            said.append(f"{without} episodes have no reward; next.reward is written as 0 there")
        beside = sum(isinstance(about["reward"], list) for about in self._about)
        if beside:
            said.append(
                f"the rewards of {beside} episodes are only in {EXTRAS}, since the first has none"
            )
        if chosen := sum("selected" in about for about in self._about):
            said.append(
                f"which pairs of {chosen} episodes are selected is only in {EXTRAS}, "
                "since the first does not say"
            )
        unknown = sum("success" not in about for about in self._about)
        if unknown and "next.success" in self._features:
            said.append(
                f"{unknown} episodes do not say whether they succeeded; "
                "next.success is written as false there"
            )
        return said


def _check_text(task: str) -> None:
    try:
        task.encode()
    except UnicodeEncodeError:
        raise FormatError(f"the task {task!r} is no proper text; rename its mask") from None


def _tasks_table(tasks: Sequence[str]) -> pa.Table:
    """A table that pandas reads as a frame with the tasks as its index, as LeRobot does."""
    about = [
        {"name": name, "field_name": name, "pandas_type": kind, "numpy_type": dtype,
         "metadata": None}
        for name, kind, dtype in (("task_index", "int64", "int64"), ("task", "unicode", "object"))
    ]  # fmt: skip
    pandas = {
        "index_columns": ["task"],
        "column_indexes": [],
        "columns": about,
        "creator": {"library": "pyarrow", "version": pa.__version__},
        "pandas_version": "2.2.0",
    }
    table = pa.table({"task_index": np.arange(len(tasks)), "task": pa.array(tasks, pa.string())})
    return table.replace_schema_metadata({"pandas": json.dumps(pandas)})
