"""The file of a cell is refused in a sentence where it is damaged or comes from elsewhere."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch

from counterbc.errors import FormatError, OptionError
from counterbc.experiments.cell_files import (
    check_simulator,
    description,
    made_here,
    made_with,
    read_rows,
    simulator,
    write_rows,
)
from tests.experiments.cells import TINY


@pytest.fixture(scope="module")
def table() -> pa.Table:
    return TINY.rows("cpu")


def test_rows_are_read_as_they_were_written(table: pa.Table, tmp_path: Path) -> None:
    path = tmp_path / "rows.parquet"
    write_rows(path, TINY, table, "cpu")
    assert read_rows(path, TINY).to_pylist() == table.to_pylist()
    assert description(path)["cell"] == TINY.about


def test_rows_of_version_0_1_are_read(table: pa.Table, tmp_path: Path) -> None:
    path, contents = tmp_path / "rows.parquet", json.loads(table.schema.metadata[b"counterbc"])
    old_contents = json.dumps({"population": contents["cell"], "config": contents["config"]})
    pq.write_table(table.replace_schema_metadata({"counterbc": old_contents}), path)
    assert read_rows(path, TINY).to_pylist() == table.to_pylist()
    assert description(path) == contents


def test_a_damaged_file_and_one_of_another_cell_are_named(table: pa.Table, tmp_path: Path) -> None:
    path = tmp_path / "rows.parquet"
    path.write_bytes(b"PAR1 and then nothing")
    with pytest.raises(FormatError, match=r"rows\.parquet cannot be read as rows of a study"):
        description(path)
    pq.write_table(pa.table({"a": [1]}), path)
    with pytest.raises(FormatError, match=r"cannot be read as rows of a study \(TypeError\)"):
        description(path)
    pq.write_table(table, path)
    with pytest.raises(FormatError, match="holds rows of another cell; delete it"):
        read_rows(path, replace(TINY, pairs=40))


def test_rows_of_other_versions_are_not_written_unless_any_are_accepted(
    table: pa.Table, tmp_path: Path
) -> None:
    path, contents = tmp_path / "rows.parquet", json.loads(table.schema.metadata[b"counterbc"])
    contents["config"]["versions"]["torch"] = "1.0"
    other_table = table.replace_schema_metadata({"counterbc": json.dumps(contents)})
    with pytest.raises(OptionError, match=r"computed with cpu, .*torch 1\.0.* this study uses cpu"):
        write_rows(path, TINY, other_table, "cpu")
    assert not path.exists()
    write_rows(path, TINY, other_table, None)
    assert path.exists()


def test_rows_of_another_simulator_are_refused() -> None:
    assert simulator("intersection") is None
    check_simulator(TINY, {"config": {"backend": None}})
    message = "was computed in intersection with envpool, and here it runs with None"
    with pytest.raises(OptionError, match=message):
        check_simulator(TINY, {"config": {"backend": "envpool"}})


def test_device_and_versions_are_words() -> None:
    assert made_with({"device": "cuda", "versions": {"torch": "2.0"}}) == "cuda, torch 2.0"
    versions = {"torch": "2.0", "numba": "0.61", "triton": None, "kernel": "torch"}
    assert made_with({"device": "cpu", "versions": versions}) == "cpu, torch 2.0, numba 0.61"
    assert made_with({"device": "cuda", "versions": versions}) == "cuda, torch 2.0, without triton"
    assert made_with({"device": "mps", "versions": versions}) == "mps, torch 2.0"
    assert f"torch {torch.__version__}" in made_here("cpu")
