"""CSV: a header row, then one row per pair.

    episode, operator, reward       columns of these names, each optional; episode_index and
                                    episode_id are an episode too
    action, action_0, action.x …    the action: `action` or `actions`, alone or before a digit or
                                    one of _ . [ -
    done, index, timestamp …        columns that count or end rows, and pandas' column without a
                                    name, are left out unless --obs chooses them
    every other column              the observation; each is a key that --obs can choose

Rows of an episode stand together; without `episode` the file is one episode. Columns are separated
by commas, semicolons or tabs. An empty cell is a missing number, which is refused like NaN.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from counterbc.data.demonstrations import Demonstrations
from counterbc.data.episode import Array
from counterbc.errors import FormatError
from counterbc.formats.guard import guarded, reason
from counterbc.formats.rows import episode_name
from counterbc.formats.stream import Header, RawEpisode, Stream

_ACTION = re.compile(r"actions?([\d_.\[-].*)?")
_EPISODES = ("episode", "episode_index", "episode_id")
_COUNTERS = (
    "", "Unnamed: 0", "index", "frame_index", "task_index", "timestamp", "step", "done", "dones",
    "terminated", "truncated", "terminal", "timeout",
)  # fmt: skip
_FIRST_LINE = 2**20  # bytes; a longer one is not the header of a table


def recognizes(path: Path) -> bool:
    """Text whose first line names an action."""
    if not path.is_file():
        return False
    try:
        return bool(_columns(path).action)
    except (FormatError, OSError):
        return False


def read(path: str | Path, obs: Sequence[str] | None = None) -> Demonstrations:
    return stream(path, obs).demonstrations()


def stream(path: str | Path, obs: Sequence[str] | None = None) -> Stream:
    """Episode by episode."""
    path = Path(path)
    if not path.is_file():
        raise FormatError(f"{path} is not a file; give the path of a CSV file")
    columns = replace(_columns(path), chosen=None if obs is None else tuple(obs))
    for key in obs or ():
        if key not in columns.possible:
            allowed = ", ".join(columns.possible)
            raise FormatError(f"{path} has no obs {key}; allowed: {allowed}")
    if not columns.action or not columns.obs:
        missing = "action" if not columns.action else "observation"
        raise FormatError(
            f"{path} has no column for the {missing}, it has {', '.join(columns.all)}; name action "
            "columns action or action_0, action_1, …"
        )
    header = Header(
        action_names=columns.action,
        obs_names=columns.obs,
        obs_keys=tuple((name, 1) for name in columns.obs),
        left_out=tuple(f"column {c!r}" for c in columns.all if c not in columns.read),
        source=str(path),
    )
    return Stream(header, _recordings(path, columns)).choose(obs)


@dataclass(frozen=True)
class _Columns:
    """The names of the header row, and which are what."""

    all: tuple[str, ...]
    delimiter: str
    chosen: tuple[str, ...] | None = None
    """The observation's columns; None: all that may be."""

    @property
    def action(self) -> tuple[str, ...]:
        return tuple(c for c in self.all if _ACTION.fullmatch(c))

    @property
    def possible(self) -> tuple[str, ...]:
        """What can be an observation."""
        return tuple(c for c in self.all if c not in (*self.action, *self.others.values()))

    @property
    def obs(self) -> tuple[str, ...]:
        if self.chosen is not None:
            return tuple(c for c in self.possible if c in self.chosen)
        return tuple(c for c in self.possible if c not in _COUNTERS)

    @property
    def others(self) -> dict[str, str]:
        """The column of episode, operator and reward, where there is one."""
        episode = next((c for c in _EPISODES if c in self.all), "episode")
        named = {"episode": episode, "operator": "operator", "reward": "reward"}
        return {key: c for key, c in named.items() if c in self.all}

    @property
    def read(self) -> tuple[str, ...]:
        return (*self.others.values(), *self.obs, *self.action)


