"""The episode index of a LeRobot dataset: rows, file, tasks and videos of each episode."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from counterbc.errors import FormatError
from counterbc.formats import json_files, parquet
from counterbc.formats.lerobot.info import Info

_COLUMNS = (
    "episode_index", "length", "tasks", "data/chunk_index", "data/file_index",
    "dataset_from_index", "dataset_to_index",
)  # fmt: skip


@dataclass(frozen=True)
class EpisodeEntry:
    """Where an episode is stored: rows start … start + length of a file with `rows` rows."""

    index: int
    length: int
    tasks: tuple[str, ...]
    file: Path
    start: int = 0
    rows: int = 0
    videos: Mapping[str, tuple[Path, float]] = field(default_factory=dict)
    """For each camera the video file and the second at which the episode begins in it."""


def read_index(info: Info) -> list[EpisodeEntry]:
    """Read the entries of all episodes in order; their counts must agree with info.json."""
    entries = _from_lines(info) if info.major == 2 else _from_tables(info)
    entries.sort(key=lambda entry: entry.index)
    indices = [entry.index for entry in entries]
    if len(indices) != info.episodes or indices != list(range(len(indices))):
        raise FormatError(
            f"{info.path} declares episodes 0 … {info.episodes - 1}, but the episode index has "
            f"{len(entries)} entries or other numbers; copy or download the dataset again"
        )
    if (total := sum(entry.length for entry in entries)) != info.frames:
        raise FormatError(
            f"{info.path} declares {info.frames} frames, but the episodes add up to {total}; "
            "copy or download the dataset again"
        )
    return entries


def split_by_file(entries: Sequence[EpisodeEntry]) -> Iterator[list[EpisodeEntry]]:
    """Yield runs of episodes that one pass over one file can read in order."""
    run: list[EpisodeEntry] = []
    for entry in entries:
        if run and (entry.file != run[-1].file or entry.start < run[-1].start + run[-1].length):
            yield run
            run = []
        run.append(entry)
    yield run


def _from_lines(info: Info) -> list[EpisodeEntry]:
    """Read version 2: each episode has a line in episodes.jsonl and a file."""
    path = info.root / "meta" / "episodes.jsonl"
    return [_entry_with_file(info, line, path) for line in json_files.load_lines(path)]


def _entry_with_file(info: Info, line: dict[str, Any], path: Path) -> EpisodeEntry:
    index = json_files.count(line, "episode_index", path)
    length = json_files.count(line, "length", path)
    chunk = index // info.chunk
    numbers = {"episode_chunk": chunk, "chunk_index": chunk, "episode_index": index}
    file = info.file(info.data_path, **numbers)
    cameras = [f.name for f in info.features.values() if f.dtype == "video"]
    videos = {
        key: (info.file(info.video_path, video_key=key, **numbers), 0.0)
        for key in cameras
        if info.video_path
    }
    return EpisodeEntry(
        index=index, length=length, tasks=_tasks(line, path), file=file, rows=length, videos=videos
    )


def _from_tables(info: Info) -> list[EpisodeEntry]:
    """Read version 3: tables in meta/episodes with offsets into shared files."""
    folder = info.root / "meta" / "episodes"
    paths = sorted(folder.glob("*/*.parquet"))
    if not paths:
        raise FormatError(f"{folder} has no Parquet tables; copy or download the dataset again")
    if (total := sum(map(parquet.count, paths))) != info.episodes:
        raise FormatError(
            f"{info.path} declares {info.episodes} episodes, but {folder} lists {total}; "
            "copy or download the dataset again"
        )
    cameras = [f.name for f in info.features.values() if f.dtype == "video"]
    video_columns = [f"videos/{c}/{x}" for c in cameras for x in _VIDEO_COLUMNS]
    lines = [
        (line, path)
        for path in paths
        for line in parquet.table(path, columns=(*_COLUMNS, *video_columns)).to_pylist()
    ]
    bounds: dict[Path, tuple[int, int]] = {}  # the first row and the end of each file
    for line, path in lines:
        file, start, stop = _rows(info, line, path)
        first, end = bounds.get(file, (start, stop))
        bounds[file] = (min(start, first), max(stop, end))
    return [_entry_in_shared_file(info, line, path, bounds, cameras) for line, path in lines]


_VIDEO_COLUMNS = ("chunk_index", "file_index", "from_timestamp")


def _rows(info: Info, line: dict[str, Any], path: Path) -> tuple[Path, int, int]:
    """Return the file of an episode and its rows, counted over all files."""
    chunk, number = (json_files.count(line, f"data/{k}_index", path) for k in ("chunk", "file"))
    start = json_files.count(line, "dataset_from_index", path)
    stop = json_files.count(line, "dataset_to_index", path, start)
    return info.file(info.data_path, chunk_index=chunk, file_index=number), start, stop


def _entry_in_shared_file(
    info: Info,
    line: dict[str, Any],
    path: Path,
    bounds: Mapping[Path, tuple[int, int]],
    cameras: Sequence[str],
) -> EpisodeEntry:
    index = json_files.count(line, "episode_index", path)
    file, start, stop = _rows(info, line, path)
    if (length := json_files.count(line, "length", path)) != stop - start:
        raise FormatError(
            f"{path}: episode {index} has length {length} but rows {start} … {stop}; "
            "copy or download the dataset again"
        )
    first, end = bounds[file]
    videos = {c: _video(info, line, path, c) for c in cameras if f"videos/{c}/file_index" in line}
    return EpisodeEntry(
        index=index,
        length=length,
        tasks=_tasks(line, path),
        file=file,
        start=start - first,
        rows=end - first,
        videos=videos,
    )


def _video(info: Info, line: dict[str, Any], path: Path, key: str) -> tuple[Path, float]:
    chunk, number = (
        json_files.count(line, f"videos/{key}/{k}_index", path) for k in ("chunk", "file")
    )
    begin = line.get(f"videos/{key}/from_timestamp")
    if not info.video_path or not isinstance(begin, int | float) or not 0 <= begin < 1e9:
        raise FormatError(
            f"{path}: the video {key} begins at {begin!r}; expected a time in seconds; repair it"
        )
    file = info.file(info.video_path, video_key=key, chunk_index=chunk, file_index=number)
    return file, float(begin)


def _tasks(line: dict[str, Any], path: Path) -> tuple[str, ...]:
    tasks = line.get("tasks") or []
    if not isinstance(tasks, list) or not all(isinstance(t, str) for t in tasks):
        raise FormatError(f"{path}: tasks is {tasks!r:.60}; expected a list of texts; repair it")
    return tuple(dict.fromkeys(tasks))
