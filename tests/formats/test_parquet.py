from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from counterbc.errors import FormatError
from counterbc.formats import parquet
from counterbc.formats.parquet import Rolling


def table_file(path: Path, rows: int = 10) -> Path:
    values = np.arange(2.0 * rows)
    pairs = pa.FixedSizeListArray.from_arrays(pa.array(values), 2)
    pq.write_table(pa.table({"index": np.arange(rows), "pair": pairs}), path)
    return path


def test_ranges_are_read_across_batches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet, "_BATCH", 3)
    path = table_file(tmp_path / "a.parquet")
    tables = parquet.spans(path, {"index": 1}, 10, [(0, 2), (2, 2), (4, 9)])
    assert [t["index"].to_pylist() for t in tables] == [[0, 1], [], [4, 5, 6, 7, 8]]


@pytest.mark.parametrize(
    ("widths", "rows", "message"),
    [
        ({"index": 1}, 11, "has 10 rows; the metadata of the dataset say 11; copy or download"),
        ({"other": 1}, 10, "has no column other; it has index, pair"),
        ({"pair": 3}, 10, "pair has 20 numbers in 10 rows; expected 3 in every row"),
    ],
)
def test_a_footer_that_disagrees_is_refused(
    widths: dict[str, int | None], rows: int, message: str, tmp_path: Path
) -> None:
    path = table_file(tmp_path / "a.parquet")
    with pytest.raises(FormatError, match=message):
        next(parquet.spans(path, widths, rows, [(0, 1)]))


def test_more_rows_than_declared_are_refused_before_they_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def read(*_: object, **__: object) -> None:
        raise AssertionError("data were read")

    path = table_file(tmp_path / "a.parquet", 2_000)
    monkeypatch.setattr(pq.ParquetFile, "iter_batches", read)
    with pytest.raises(FormatError, match="has 2000 rows; the metadata of the dataset say 5"):
        next(parquet.spans(path, {"index": 1}, 5, [(0, 5)]))


def test_more_rows_than_the_bytes_could_hold_are_refused(tmp_path: Path) -> None:
    rows, path = 3_000_000, tmp_path / "a.parquet"
    zeros = pa.table({"action": pa.nulls(rows, pa.float32()).fill_null(0)})
    pq.write_table(zeros, path, compression="zstd")
    assert path.stat().st_size < rows / 64
    with pytest.raises(FormatError, match=r"claims 3,000,000 rows in [\d,]+ bytes"):
        next(parquet.spans(path, {"action": 1}, rows, [(0, rows)]))


@pytest.mark.parametrize("size", [0, 4, 100, -1, -4])
def test_an_incomplete_file_is_refused(size: int, tmp_path: Path) -> None:
    path = table_file(tmp_path / "a.parquet")
    path.write_bytes(path.read_bytes()[:size])
    with pytest.raises(FormatError, match="cannot be read; it may be incomplete or damaged"):
        parquet.count(path)


def test_a_small_table_has_only_the_columns_that_exist(tmp_path: Path) -> None:
    path = table_file(tmp_path / "a.parquet", 2)
    assert parquet.count(path) == 2
    assert parquet.table(path, columns=["pair", "none"]).to_pydict() == {"pair": [[0, 1], [2, 3]]}
    with pytest.raises(FormatError, match="is missing; copy or download"):
        parquet.table(tmp_path / "b.parquet")


def test_nested_lists_become_rows_of_numbers() -> None:
    column = pa.chunked_array([pa.array([[[1, 2], [3, 4]]]), pa.array([[[5, 6], [7, 8]]])])
    rows = parquet.numbers(column, 4, "grid", Path("a"))
    assert rows.tolist() == [[1, 2, 3, 4], [5, 6, 7, 8]]
    assert parquet.numbers(pa.array([True, False]), 1, "done", Path("a")).tolist() == [[1], [0]]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([[1.0], [1.0, 2.0]], "x has rows of 1 to 2 numbers; expected 2 in every row"),
        ([[1.0, 2.0], [1.0, None]], "x has 1 empty values; fill or remove them"),
        ([["a", "b"]], "x holds values of type string; only numbers can be read"),
        ([1.0], "x has 1 numbers in 1 rows; expected 2 in every row"),
    ],
)
def test_a_column_that_is_not_rows_of_numbers_is_refused(values: Any, message: str) -> None:
    with pytest.raises(FormatError, match=f"a: {message}"):
        parquet.numbers(pa.array(values), 2, "x", Path("a"))


def test_a_full_file_is_followed_by_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parquet, "_FILES", 2)
    table = pa.table({"x": np.arange(100)})
    files = []
    with Rolling(tmp_path, table.schema, megabytes=1e-4) as rolling:
        for _ in range(3):
            files.append(rolling.next_file())
            rolling.write(table)
    assert files == [(0, 0), (0, 1), (1, 0)]
    for chunk, file in files:
        path = tmp_path / f"chunk-{chunk:03d}/file-{file:03d}.parquet"
        assert pq.read_table(path).equals(table)


def test_a_column_that_is_there_twice_is_named(tmp_path: Path) -> None:
    path = table_file(tmp_path / "a.parquet")
    table = pq.read_table(path)
    pq.write_table(table.append_column("index", table["index"]), path)
    with pytest.raises(FormatError, match="has two columns named 'index'; rename or remove one"):
        parquet.table(path)
    with pytest.raises(FormatError, match="has two columns named 'index'"):
        next(parquet.spans(path, {"pair": 2}, 10, [(0, 1)]))
