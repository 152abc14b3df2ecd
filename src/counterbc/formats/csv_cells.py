"""Read a CSV file cell by cell, where it has cells that are not numbers.

This is slower than reading columns, and tells each bad cell with its line.
"""

from __future__ import annotations

import csv
import re
import shlex
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from counterbc.errors import FormatError
from counterbc.files import Guard
from counterbc.formats.csv_columns import Columns

_ROWS = 4096  # that are read at a time
SHOWN = 4
"""Bad cells of an episode that are listed."""
_FIRST_ROWS = 100  # that tell a column of text
_FEW = 8  # columns that are worth naming
_DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+")
_MISSING = {
    "", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN",
    "N/A", "NA", "NULL", "NaN", "n/a", "nan", "null",
}  # fmt: skip


@dataclass(frozen=True)
class BadCell:
    """A cell that is not a number, or a row with too few or too many cells."""

    row: int
    """The row among those that are read at a time."""
    line: int
    """The line of the file, from 1."""
    column: str | None
    """None for a row with a wrong number of cells."""
    text: str

    def __str__(self) -> str:
        if self.column is None:
            return f"line {self.line} has {self.text}"
        return f"line {self.line}, column {self.column!r:.60} holds {self.text!r:.60}"


def read_cells(
    path: Path, columns: Columns, skip: int
) -> Iterator[tuple[dict[str, Any], list[BadCell]]]:
    """Yield the values of the used columns and the bad cells, some rows at a time.

    `skip` is the number of rows that were read already. A bad cell is NaN.
    """
    with Guard(path), path.open(encoding="utf-8-sig", errors="replace", newline="") as file:
        above = columns.first_line - 1
        for _ in range(above):
            file.readline()
        reader = csv.reader(file, delimiter=columns.delimiter)
        rows = ((above + reader.line_num, row) for row in reader if row)
        for _ in islice(rows, skip):
            pass
        last: list[str] = ["0"] * len(columns.names)
        while block := list(islice(rows, _ROWS)):
            bad = _fill_rows(block, columns, last)
            last = block[-1][1]
            values = _values(block, columns, bad)
            yield values, bad


def text_columns(path: Path, columns: Columns) -> set[str]:
    """Return the columns of the observation that hold only words in the first rows."""
    numbers: set[str] = set()
    words: Counter[str] = Counter()
    with Guard(path), path.open(encoding="utf-8-sig", errors="replace", newline="") as file:
        lines = islice(file, columns.first_line - 1, columns.first_line - 1 + _FIRST_ROWS)
        for row in csv.reader(lines, delimiter=columns.delimiter):
            cells = zip(columns.names, row, strict=False)
            for name, cell in ((n, c.strip()) for n, c in cells if c not in _MISSING):
                is_number = _number(cell) is not None or _DECIMAL_COMMA.fullmatch(cell)
                (numbers if is_number else words).update([name])
    return {name for name in columns.obs if words[name] > 1 and name not in numbers}


def cells_error(path: Path, columns: Columns, bad: Sequence[BadCell], count: int) -> FormatError:
    """Return the refusal of an episode with `count` bad cells, of which `bad` are the first."""
    first, more = bad[0], [str(cell) for cell in bad[1:SHOWN]]
    if count > SHOWN:
        more.append(f"{count - SHOWN} more")
    also = f" (also {'; '.join(more)})" if more else ""
    if first.column is None:
        names = len(columns.names)
        return FormatError(
            f"{path}: {first}, but the row of column names has {names}{also}; correct that line"
        )
    return FormatError(f"{path}: {first}, which is not a number{also}; {_step(first, columns)}")


def _step(cell: BadCell, columns: Columns) -> str:
    if _DECIMAL_COMMA.fullmatch(cell.text.strip()):
        return "write decimals with a point"
    others = [name for name in columns.obs if name != cell.column]
    if cell.column not in columns.obs or not others:
        return "correct that cell, or choose other columns with --obs and --action"
    if len(others) > _FEW:
        return "correct that cell, or leave its column out by naming the others with --obs"
    words = shlex.join(word for name in others for word in ("--obs", name))
    return f"correct that cell, or leave its column out with {words}"


def _fill_rows(
    block: list[tuple[int, list[str]]], columns: Columns, last: list[str]
) -> list[BadCell]:
    """Replace rows with a wrong number of cells by empty ones of the same episode."""
    bad, count = [], len(columns.names)
    labels = [columns.names.index(c) for k, c in columns.labels.items() if k != "reward"]
    for i, (line, row) in enumerate(block):
        if len(row) != count:
            bad.append(BadCell(i, line, None, f"{len(row)} cells"))
            filled = [""] * count
            for label in labels:
                filled[label] = row[label] if label < len(row) else last[label]
            block[i] = (line, filled)
        last = block[i][1]
    return bad


def _values(
    block: list[tuple[int, list[str]]], columns: Columns, bad: list[BadCell]
) -> dict[str, Any]:
    """Return the values by column, numbers where they are needed; bad cells are added."""
    texts = {c for k, c in columns.labels.items() if k != "reward"}
    values: dict[str, Any] = {}
    places = {name: i for i, name in enumerate(columns.names)}
    for name in columns.used_names:
        index = places[name]
        cells = [row[index] for _, row in block]
        if name in texts:
            values[name] = np.array(cells, object)
            continue
        values[name] = np.full(len(cells), np.nan)
        for i, cell in enumerate(cells):
            if (number := _number(cell)) is None:
                bad.append(BadCell(i, block[i][0], name, cell))
            else:
                values[name][i] = number
    bad.sort(key=lambda cell: cell.line)
    return values


def _number(cell: str) -> float | None:
    """Return the number in a cell, NaN for a missing one, or None for text."""
    if cell in _MISSING:
        return np.nan
    try:
        return None if "_" in cell else float(cell)
    except ValueError:
        return None
