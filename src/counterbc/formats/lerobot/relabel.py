"""Copies of LeRobot datasets with other actions, in the version of the source.

Only the action columns and their statistics change. Videos and image files are linked: they are
the same files on disk, neither copied nor encoded again. Where a file system has no hard links they
are copied.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from counterbc.data.arrays import Array
from counterbc.errors import FormatError
from counterbc.files import aside, check_free
from counterbc.formats import json_files, parquet
from counterbc.formats.lerobot import stats
from counterbc.formats.lerobot.episode_index import EpisodeEntry, read_index
from counterbc.formats.lerobot.info import Feature, Info, read_info
from counterbc.formats.lerobot.keys import action_features

_LINKED = ("videos", "images")
_EPISODE_STATS = Path("meta/episodes_stats.jsonl")  # version 2.1
_STATS = Path("meta/stats.json")


def check_relabelable(source: Path, action: Sequence[str] | None = None) -> None:
    """Refuse a dataset whose actions cannot be replaced, before any work is done."""
    info = read_info(source)
    for feature in action_features(info, action):
        if not feature.dtype.startswith("float") or len(feature.shape) != 1:
            raise FormatError(
                f"{source}: {feature.name} has type {feature.dtype} and shape "
                f"{list(feature.shape)}, which cannot hold the meant actions; expected a vector of "
                "floating-point numbers"
            )
    _check_data_files(info, read_index(info), _files(source))


def write_relabeled(
    source: Path, out: Path, actions: Array, action: Sequence[str] | None = None
) -> None:
    """Write a copy of a dataset with these actions (N, A), in the order of its episodes."""
    check_free(out)
    check_relabelable(source, action)
    info = read_info(source)
    copy = _Relabeling(info, read_index(info), action_features(info, action), actions)
    if actions.shape != (expected := (info.frames, sum(f.width for f in copy.features))):
        raise FormatError(
            f"{source} has actions of shape {expected}, and the new ones have shape "
            f"{actions.shape}; give one new action for each frame"
        )
    with aside(out) as folder:
        for path in _files(source):
            target = folder / path.relative_to(source)
            target.parent.mkdir(parents=True, exist_ok=True)
            info.check_inside(path)
            copy.write(path, target)


@dataclass(frozen=True)
class _Relabeling:
    """A dataset and its new actions."""

    info: Info
    entries: Sequence[EpisodeEntry]
    features: Sequence[Feature]
    actions: Array  # (N, A)

    @cached_property
    def _by_file(self) -> dict[Path, list[EpisodeEntry]]:
        by_file: dict[Path, list[EpisodeEntry]] = {}
        for entry in self.entries:
            by_file.setdefault(entry.file, []).append(entry)
        return by_file

    @cached_property
    def _starts(self) -> list[int]:
        """The first pair of each episode."""
        return list(accumulate((entry.length for entry in self.entries), initial=0))

    def write(self, path: Path, target: Path) -> None:
        """Write the copy of one file."""
        relative = path.relative_to(self.info.root)
        if path in self._by_file:
            self._write_data(path, target, self._by_file[path])
        elif relative.parts[:2] == ("meta", "episodes"):
            self._write_index(path, target)
        elif relative == _STATS:
            whole = self._stats(self.actions)
            json_files.dump(_replaced(json_files.load(path, dict), whole), target)
        elif relative == _EPISODE_STATS:
            target.write_text("".join(self._stats_lines(path)), "utf-8")
        elif relative.parts[0] in _LINKED:
            _link(path.resolve(), target)
        else:
            shutil.copyfile(path, target)

    def _write_data(self, path: Path, target: Path, entries: Sequence[EpisodeEntry]) -> None:
        """Write a data file with new actions, row group by row group."""
        values = np.full((entries[0].rows, self.actions.shape[1]), np.nan, self.actions.dtype)
        for entry in entries:
            values[entry.start : entry.start + entry.length] = self._of_episode(entry.index)
        if len(rows_left := np.flatnonzero(np.isnan(values).any(axis=1))):
            raise FormatError(
                f"{path}: row {rows_left[0]} belongs to no episode that the metadata list, or its "
                "new action is not a number; write the dataset again without such rows"
            )
        row = 0
        with (
            parquet.open_file(path) as file,
            target.open("wb") as sink,
            pq.ParquetWriter(sink, file.schema_arrow, compression="snappy") as writer,
        ):
            for group in range(file.metadata.num_row_groups):
                table = file.read_row_group(group, use_threads=False)
                rows, row = values[row : row + len(table)], row + len(table)
                for name, part in self._parts(rows).items():
                    number = table.schema.get_field_index(name)
                    field = table.schema.field(number)
                    table = table.set_column(number, field, _column(part, field.type, path))
                writer.write_table(table, row_group_size=max(len(table), 1))

    def _write_index(self, path: Path, target: Path) -> None:
        """Write a table of episodes, version 3, with new statistics of the actions."""
        table = parquet.table(path)
        episodes = [self._stats(self._of_episode(i)) for i in table["episode_index"].to_pylist()]
        for number, field in enumerate(table.schema):
            group, _, rest = field.name.partition("/")
            name, _, key = rest.rpartition("/")
            if group == "stats" and any(f.name == name for f in self.features):
                cells = [e[name][key].tolist() for e in episodes if key in e[name]]
                if len(cells) == len(table):
                    table = table.set_column(number, field, pa.array(cells, field.type))
        parquet.write(table, target)

    def _stats_lines(self, path: Path) -> Iterator[str]:
        """Yield the statistics of each episode in version 2.1."""
        for line in json_files.load_lines(path):
            index = json_files.count(line, "episode_index", path)
            if index >= len(self.entries):
                raise FormatError(
                    f"{path} has statistics of episode {index}, but the dataset has only "
                    f"{len(self.entries)} episodes, counted from 0; delete that line"
                )
            old = json_files.entry(line, "stats", dict, path)
            new = _replaced(old, self._stats(self._of_episode(index)))
            yield json.dumps(line | {"stats": new}) + "\n"

    def _of_episode(self, index: int) -> Array:
        """Return the actions of an episode: (T, A)."""
        return self.actions[self._starts[index] : self._starts[index + 1]]

    def _parts(self, actions: Array) -> dict[str, Array]:
        """Return actions (n, A) by feature."""
        ends = accumulate((f.width for f in self.features), initial=0)
        spans = zip(self.features, pairwise(ends), strict=True)
        return {f.name: actions[:, start:stop] for f, (start, stop) in spans}

    def _stats(self, actions: Array) -> dict[str, stats.Stats]:
        return {name: stats.number_stats(part) for name, part in self._parts(actions).items()}


def _files(root: Path) -> list[Path]:
    """Return the files of a dataset without hidden ones, such as a cache of downloads.

    A linked folder is refused, as its files would be missing in the copy. So are links to nothing,
    pipes and devices.
    """
    paths = [p for p in sorted(root.rglob("*")) if not _is_hidden(p.relative_to(root))]
    for path in paths:
        if path.is_dir() and path.is_symlink():
            raise FormatError(
                f"{path} is a link to the folder {path.resolve()}, whose files would not be in the "
                "copy; put the folder itself there, or mount it there"
            )
        if not path.is_dir() and not path.is_file():
            raise FormatError(
                f"{path} is not a file, or a link to a file that is not there; "
                "put the file in its place"
            )
    return [p for p in paths if p.is_file()]


def _is_hidden(relative: Path) -> bool:
    return any(part.startswith(".") for part in relative.parts)


def _check_data_files(info: Info, entries: Sequence[EpisodeEntry], paths: Sequence[Path]) -> None:
    """Refuse a dataset if some of its data files would be missing or keep their actions.

    LeRobot reads all tables in `data`, whether or not the metadata list an episode there.
    """
    known = {entry.file for entry in entries}
    if missing := sorted(known - set(paths)):
        raise FormatError(
            f"{missing[0]} holds episodes, but is not among the files that can be copied; "
            "hidden folders are left out, and names must agree in upper and lower case; "
            f"rename it and data_path in {info.path}"
        )
    for path in paths:
        is_data = path.relative_to(info.root).parts[0] == "data" and path.suffix == ".parquet"
        if is_data and path not in known:
            raise FormatError(
                f"{path} holds none of the episodes that the metadata list, so its actions "
                "cannot be replaced; move it out of the dataset"
            )


def _column(values: Array, kind: pa.DataType, path: Path) -> pa.Array:
    """Return a column of (n, width) numbers in the type that the file has."""
    if pa.types.is_floating(kind):
        return pa.array(values[:, 0], kind)
    if not hasattr(kind, "value_type") or not pa.types.is_floating(kind.value_type):
        raise FormatError(f"{path}: actions of type {kind} cannot be replaced; convert the dataset")
    flat = pa.array(np.ascontiguousarray(values).reshape(-1), kind.value_type)
    if pa.types.is_fixed_size_list(kind):
        return pa.FixedSizeListArray.from_arrays(flat, type=kind)
    offsets = np.arange(len(values) + 1) * values.shape[1]
    maker = pa.LargeListArray if pa.types.is_large_list(kind) else pa.ListArray
    return maker.from_arrays(pa.array(offsets, _offset_type(kind)), flat, type=kind)


def _offset_type(kind: pa.DataType) -> pa.DataType:
    return pa.int64() if pa.types.is_large_list(kind) else pa.int32()


def _replaced(old: Mapping[str, Any], new: Mapping[str, stats.Stats]) -> dict[str, Any]:
    """Return statistics with those of some features replaced, as far as they were there."""
    result = dict(old)
    for name, values in new.items():
        if isinstance(entry := old.get(name), dict):
            result[name] = entry | {k: v.tolist() for k, v in values.items() if k in entry}
    return result


def _link(source: Path, target: Path) -> None:
    """Make `target` the same file as `source`, or a copy where that is not possible."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copyfile(source, target)
