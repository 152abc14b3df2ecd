"""Arrow files are read as pyarrow reads them, within bounds on their size before compression."""

from __future__ import annotations

import resource
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from counterbc.errors import FormatError
from counterbc.formats import load
from counterbc.formats.minari.arrow_file import read_table
from counterbc.formats.untrusted import trusting
from tests.formats.minari.foreign import foreign

CODECS = [None, "lz4", "zstd"]


def write(path: Path, table: pa.Table, codec: str | None, **options: Any) -> Path:
    settings = pa.ipc.IpcWriteOptions(compression=codec)
    with pa.ipc.new_file(path, table.schema, options=settings) as writer:
        writer.write_table(table, **options)
    return path


@pytest.fixture
def table() -> pa.Table:
    """Numbers, lists, texts, a dictionary and empty values."""
    rows = 1000
    return pa.table(
        {
            "numbers": pa.array(np.arange(rows, dtype=np.float32)),
            "lists": pa.FixedSizeListArray.from_arrays(pa.array(np.zeros(2 * rows)), 2),
            "texts": pa.array(["x" * (i % 7) for i in range(rows)]),
            "words": pa.array(["a", "b"] * (rows // 2)).dictionary_encode(),
            "gaps": pa.array([None, 1] * (rows // 2)),
        }
    )


@pytest.mark.parametrize("codec", CODECS)
def test_a_file_in_several_batches_reads_back_unchanged(
    codec: str | None, table: pa.Table, tmp_path: Path
) -> None:
    path = write(tmp_path / "x.arrow", table, codec, max_chunksize=300)
    assert read_table(path).equals(table)


@pytest.mark.parametrize("codec", ["lz4", "zstd"])
def test_compressed_zeros_are_refused_before_they_take_memory(codec: str, tmp_path: Path) -> None:
    size = 200 * 2**20
    path = write(tmp_path / "x.arrow", pa.table({"a": pa.array(np.zeros(size // 8))}), codec)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(FormatError, match=r"claims 0\.21 GB but the file stores 0\.00"):
        read_table(path)
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert after - before < size / 2 / 1024
    with trusting(True):
        assert len(read_table(path)) == size // 8


def test_a_dictionary_is_measured_too(tmp_path: Path) -> None:
    words = pa.DictionaryArray.from_arrays(pa.array([0, 0]), pa.array(["x" * 2**27]))
    path = write(tmp_path / "x.arrow", pa.table({"a": words}), "zstd")
    with pytest.raises(FormatError, match="GB but the file stores"):
        read_table(path)


@pytest.mark.parametrize("codec", CODECS)
def test_a_size_that_damage_made_huge_is_no_allocation(
    codec: str | None, table: pa.Table, tmp_path: Path
) -> None:
    path = write(tmp_path / "x.arrow", table, codec)
    whole, sentences = path.read_bytes(), []
    for place in range(3, len(whole), 101):
        path.write_bytes(whole[:place] + b"\xff" + whole[place + 1 :])
        try:
            read_table(path)
        except FormatError as error:
            sentences.append(str(error))
    assert len(sentences) > 5
    assert not any("malloc" in text for text in sentences)


@pytest.mark.parametrize("codec", ["lz4", "zstd"])
def test_a_small_dataset_that_claims_gigabytes_is_refused(codec: str, tmp_path: Path) -> None:
    root = foreign(tmp_path / "dataset", "arrow")
    zeros = pa.table({"a": pa.array(np.zeros(2**24))})
    write(next(root.rglob("*.arrow")), zeros, codec)
    with pytest.raises(FormatError, match="GB but the file stores"):
        load(root)
