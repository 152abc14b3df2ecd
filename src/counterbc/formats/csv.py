"""CSV: a header row, then one row per state-action pair. Read only.

    episode, operator, reward       optional columns; trial, demo, trajectory also name the episode,
                                    and so do episode_index, episode_id and the like
    action, action_0, action.x …    the action: `action` or `actions`, alone or followed by a digit
                                    or one of _ . [ -; --action chooses other columns
    done, index, timestamp …        counters and end marks, and the index column of pandas, are
                                    left out unless --obs chooses them
    every other column              the observation, unless it holds only words; each is a key that
                                    --obs can choose

The rows of an episode must be adjacent; without an episode column the file is one episode. A folder
of files with the same columns is one dataset, for example with one file per trial. Columns are
separated by commas, semicolons or tabs. An empty cell is a missing number, refused like NaN.
Comments above the header row declare rate, bounds, angles and roles of columns; see csv_columns.py.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from counterbc.data.arrays import Array
from counterbc.data.raw_episode import unreadable
from counterbc.errors import FormatError
from counterbc.files import reason
from counterbc.formats.csv_cells import SHOWN, BadCell, cells_error, read_cells, text_columns
from counterbc.formats.csv_columns import (
    Columns,
    check_declared,
    declared_facts,
    read_columns,
    texts,
)
from counterbc.formats.csv_folder import alike_columns, list_tables, other_files
from counterbc.formats.rows import episode_name
from counterbc.formats.stream import Header, RawEpisode, Stream


def recognizes(path: Path) -> bool:
    """Return whether a path is a text file whose first line is a row of column names, or a folder
    of such files."""
    if not (tables := list_tables(path)):
        return False
    try:
        columns = read_columns(tables[0])
    except (FormatError, OSError):
        return False
    return bool(columns.action) or columns.is_header


def stream(
    path: str | Path, obs: Sequence[str] | None = None, action: Sequence[str] | None = None
) -> Stream:
    """Open a file, or a folder of them; `obs` and `action` name columns, in that order."""
    path = Path(path)
    if not (tables := list_tables(path)):
        raise FormatError(f"{path} is not a file; give the path of a CSV file, or a folder of them")
    columns = read_columns(tables[0])
    check_declared(columns, path)
    if obs is None and "obs" in columns.comments:
        obs = texts(columns.comments["obs"])
    columns = replace(
        columns,
        obs_choice=None if obs is None else tuple(obs),
        action_choice=None if action is None else tuple(action),
    )
    _check_choice(columns, path)
    words = text_columns(tables[0], columns) if obs is None else set()
    if numbers := tuple(name for name in columns.obs if name not in words):
        columns = replace(columns, obs_choice=numbers)
    used = set(columns.used_names)
    header = Header(
        action_names=columns.action,
        obs_names=columns.obs,
        obs_keys=tuple((name, 1) for name in columns.obs),
        left_out=(
            *(f"column {c!r}" for c in columns.names if c not in used),
            *(f"comment {comment!r:.60}" for comment in columns.other_comments),
            *other_files(path),
        ),
        source=str(path),
        **declared_facts(columns, path),
    )
    is_folder = path.is_dir()
    raw_episodes = _of_folder(tables, columns) if is_folder else _raw_episodes(path, columns)
    return Stream(header, raw_episodes).choose(obs)


def _of_folder(tables: Sequence[Path], columns: Columns) -> Iterator[RawEpisode]:
    """Yield the episodes of each table; where a table is one episode, that has the file's name."""
    for table in tables:
        try:
            own = alike_columns(table, tables[0], columns)
        except FormatError as error:
            yield unreadable(table.stem, error)
            continue
        for raw in _raw_episodes(table, own):
            is_one = "episode" not in columns.labels
            yield replace(raw, name=table.stem if is_one else f"{table.stem}: {raw.name}")


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


@dataclass
class _OpenEpisode:
    """An episode whose rows are still being read."""

    name: str
    operator: str | None
    error: FormatError | None
    blocks: list[dict[str, Array]] = field(default_factory=list)
    bad_cells: list[BadCell] = field(default_factory=list)
    """The first of them; a file may have millions."""
    bad_count: int = 0

    def add(self, block: _Block) -> None:
        self.blocks.append(block.rows)
        self.bad_cells += block.bad_cells[: SHOWN - len(self.bad_cells)]
        self.bad_count += len(block.bad_cells)

    def raw_episode(self, path: Path, columns: Columns) -> RawEpisode:
        if self.bad_cells:
            return unreadable(self.name, cells_error(path, columns, self.bad_cells, self.bad_count))
        if self.error is not None:
            return unreadable(self.name, self.error)
        values = {key: np.concatenate([b[key] for b in self.blocks]) for key in self.blocks[0]}
        return RawEpisode(
            obs=values["obs"],
            action=values["action"],
            reward=values.get("reward"),
            operator=self.operator,
            name=self.name,
        )


