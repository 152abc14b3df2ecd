"""Folders that hold one CSV file per trial."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from counterbc.data.names import shorten
from counterbc.errors import FormatError
from counterbc.files import Guard, check_regular
from counterbc.formats.csv_columns import Columns, read_columns
from counterbc.formats.untrusted import MAX_EPISODES, check_at_most

_TABLES = (".csv", ".tsv")
_OTHER_DATA = (".hdf5", ".h5", ".npz", ".npy", ".parquet", ".pkl", ".mat", ".mcap", ".json")


def list_tables(path: Path) -> list[Path]:
    """Return the tables of a dataset in natural order: a file itself, or those in a folder.

    A folder with folders or other data in it has none.
    """
    if path.is_file():
        return [path]
    if not path.is_dir():
        return []
    with Guard(path):
        entries = [p for p in path.iterdir() if not p.name.startswith(".")]
        if any(p.suffix.lower() in _OTHER_DATA or p.is_dir() for p in entries):
            return []
    tables = [p for p in entries if p.suffix.lower() in _TABLES]
    check_at_most(str(path), len(tables), MAX_EPISODES, "tables")
    return sorted(tables, key=lambda p: _natural(p.name))


def other_files(path: Path) -> tuple[str, ...]:
    """Return the names of files in a folder that are no tables."""
    if not path.is_dir():
        return ()
    tables = {p.name for p in list_tables(path)}
    return tuple(sorted(f"file {p.name!r}" for p in path.iterdir() if p.name not in tables))


def alike_columns(table: Path, first: Path, columns: Columns) -> Columns:
    """Return the columns of one more table, which must be those of the first table."""
    check_regular(table)
    own = read_columns(table)
    if (own.names, own.delimiter) != (columns.names, columns.delimiter):
        raise FormatError(
            f"{table} has the columns {shorten(own.names, 12)}, but {first.name} has "
            f"{shorten(columns.names, 12)}; give all tables the same row of column names"
        )
    if own.comments != columns.comments:
        raise FormatError(
            f"the comments of {table} declare something else than those of {first.name}; make "
            "them equal"
        )
    return replace(columns, first_line=own.first_line)


def _natural(name: str) -> list[tuple[int, str]]:
    """Return a key that sorts trial_2 before trial_10."""
    words: Sequence[str] = re.split(r"(\d+)", name)
    return [(int(word[:18]) if word.isdecimal() else -1, word) for word in words]