def _columns(path: Path) -> _Columns:
    with guarded(path), path.open("rb") as file:
        line = file.readline(_FIRST_LINE)
    try:
        text = line.decode("utf-8-sig").strip("\r\n")
    except UnicodeDecodeError:
        text = ""
    if not text or len(line) == _FIRST_LINE or "\0" in text:
        raise FormatError(f"{path} does not begin with a row of column names; add one")
    delimiter = max(",;\t", key=text.count)
    names = tuple(name.strip() for name in next(csv.reader([text], delimiter=delimiter)))
    if len(set(names)) < len(names):
        twice = next(n for i, n in enumerate(names) if n in names[:i])
        raise FormatError(f"{path} has two columns {twice!r}; names must differ")
    return _Columns(names, delimiter)


@dataclass
class _Growing:
    """The episode whose rows are coming in."""

    name: str
    operator: str | None
    parts: list[dict[str, Array]] = field(default_factory=list)

    def recording(self) -> RawEpisode:
        joined = {key: np.concatenate([p[key] for p in self.parts]) for key in self.parts[0]}
        return RawEpisode(
            joined["obs"], joined["action"], joined.get("reward"), self.operator, name=self.name
        )


def _recordings(path: Path, columns: _Columns) -> Iterator[RawEpisode]:
    growing: _Growing | None = None
    finished: set[str] = set()
    for batch in _batches(path, columns):
        for name, operator, rows in _pieces(batch, path):
            if growing is None or growing.name != name:
                if growing is not None:
                    yield growing.recording()
                    finished.add(growing.name)
                growing = _Growing(name, operator)
            if name in finished:
                raise FormatError(
                    f"{path}: episode {name!r} comes back after another one; "
                    "put the rows of an episode together"
                )
            if operator != growing.operator:
                raise FormatError(f"{path}: operator changes within episode {name!r}; split it")
            growing.parts.append(rows)
    if growing is not None:
        yield growing.recording()


def _pieces(
    batch: dict[str, Any], path: Path
) -> Iterator[tuple[str, str | None, dict[str, Array]]]:
    """Stretches of rows with the same episode and operator."""
    count = len(batch["action"])
    ids, operators = (batch.pop(k, np.zeros(count, int)) for k in ("episode", "operator"))
    known = operators.dtype == object
    change = (ids[1:] != ids[:-1]) | (operators[1:] != operators[:-1])
    starts = [0, *(np.flatnonzero(change) + 1).tolist()] if count else []
    for start, end in zip(starts, [*starts[1:], count], strict=False):
        if ids[start] in (None, ""):
            raise FormatError(f"{path}: a row has no episode; fill that column in every row")
        rows = {key: values[start:end] for key, values in batch.items()}
        yield episode_name(ids[start]), (operators[start] or None) if known else None, rows


def _batches(path: Path, columns: _Columns) -> Iterator[dict[str, Any]]:
    """Arrays of some thousand rows: obs and action (T, …), and the others where they are."""
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    text = [c for key, c in columns.others.items() if key != "reward"]
    types = {c: pa.string() if c in text else pa.float64() for c in columns.read}
    try:
        reader = arrow_csv.open_csv(
            path,
            read_options=arrow_csv.ReadOptions(
                column_names=columns.all, skip_rows=1, use_threads=False
            ),
            parse_options=arrow_csv.ParseOptions(delimiter=columns.delimiter),
            convert_options=arrow_csv.ConvertOptions(
                column_types=types, include_columns=list(columns.read)
            ),
        )
        for batch in reader:
            found = {c: batch.column(c).to_numpy(zero_copy_only=False) for c in columns.read}
            out = {key: found[c] for key, c in columns.others.items()}
            yield out | {
                key: np.column_stack([found[c] for c in names])
                for key, names in (("obs", columns.obs), ("action", columns.action))
            }
    except (pa.ArrowException, OSError) as error:
        raise FormatError(
            f"{path} is not a table of numbers ({reason(error)}); repair that cell, or choose the "
            "observation's columns with --obs"
        ) from None