def _raw_episodes(path: Path, columns: Columns) -> Iterator[RawEpisode]:
    current: _OpenEpisode | None = None
    complete: set[str] = set()
    for batch, bad_cells in _batches(path, columns):
        for block in _blocks(batch, bad_cells):
            if current is None or current.name != block.name:
                if current is not None:
                    yield current.raw_episode(path, columns)
                    complete.add(current.name)
                error = _name_error(path, block.name, complete)
                current = _OpenEpisode(block.name, block.operator, error)
            if block.operator != current.operator:
                current.error = FormatError(
                    f"{path}: the operator changes within episode {block.name!r}; split it"
                )
            current.add(block)
    if current is not None:
        yield current.raw_episode(path, columns)


def _name_error(path: Path, name: str, complete: set[str]) -> FormatError | None:
    """Return what is wrong with an episode of this name after those that are complete."""
    if not name:
        return FormatError(f"{path}: a row has no episode; fill in that column in every row")
    if name not in complete:
        return None
    return FormatError(
        f"{path}: episode {name!r} occurs in two separate blocks of rows; sort the rows by episode"
    )


@dataclass(frozen=True)
class _Block:
    """Adjacent rows of one episode and one operator."""

    name: str
    operator: str | None
    rows: dict[str, Array]
    bad_cells: list[BadCell]


def _blocks(batch: dict[str, Any], bad_cells: Sequence[BadCell]) -> Iterator[_Block]:
    """Yield the blocks of rows in which episode and operator stay the same."""
    count, bad_rows = len(batch["action"]), [cell.row for cell in bad_cells]
    ids, operators = (batch.pop(k, np.zeros(count, int)) for k in ("episode", "operator"))
    has_operators = operators.dtype == object
    change = (ids[1:] != ids[:-1]) | (operators[1:] != operators[:-1])
    starts = [0, *(np.flatnonzero(change) + 1).tolist()] if count else []
    for start, end in zip(starts, [*starts[1:], count], strict=False):
        name = "" if ids[start] in (None, "") else episode_name(ids[start])
        operator = (operators[start] or None) if has_operators else None
        rows = {key: values[start:end] for key, values in batch.items()}
        first, last = (bisect_left(bad_rows, row) for row in (start, end))
        yield _Block(name, operator, rows, list(bad_cells[first:last]))


def _batches(path: Path, columns: Columns) -> Iterator[tuple[dict[str, Any], list[BadCell]]]:
    """Yield a few thousand rows at a time: obs and action (T, …), and the labels that exist.

    From the first rows with a cell that is not a number, the file is read cell by cell.
    """
    import pyarrow as pa

    count = 0
    try:
        for batch in _arrow_batches(path, columns):
            values = {c: batch.column(c).to_numpy(zero_copy_only=False) for c in columns.used_names}
            yield _joined(values, columns), []
            count += batch.num_rows
        return
    except pa.ArrowException:
        pass
    except OSError as error:
        raise FormatError(f"{path} cannot be read ({reason(error)}); copy it again") from None
    for values, bad_cells in read_cells(path, columns, count):
        yield _joined(values, columns), bad_cells


def _joined(values: dict[str, Any], columns: Columns) -> dict[str, Any]:
    """Return columns as obs and action (T, …), and the labels that exist."""
    labels = {key: values[c] for key, c in columns.labels.items()}
    return labels | {
        key: np.column_stack([values[c] for c in names])
        for key, names in (("obs", columns.obs), ("action", columns.action))
    }


def _arrow_batches(path: Path, columns: Columns) -> Iterator[Any]:
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    text = [c for key, c in columns.labels.items() if key != "reward"]
    types = {c: pa.string() if c in text else pa.float64() for c in columns.used_names}
    with path.open("rb") as source:
        yield from arrow_csv.open_csv(
            source,
            read_options=arrow_csv.ReadOptions(
                column_names=columns.names, skip_rows=columns.first_line - 1, use_threads=False
            ),
            parse_options=arrow_csv.ParseOptions(delimiter=columns.delimiter),
            convert_options=arrow_csv.ConvertOptions(
                column_types=types, include_columns=list(columns.used_names)
            ),
        )
