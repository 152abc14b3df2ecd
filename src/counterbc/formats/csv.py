"""CSV: a header row, then one row per state-action pair. Read only.

    episode, operator, reward       optional columns; episode_index and episode_id also name the
                                    episode
    action, action_0, action.x …    the action: `action` or `actions`, alone or followed by a digit
                                    or one of _ . [ -; --action chooses other columns
    done, index, timestamp …        counters and end marks, and the index column of pandas, are
                                    left out unless --obs chooses them
    every other column              the observation; each is a key that --obs can choose

The rows of an episode must be adjacent; without an episode column the file is one episode. Columns
are separated by commas, semicolons or tabs. An empty cell is a missing number, refused like NaN.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from counterbc.data.arrays import Array
from counterbc.data.raw_episode import unreadable
from counterbc.errors import FormatError
from counterbc.files import Guard, reason
from counterbc.formats.rows import episode_name
from counterbc.formats.stream import Header, RawEpisode, Stream

_ACTION = re.compile(r"actions?([\d_.\[-].*)?")
_EPISODES = ("episode", "episode_index", "episode_id")
_COUNTERS = (
    "", "Unnamed: 0", "index", "frame_index", "task_index", "timestamp", "step", "done", "dones",
    "terminated", "truncated", "terminal", "timeout",
)  # fmt: skip
_NAME = re.compile(r"[A-Za-z_][\w .:/()\[\]%°-]*|")  # or the empty one of pandas' index column
_FIRST_LINE = 2**20  # bytes; a longer first line is not a header row


def recognizes(path: Path) -> bool:
    """Return whether a path is a text file whose first line is a row of column names."""
    if not path.is_file():
        return False
    try:
        columns = read_columns(path)
    except (FormatError, OSError):
        return False
    return bool(columns.action) or columns.is_header


def stream(
    path: str | Path, obs: Sequence[str] | None = None, action: Sequence[str] | None = None
) -> Stream:
    """Open a file; `obs` and `action` name columns, in that order."""
    path = Path(path)
    if not path.is_file():
        raise FormatError(f"{path} is not a file; give the path of a CSV file")
    columns = replace(
        read_columns(path),
        obs_choice=None if obs is None else tuple(obs),
        action_choice=None if action is None else tuple(action),
    )
    _check_choice(columns, path)
    used = set(columns.used_names)
    header = Header(
        action_names=columns.action,
        obs_names=columns.obs,
        obs_keys=tuple((name, 1) for name in columns.obs),
        left_out=tuple(f"column {c!r}" for c in columns.names if c not in used),
        source=str(path),
    )
    return Stream(header, _raw_episodes(path, columns)).choose(obs)


def _check_choice(columns: Columns, path: Path) -> None:
    """Refuse columns that do not exist, and a file without observation or action."""
    roles = (
        ("observation", columns.obs_choice, columns.obs_candidates),
        ("action", columns.action_choice, columns.unlabelled),
    )
    for role, choice, candidates in roles:
        for key in choice or ():
            if key not in candidates:
                raise FormatError(
                    f"{path} has no {role} column {key!r}; allowed: {', '.join(candidates)}"
                )
    if not columns.action or not columns.obs:
        role = "action" if not columns.action else "observation"
        raise FormatError(
            f"{path} has no column for the {role}; it has {', '.join(columns.names)}; choose its "
            "columns with --obs and --action, or name the action columns action or action_0, "
            "action_1, …"
        )


@dataclass(frozen=True)
class Columns:
    """The names in the header row and their roles."""

    names: tuple[str, ...]
    delimiter: str
    obs_choice: tuple[str, ...] | None = None
    """The columns of the observation; None: all candidates that are not counters."""
    action_choice: tuple[str, ...] | None = None
    """The columns of the action; None: those that are named so."""

    @property
    def is_header(self) -> bool:
        """Whether there are two columns or more, all with names that look like names."""
        return len(self.names) > 1 and all(map(_NAME.fullmatch, self.names))

    @cached_property
    def action(self) -> tuple[str, ...]:
        if self.action_choice is not None:
            return self.action_choice
        return tuple(c for c in self.names if _ACTION.fullmatch(c))

    @cached_property
    def unlabelled(self) -> tuple[str, ...]:
        """The columns that are no label."""
        labels = set(self.labels.values())
        return tuple(c for c in self.names if c not in labels)

    @cached_property
    def obs_candidates(self) -> tuple[str, ...]:
        """The columns that can be part of the observation."""
        return tuple(c for c in self.unlabelled if c not in self.action)

    @cached_property
    def obs(self) -> tuple[str, ...]:
        if self.obs_choice is not None:
            chosen = set(self.obs_choice)
            return tuple(c for c in self.obs_candidates if c in chosen)
        return tuple(c for c in self.obs_candidates if c not in _COUNTERS)

    @cached_property
    def labels(self) -> dict[str, str]:
        """The columns of episode, operator and reward, as far as they exist."""
        episode = next((c for c in _EPISODES if c in self.names), "episode")
        roles = {"episode": episode, "operator": "operator", "reward": "reward"}
        return {key: c for key, c in roles.items() if c in self.names}

    @cached_property
    def used_names(self) -> tuple[str, ...]:
        return (*self.labels.values(), *self.obs, *self.action)


def read_columns(path: Path) -> Columns:
    """Return the columns that the first line of a file names."""
    with Guard(path), path.open("rb") as file:
        line = file.readline(_FIRST_LINE)
    try:
        text = line.decode("utf-8-sig").strip("\r\n")
    except UnicodeDecodeError:
        text = ""
    if not text or len(line) == _FIRST_LINE or "\0" in text:
        raise FormatError(f"{path} does not begin with a row of column names; add one")
    if "\r" in text:
        raise FormatError(
            f"{path} ends its lines with carriage returns; save it with the line ends of Unix or "
            "Windows"
        )
    delimiter = max(",;\t", key=text.count)
    with Guard(path):
        names = tuple(name.strip() for name in next(csv.reader([text], delimiter=delimiter)))
    if len(set(names)) < len(names):
        twice = next(n for n, count in Counter(names).items() if count > 1)
        raise FormatError(f"{path} has two columns named {twice!r}; rename one")
    return Columns(names, delimiter)


@dataclass
class _OpenEpisode:
    """An episode whose rows are still being read."""

    name: str
    operator: str | None
    error: FormatError | None
    blocks: list[dict[str, Array]] = field(default_factory=list)

    def raw_episode(self) -> RawEpisode:
        if self.error is not None:
            return unreadable(self.name, self.error)
        columns = {key: np.concatenate([b[key] for b in self.blocks]) for key in self.blocks[0]}
        return RawEpisode(
            obs=columns["obs"],
            action=columns["action"],
            reward=columns.get("reward"),
            operator=self.operator,
            name=self.name,
        )


def _raw_episodes(path: Path, columns: Columns) -> Iterator[RawEpisode]:
    current: _OpenEpisode | None = None
    complete: set[str] = set()
    for batch in _batches(path, columns):
        for name, operator, rows in _blocks(batch, path):
            if current is None or current.name != name:
                if current is not None:
                    yield current.raw_episode()
                    complete.add(current.name)
                current = _OpenEpisode(
                    name, operator, _again(path, name) if name in complete else None
                )
            if operator != current.operator:
                current.error = FormatError(
                    f"{path}: the operator changes within episode {name!r}; split it"
                )
            current.blocks.append(rows)
    if current is not None:
        yield current.raw_episode()


def _again(path: Path, name: str) -> FormatError:
    return FormatError(
        f"{path}: episode {name!r} occurs in two separate blocks of rows; sort the rows by episode"
    )


def _blocks(
    batch: dict[str, Any], path: Path
) -> Iterator[tuple[str, str | None, dict[str, Array]]]:
    """Yield episode, operator and columns of each block of rows in which both stay the same."""
    count = len(batch["action"])
    ids, operators = (batch.pop(k, np.zeros(count, int)) for k in ("episode", "operator"))
    has_operators = operators.dtype == object
    change = (ids[1:] != ids[:-1]) | (operators[1:] != operators[:-1])
    starts = [0, *(np.flatnonzero(change) + 1).tolist()] if count else []
    for start, end in zip(starts, [*starts[1:], count], strict=False):
        if ids[start] in (None, ""):
            raise FormatError(f"{path}: a row has no episode; fill in that column in every row")
        rows = {key: values[start:end] for key, values in batch.items()}
        yield episode_name(ids[start]), (operators[start] or None) if has_operators else None, rows


def _batches(path: Path, columns: Columns) -> Iterator[dict[str, Any]]:
    """Yield a few thousand rows at a time: obs and action (T, …), and the labels that exist."""
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    text = [c for key, c in columns.labels.items() if key != "reward"]
    types = {c: pa.string() if c in text else pa.float64() for c in columns.used_names}
    stack = ExitStack()
    try:
        source = stack.enter_context(path.open("rb"))
        reader = arrow_csv.open_csv(
            source,
            read_options=arrow_csv.ReadOptions(
                column_names=columns.names, skip_rows=1, use_threads=False
            ),
            parse_options=arrow_csv.ParseOptions(delimiter=columns.delimiter),
            convert_options=arrow_csv.ConvertOptions(
                column_types=types, include_columns=list(columns.used_names)
            ),
        )
        for batch in reader:
            values = {c: batch.column(c).to_numpy(zero_copy_only=False) for c in columns.used_names}
            labels = {key: values[c] for key, c in columns.labels.items()}
            yield labels | {
                key: np.column_stack([values[c] for c in names])
                for key, names in (("obs", columns.obs), ("action", columns.action))
            }
    except (pa.ArrowException, OSError) as error:
        raise FormatError(
            f"{path} has a cell that is not a number ({reason(error)}); correct that cell, or "
            "choose the columns of the observation with --obs"
        ) from None
    finally:
        stack.close()
