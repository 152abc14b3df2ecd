"""What every Parquet format needs: footers checked first, rows by and by, files that roll."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from counterbc.data.episode import Array
from counterbc.errors import FormatError

_BATCH = 4096  # rows read at once
_FILES = 1000  # files in a chunk folder, as LeRobot has it
_MANY = 2**20  # rows from which on a file is asked how it holds so many
_DENSE = 64  # rows in a byte: recorded numbers never come near it, made-up ones can go far beyond


@contextmanager
def opened(path: Path) -> Iterator[pq.ParquetFile]:
    """A Parquet file to read; whatever is wrong with it is said in one sentence."""
    try:
        with path.open("rb") as source, pq.ParquetFile(source, pre_buffer=False) as file:
            yield file
    except FileNotFoundError:
        raise FormatError(f"{path} is missing; copy or download the dataset again") from None
    except PermissionError:
        raise FormatError(f"{path} may not be read; check its permissions") from None
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        reason = str(error).split("\n")[0].strip()
        raise FormatError(
            f"{path} cannot be read, it may be cut short or damaged ({reason}); "
            "copy or download it again"
        ) from error


def spans(
    path: Path, widths: Mapping[str, int | None], rows: int, ranges: Sequence[tuple[int, int]]
) -> Iterator[pa.Table]:
    """The rows of each range [start, stop), which rise; memory holds one range and one batch.

    `widths` says how many numbers a row of each column holds (None: any). The footer must agree
    with it and with `rows` before anything is read: a small file can claim to be endless.
    """
    with opened(path) as file:
        _check_footer(file, path, widths, rows)
        batches = file.iter_batches(_BATCH, columns=list(widths), use_threads=False)
        held, first = file.schema_arrow.empty_table().select(list(widths)), 0
        for start, stop in ranges:
            parts, row = [], start
            while row < stop:
                if first <= row < first + len(held):
                    parts.append(held.slice(row - first, stop - row))
                    row += len(parts[-1])
                elif (batch := next(batches, None)) is not None:
                    first += len(held)
                    held = pa.Table.from_batches([batch]).select(list(widths))
                else:
                    break
            yield pa.concat_tables(parts or [held.slice(0, 0)])


def table(path: Path, rows: int | None = None, columns: Sequence[str] | None = None) -> pa.Table:
    """A small file whole, with those of `columns` that it has."""
    with opened(path) as file:
        if rows is not None:
            _check_footer(file, path, {}, rows)
        names = file.schema_arrow.names
        wanted = names if columns is None else [c for c in columns if c in names]
        return file.read(wanted, use_threads=False).select(wanted)


def count(path: Path) -> int:
    """How many rows a file says it has."""
    with opened(path) as file:
        return int(file.metadata.num_rows)


def _check_footer(
    file: pq.ParquetFile, path: Path, widths: Mapping[str, int | None], rows: int
) -> None:
    found = file.metadata.num_rows
    if found != rows:
        raise FormatError(
            f"{path} has {found} rows; the dataset's metadata say {rows}; "
            "copy or download the dataset again"
        )
    if rows > _MANY and rows > _DENSE * (size := path.stat().st_size):
        raise FormatError(f"{path} claims {rows} rows in {size} bytes; no recording is so dense")
    missing = [name for name in widths if name not in file.schema_arrow.names]
    if missing:
        raise FormatError(
            f"{path} has no column {missing[0]}; it has {', '.join(file.schema_arrow.names)}"
        )
    for name, width in widths.items():
        if width is not None and (values := _count_values(file, name)) != rows * width:
            raise _ragged(path, name, f"{values} numbers in {rows} rows", width)


def _count_values(file: pq.ParquetFile, name: str) -> int:
    """How many numbers a column holds, as the footer says."""
    place = file.schema_arrow.names.index(name)
    first = sum(_leaves(file.schema_arrow.field(i).type) for i in range(place))
    total = 0
    for group in range(file.metadata.num_row_groups):
        # pyarrow ends the process where a damaged footer is asked for a column that was not opened.
        next(file.iter_batches(1, [group], [name], use_threads=False), None)
        total += file.metadata.row_group(group).column(first).num_values
    return total


def _leaves(kind: pa.DataType) -> int:
    """How many columns of numbers Parquet keeps for a type."""
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


def numbers(column: pa.ChunkedArray | pa.Array, width: int, what: str, path: Path) -> Array:
    """A column of numbers, lists or lists of lists, `width` numbers a row: (T, width)."""
    array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    rows = len(array)
    if isinstance(array, pa.ExtensionArray):
        array = array.storage
    while _is_list(array.type) and not array.null_count:
        lengths = pc.list_value_length(array).to_numpy(zero_copy_only=False)
        if len(lengths) and (lengths != lengths[0]).any():
            found = f"rows of {lengths.min()} to {lengths.max()} numbers"
            raise _ragged(path, what, found, width)
        array = array.flatten()
    if array.null_count:
        raise FormatError(
            f"{path}: {what} has {array.null_count} empty values; fill or remove them"
        )
    if not (
        pa.types.is_integer(array.type)
        or pa.types.is_floating(array.type)
        or pa.types.is_boolean(array.type)
    ):
        raise FormatError(
            f"{path}: {what} holds values of type {array.type}; only numbers are read"
        )
    if len(array) != rows * width:
        raise _ragged(path, what, f"{len(array)} numbers in {rows} rows", width)
    return np.asarray(array.to_numpy(zero_copy_only=False)).reshape(rows, width)


def _ragged(path: Path, what: str, found: str, width: int) -> FormatError:
    return FormatError(f"{path}: {what} has {found}; expected {width} in every row")


class Rolling:
    """Parquet files chunk-000/file-000.parquet, …, a new one when a file has grown large.

    Each `write` is one row group, as LeRobot has one per episode.
    """

    def __init__(self, folder: Path, schema: pa.Schema, megabytes: float) -> None:
        self._folder, self._schema, self._most = folder, schema, megabytes * 2**20
        self._number = -1
        self._sink: Any = None
        self._writer: Any = None

    def __enter__(self) -> Rolling:
        return self

    def __exit__(self, failure: type[BaseException] | None, *_: object) -> None:
        if failure is None:
            self.close()
        else:  # nothing of it will remain: only let go of the file
            with suppress(OSError, pa.ArrowException):
                self.close()

    def place(self) -> tuple[int, int]:
        """The chunk and the file that the next table goes to."""
        if self._writer is None or self._sink.tell() >= self._most:
            self.close()
            self._number += 1
            chunk, file = divmod(self._number, _FILES)
            folder = self._folder / f"chunk-{chunk:03d}"
            folder.mkdir(parents=True, exist_ok=True)
            self._sink = pa.OSFile(str(folder / f"file-{file:03d}.parquet"), "wb")
            self._writer = pq.ParquetWriter(self._sink, self._schema, compression="snappy")
        return divmod(self._number, _FILES)

    def write(self, table: pa.Table) -> None:
        self.place()
        self._writer.write_table(table, row_group_size=max(len(table), 1))

    def close(self) -> None:
        """Write the footer, without which a file is lost."""
        if self._writer is not None:
            self._writer.close()
            self._sink.close()
            self._writer = None
