"""Parquet files: check the footer before reading, read in batches, and write rolling files."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from counterbc.data.arrays import Array
from counterbc.errors import FormatError
from counterbc.formats.guard import dataset_file
from counterbc.formats.untrusted import check_size

_BATCH = 4096  # rows per read
_FEW = 64  # rows per read of texts and images, which may be long
_FILES = 1000  # files per chunk folder, as in LeRobot
_MANY = 2**20  # rows above which the size of the file must be plausible
_DENSE = 64  # rows per byte: recorded numbers never come near it, false footers do


@contextmanager
def open_file(path: Path) -> Iterator[pq.ParquetFile]:
    """Open a Parquet file to read; errors of the library become a `FormatError`."""
    with (
        dataset_file(path, pa.ArrowException),
        path.open("rb") as source,
        pq.ParquetFile(source, pre_buffer=False, page_checksum_verification=True) as file,
    ):
        yield file


def write(rows: pa.Table, path: Path, **options: Any) -> None:
    """Write a table to a path, which need not be UTF-8, as pyarrow requires."""
    with path.open("wb") as file:
        pq.write_table(rows, file, **options)


def read(path: Path) -> pa.Table:
    """Read a file of our own as a whole, from a path that need not be UTF-8."""
    with path.open("rb") as file:
        return pq.read_table(file)


def spans(
    path: Path, widths: Mapping[str, int | None], rows: int, ranges: Sequence[tuple[int, int]]
) -> Iterator[pa.Table]:
    """Yield the rows of each range [start, stop); ranges increase.

    Memory holds one range and one batch. `widths` is how many numbers a row of each column holds
    (None: any). The footer must agree with it and with `rows` before anything is read, since a
    small file can claim to have any number of rows.
    """
    with open_file(path) as file:
        _check_footer(file, path, widths, rows)
        texts = any(width is None for width in widths.values())
        batches = file.iter_batches(
            _FEW if texts else _BATCH, columns=list(widths), use_threads=False
        )
        batch_table, first = file.schema_arrow.empty_table().select(list(widths)), 0
        for start, stop in ranges:
            parts, row = [], start
            while row < stop:
                if first <= row < first + len(batch_table):
                    parts.append(batch_table.slice(row - first, stop - row))
                    row += len(parts[-1])
                elif (batch := next(batches, None)) is not None:
                    first += len(batch_table)
                    batch_table = pa.Table.from_batches([batch]).select(list(widths))
                else:
                    break
            yield pa.concat_tables(parts or [batch_table.slice(0, 0)])


def table(path: Path, rows: int | None = None, columns: Sequence[str] | None = None) -> pa.Table:
    """Read a small file as a whole, with those of `columns` that it has."""
    with open_file(path) as file:
        if rows is not None:
            _check_footer(file, path, {}, rows)
        names = _names(file, path)
        if columns is not None:
            names = [c for c in columns if c in names]
        schema, batches, size = file.schema_arrow, [], 0
        for batch in file.iter_batches(_FEW, columns=names, use_threads=False):
            batch = _decode(batch, path)
            size += batch.nbytes  # one long text may be stored once for all rows
            check_size(str(path), size, path.stat().st_size)
            batches.append(batch)
        fields = pa.schema([schema.field(name) for name in names])
        whole = pa.Table.from_batches(batches) if batches else fields.empty_table()
        return whole.select(names)


def _decode(batch: pa.RecordBatch, path: Path) -> pa.RecordBatch:
    """Return a batch with a text in every row, where texts are stored once for many rows."""
    columns = []
    for field, column in zip(batch.schema, batch.columns, strict=True):
        if _is_list(field.type) and pa.types.is_dictionary(field.type.value_type):
            raise FormatError(
                f"{path}: {field.name} is a list of texts in a dictionary; store plain texts"
            )
        is_dictionary = pa.types.is_dictionary(field.type)
        columns.append(column.dictionary_decode() if is_dictionary else column)
    return pa.RecordBatch.from_arrays(columns, names=batch.schema.names)


def names(path: Path) -> list[str]:
    """Return the names of the columns of a file."""
    with open_file(path) as file:
        return _names(file, path)


def count(path: Path) -> int:
    """Return the number of rows that the footer of a file declares."""
    with open_file(path) as file:
        return int(file.metadata.num_rows)


def _check_footer(
    file: pq.ParquetFile, path: Path, widths: Mapping[str, int | None], rows: int
) -> None:
    row_count = file.metadata.num_rows
    if row_count != rows:
        raise FormatError(
            f"{path} has {row_count} rows; the metadata of the dataset say {rows}; "
            "copy or download the dataset again"
        )
    if rows > _MANY and rows > _DENSE * (size := path.stat().st_size):
        raise FormatError(
            f"{path} claims {rows:,} rows in {size:,} bytes, which is impossible for "
            "recorded data; copy or download the dataset again"
        )
    names = _names(file, path)
    for name in widths:
        if name not in names:
            raise FormatError(
                f"{path} has no column {name}; it has {', '.join(names)}; "
                "copy or download the dataset again"
            )
    size = 8 * rows * sum(width or 0 for width in widths.values())
    check_size(str(path), size, path.stat().st_size)
    for name, width in widths.items():
        if width is not None and (values := _count_values(file, name)) != rows * width:
            raise _ragged(path, name, f"{values} numbers in {rows} rows", width)


def _names(file: pq.ParquetFile, path: Path) -> list[str]:
    """Return the names of the columns, which must differ."""
    names: list[str] = file.schema_arrow.names
    if len(set(names)) < len(names):
        twice = next(n for i, n in enumerate(names) if n in names[:i])
        raise FormatError(f"{path} has two columns named {twice!r:.80}; rename or remove one")
    return names


def _count_values(file: pq.ParquetFile, name: str) -> int:
    """Return how many numbers a column holds according to the footer."""
    position = file.schema_arrow.names.index(name)
    first = sum(_leaves(file.schema_arrow.field(i).type) for i in range(position))
    total = 0
    for group in range(file.metadata.num_row_groups):
        # pyarrow aborts the process if a damaged footer is queried for a column not yet opened.
        next(file.iter_batches(1, [group], [name], use_threads=False), None)
        total += file.metadata.row_group(group).column(first).num_values
    return total


def _leaves(kind: pa.DataType) -> int:
    """Return how many columns of numbers Parquet stores for a type."""
    if isinstance(kind, pa.BaseExtensionType):
        return _leaves(kind.storage_type)
    if pa.types.is_map(kind):
        return _leaves(kind.key_type) + _leaves(kind.item_type)
    if pa.types.is_struct(kind):
        return sum(_leaves(kind.field(i).type) for i in range(kind.num_fields))
    return _leaves(kind.value_type) if _is_list(kind) else 1


def _is_list(kind: pa.DataType) -> bool:
    return bool(
        pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind)
    )


def numbers(column: pa.ChunkedArray | pa.Array, width: int, label: str, path: Path) -> Array:
    """Return a column of numbers or (nested) lists with `width` numbers per row as (T, width)."""
    array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    rows = len(array)
    if isinstance(array, pa.ExtensionArray):
        array = array.storage
    while _is_list(array.type) and not array.null_count:
        lengths = pc.list_value_length(array).to_numpy(zero_copy_only=False)
        if len(lengths) and (lengths != lengths[0]).any():
            sizes = f"rows of {lengths.min()} to {lengths.max()} numbers"
            raise _ragged(path, label, sizes, width)
        array = array.flatten()
    if array.null_count:
        raise FormatError(
            f"{path}: {label} has {array.null_count} empty values; fill or remove them"
        )
    if not (
        pa.types.is_integer(array.type)
        or pa.types.is_floating(array.type)
        or pa.types.is_boolean(array.type)
    ):
        raise FormatError(
            f"{path}: {label} holds values of type {array.type}; only numbers can be read; "
            "convert the column"
        )
    if len(array) != rows * width:
        raise _ragged(path, label, f"{len(array)} numbers in {rows} rows", width)
    return np.asarray(array.to_numpy(zero_copy_only=False)).reshape(rows, width)


def _ragged(path: Path, label: str, sizes: str, width: int) -> FormatError:
    return FormatError(
        f"{path}: {label} has {sizes}; expected {width} in every row; repair the column"
    )


class Rolling:
    """A series of Parquet files chunk-000/file-000.parquet, …; a full file is followed by the next.

    Each `write` makes one row group; LeRobot has one per episode.
    """

    def __init__(self, folder: Path, schema: pa.Schema, megabytes: float) -> None:
        self._folder, self._schema, self._max_bytes = folder, schema, megabytes * 2**20
        self._number = -1
        self._sink: Any = None
        self._writer: Any = None

    def __enter__(self) -> Rolling:
        return self

    def __exit__(self, failure: type[BaseException] | None, *_: object) -> None:
        if failure is None:
            self.close()
        else:  # the caller deletes the files: only close this one
            with suppress(OSError, pa.ArrowException):
                self.close()

    def next_file(self) -> tuple[int, int]:
        """Return the numbers of the chunk and the file that the next table goes to."""
        if self._writer is None or self._sink.tell() >= self._max_bytes:
            self.close()
            self._number += 1
            chunk, file = divmod(self._number, _FILES)
            folder = self._folder / f"chunk-{chunk:03d}"
            folder.mkdir(parents=True, exist_ok=True)
            self._sink = pa.OSFile(os.fsencode(folder / f"file-{file:03d}.parquet"), "wb")
            self._writer = pq.ParquetWriter(
                self._sink, self._schema, compression="snappy", write_page_checksum=True
            )
        return divmod(self._number, _FILES)

    def write(self, table: pa.Table) -> None:
        self.next_file()
        self._writer.write_table(table, row_group_size=max(len(table), 1))

    def close(self) -> None:
        """Write the footer, without which the file cannot be read."""
        if self._writer is not None:
            self._writer.close()
            self._sink.close()
            self._writer = None
