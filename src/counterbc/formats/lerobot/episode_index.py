"""Where the episodes of a LeRobot dataset lie: which rows of which file, and what was asked."""

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
class Place:
    """One episode: rows start … start + length of a file that has `rows` in all."""

    index: int
    length: int
    tasks: tuple[str, ...]
    file: Path
    start: int = 0
    rows: int = 0
    videos: Mapping[str, tuple[Path, float]] = field(default_factory=dict)
    """For each camera the film and the second at which the episode begins in it."""


def find(info: Info) -> list[Place]:
    """All episodes in order; their counts must be those of info.json."""
    places = _from_lines(info) if info.major == 2 else _from_tables(info)
    places.sort(key=lambda p: p.index)
    if len(places) != info.episodes or any(p.index != i for i, p in enumerate(places)):
        raise FormatError(
            f"{info.path} says there are episodes 0 … {info.episodes - 1}; {len(places)} are "
            "listed, or other ones; copy or download the dataset again"
        )
    if (total := sum(p.length for p in places)) != info.frames:
        raise FormatError(
            f"{info.path} says there are {info.frames} frames; the episodes add up to {total}; "
            "copy or download the dataset again"
        )
    return places


def together(places: Sequence[Place]) -> Iterator[list[Place]]:
    """Runs of episodes that one pass over one file finds in order."""
    run: list[Place] = []
    for place in places:
        if run and (place.file != run[-1].file or place.start < run[-1].start + run[-1].length):
            yield run
            run = []
        run.append(place)
    yield run


def _from_lines(info: Info) -> list[Place]:
    """Version 2: a line of episodes.jsonl and a file of its own for each episode."""
    path = info.root / "meta" / "episodes.jsonl"
    return [_own_file(info, line, path) for line in json_files.load_lines(path)]


def _own_file(info: Info, line: dict[str, Any], path: Path) -> Place:
    index = json_files.count(line, "episode_index", path)
    length = json_files.count(line, "length", path)
    numbers = {"episode_chunk": index // info.chunk, "episode_index": index}
    file = info.file(info.data_path, **numbers)
    cameras = [f.name for f in info.features.values() if f.dtype == "video"]
    videos = {
        key: (info.file(info.video_path, video_key=key, **numbers), 0.0)
        for key in cameras
        if info.video_path
    }
    return Place(index, length, _tasks(line, path), file, 0, length, videos)


def _from_tables(info: Info) -> list[Place]:
    """Version 3: rows of the tables in meta/episodes, with offsets into shared files."""
    folder = info.root / "meta" / "episodes"
    paths = sorted(folder.glob("*/*.parquet"))
    if not paths:
        raise FormatError(f"{folder} has no tables; copy or download the dataset again")
    if (total := sum(map(parquet.count, paths))) != info.episodes:
        raise FormatError(
            f"{info.path} says there are {info.episodes} episodes; {folder} lists {total}; "
            "copy or download the dataset again"
        )
    cameras = [f.name for f in info.features.values() if f.dtype == "video"]
    films = [f"videos/{c}/{x}" for c in cameras for x in _FILM]
    lines = [
        (line, path)
        for path in paths
        for line in parquet.table(path, columns=(*_COLUMNS, *films)).to_pylist()
    ]
    ends: dict[Path, tuple[int, int]] = {}  # the first and the last row of each file
    for line, path in lines:
        file, start, stop = _rows(info, line, path)
        known = ends.get(file, (start, stop))
        ends[file] = (min(start, known[0]), max(stop, known[1]))
    return [_shared_file(info, line, path, ends, cameras) for line, path in lines]


_FILM = ("chunk_index", "file_index", "from_timestamp")


def _rows(info: Info, line: dict[str, Any], path: Path) -> tuple[Path, int, int]:
    """The file of an episode and its rows, counted over all files."""
    chunk, number = (json_files.count(line, f"data/{k}_index", path) for k in ("chunk", "file"))
    start = json_files.count(line, "dataset_from_index", path)
    stop = json_files.count(line, "dataset_to_index", path, start)
    return info.file(info.data_path, chunk_index=chunk, file_index=number), start, stop


def _shared_file(
    info: Info,
    line: dict[str, Any],
    path: Path,
    ends: Mapping[Path, tuple[int, int]],
    cameras: Sequence[str],
) -> Place:
    index = json_files.count(line, "episode_index", path)
    file, start, stop = _rows(info, line, path)
    if (length := json_files.count(line, "length", path)) != stop - start:
        raise FormatError(
            f"{path}: episode {index} has length {length} but rows {start} … {stop}; "
            "copy or download the dataset again"
        )
    first, last = ends[file]
    videos = {c: _film(info, line, path, c) for c in cameras if f"videos/{c}/file_index" in line}
    return Place(index, length, _tasks(line, path), file, start - first, last - first, videos)


def _film(info: Info, line: dict[str, Any], path: Path, key: str) -> tuple[Path, float]:
    chunk, number = (
        json_files.count(line, f"videos/{key}/{k}_index", path) for k in ("chunk", "file")
    )
    begin = line.get(f"videos/{key}/from_timestamp")
    if not info.video_path or not isinstance(begin, int | float) or not 0 <= begin < 1e9:
        raise FormatError(f"{path}: the film {key} begins at {begin!r}; expected seconds from 0")
    file = info.file(info.video_path, video_key=key, chunk_index=chunk, file_index=number)
    return file, float(begin)


def _tasks(line: dict[str, Any], path: Path) -> tuple[str, ...]:
    tasks = line.get("tasks") or []
    if not isinstance(tasks, list) or not all(isinstance(t, str) for t in tasks):
        raise FormatError(f"{path}: tasks are {tasks!r:.60}; expected a list of texts; repair it")
    return tuple(dict.fromkeys(tasks))
