"""Damage to Parquet and Arrow files: columns, types, rows, metadata and compression."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from attack.mutators.raw_bytes import change_bytes

_ERRORS = (pa.ArrowException, ValueError, TypeError, OSError, KeyError)
_KINDS = (
    "drop", "rename", "twice", "type", "type", "type", "rows", "more", "none", "order", "type",
    "case",
)  # fmt: skip
_NAMES = ("x", "", "a.b", "é", "action")
_METADATA = (None, {"a": "b"}, {b"huggingface": b"\xff"}, {"ARROW:schema": "AAAA"})
_METADATA_SHARE = 0.3

_COLUMNS: dict[str, Callable[[int], pa.Array]] = {
    "null": pa.nulls,
    "string": lambda n: pa.array(["x"] * n),
    "binary": lambda n: pa.array([b"\xff\x00"] * n),
    "half": lambda n: pa.array(np.zeros(n, np.float16)),
    "decimal": lambda n: pa.array([1] * n, pa.decimal128(10, 2)),
    "time": lambda n: pa.array([0] * n, pa.timestamp("ns")),
    "large list": lambda n: pa.array([[1.0, 2.0]] * n, pa.large_list(pa.float64())),
    "struct": lambda n: pa.array([{"a": 1.0, "bytes": b"x"}] * n),
    "dictionary": lambda n: pa.array(["a"] * n).dictionary_encode(),
    "nan": lambda n: pa.array(np.full(n, np.nan)),
    "inf": lambda n: pa.array(np.full(n, np.inf)),
    "huge": lambda n: pa.array(np.full(n, 1e300)),
    "minus": lambda n: pa.array([-1] * n),
    "bool": lambda n: pa.array([True] * n),
    "uint64": lambda n: pa.array([2**64 - 1] * n, pa.uint64()),
    "nested": lambda n: pa.array([[[1.0, 2.0], [3.0, 4.0]]] * n),
    "empty": lambda n: pa.array([[]] * n, pa.list_(pa.float32())),
    "view": lambda n: pa.array([[1.0]] * n, pa.list_view(pa.float32())),
    "map": lambda n: pa.array([[("a", 1)]] * n, pa.map_(pa.string(), pa.int32())),
}
"""Columns of `n` rows whose type or values a reader may not expect."""


def change_parquet(rng: random.Random, path: Path) -> str:
    """Change the table of a Parquet file, and how it is stored."""
    try:
        table = pq.ParquetFile(path).read()
        kinds = []
        for _ in range(rng.choice([1, 1, 2])):
            table, kind = _change_table(rng, table)
            kinds.append(kind)
        if rng.random() < _METADATA_SHARE:
            table = table.replace_schema_metadata(rng.choice(_METADATA))
        pq.write_table(
            table,
            path,
            row_group_size=rng.choice([None, 1, 2, 3]),
            compression=rng.choice(["snappy", "gzip", "zstd", "none", "lz4"]),
            use_dictionary=rng.random() < 0.5,
            data_page_version=rng.choice(["1.0", "2.0"]),
        )
    except _ERRORS:
        return change_bytes(rng, path)
    return "parquet:" + "+".join(kinds)


def change_arrow(rng: random.Random, path: Path) -> str:
    """Change the table of an Arrow file, and its compression."""
    try:
        with pa.OSFile(str(path)) as source:
            table, kind = _change_table(rng, pa.ipc.open_file(source).read_all())
        options = pa.ipc.IpcWriteOptions(compression=rng.choice([None, "lz4", "zstd"]))
        with (
            pa.OSFile(str(path), "wb") as sink,
            pa.ipc.new_file(sink, table.schema, options=options) as writer,
        ):
            writer.write_table(table)
    except _ERRORS:
        return change_bytes(rng, path)
    return f"arrow:{kind}"


def _change_table(rng: random.Random, table: pa.Table) -> tuple[pa.Table, str]:
    names, kind = table.column_names, rng.choice(_KINDS)
    if not names:
        return table, kind
    i = rng.randrange(len(names))
    if kind == "drop":
        table = table.drop_columns([names[i]])
    elif kind == "rename":
        fresh = rng.choice(_NAMES)
        table = table.rename_columns([fresh if j == i else n for j, n in enumerate(names)])
    elif kind == "twice":
        table = table.append_column(names[i], table.column(i))
    elif kind == "type":
        table = table.set_column(i, names[i], _column(rng, table.column(i)))
    elif kind == "rows":
        table = table.slice(rng.randint(0, len(table)), rng.randint(0, len(table)))
    elif kind == "more":
        table = pa.concat_tables([table] * rng.randint(2, 3))
    elif kind == "none":
        table = table.slice(0, 0)
    elif kind == "order":
        order = list(range(len(names)))
        rng.shuffle(order)
        table = table.select(order)
    else:
        table = table.rename_columns([name.upper() for name in names])
    return table, kind


def _column(rng: random.Random, column: pa.ChunkedArray) -> pa.Array:
    rows, kind = len(column), rng.choice([*_COLUMNS, "ragged", "fixed", "null row"])
    if kind == "ragged":
        lists = [[1.0] * rng.randint(0, 4) for _ in range(rows)]
        return pa.array(lists, pa.list_(pa.float32()))
    if kind == "fixed":
        width = rng.randint(1, 5)
        return pa.FixedSizeListArray.from_arrays(pa.array(np.zeros(rows * width, "f4")), width)
    if kind == "null row" and rows:
        values = column.to_pylist()
        values[rng.randrange(rows)] = None
        return pa.array(values, column.type)
    return _COLUMNS.get(kind, pa.nulls)(rows)
