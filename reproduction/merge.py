"""Adds the rows of further runs to those on file, so that a study can be computed in parts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from counterbc.errors import FormatError, OptionError, unknown
from reproduction.options import RESULTS, option
from reproduction.records import (
    ROWS_FILE,
    UNFINISHED_FILE,
    Record,
    read,
    read_parquet,
    read_rows,
    write_rows,
)
from reproduction.studies import STUDIES, load_study


@dataclass(frozen=True, kw_only=True)
class MergeOptions:
    """Add rows of further runs of a study to its rows on file."""

    results: Path = option(RESULTS, "folder of the rows on file")


def merge(study: str, paths: Sequence[Path], options: MergeOptions) -> None:
    """Add the rows of these files, or in these folders of studies; print the count.

    A study that was stopped has rows.json alone. One beside the rows on file is added too, and then
    removed: the study would resume after it and not see the rows that were merged.
    """
    key = _key(study)
    folder = options.results / study
    rows = read_rows(folder)
    before = len(rows)
    unfinished = folder / UNFINISHED_FILE
    for path in [*paths, *([unfinished] if unfinished.exists() else [])]:
        file = path
        if path.is_dir():
            file = path / (ROWS_FILE if (path / ROWS_FILE).exists() else UNFINISHED_FILE)
        further = read(file) if file.suffix == ".json" else read_parquet(file)
        rows = add_rows(rows, further, key, file)
    write_rows(rows, folder)
    unfinished.unlink(missing_ok=True)
    print(f"{len(rows) - before} rows added to the {before} in {folder / ROWS_FILE}")


def add_rows(
    rows: list[Record], further: list[Record], key: tuple[str, ...], file: Path
) -> list[Record]:
    """Return the rows with those of `further` whose key is new.

    Each seed of a report is computed once, so a row on file is never replaced.
    """
    if missing := [name for name in key if further and name not in further[0]]:
        raise FormatError(
            f"{file} has no column {', '.join(missing)}; give the rows.parquet of the same study"
        )
    by_key = {_values(row, key): row for row in rows}
    for row in further:
        by_key.setdefault(_values(row, key), row)
    return list(by_key.values())


def _values(row: Record, key: tuple[str, ...]) -> tuple[Any, ...]:
    return tuple(row[name] for name in key)


def _key(study: str) -> tuple[str, ...]:
    """Return the columns that tell the rows of a study apart."""
    if study not in STUDIES:
        raise unknown("study", study, STUDIES)
    key: tuple[str, ...] = getattr(load_study(study), "KEY", ())
    if not key:
        raise OptionError(
            f"the rows of {study} cannot be merged; run it with --out at the folder of its "
            "earlier results"
        )
    return key
