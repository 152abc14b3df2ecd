"""Damage a LeRobot dataset on purpose, and expect it to be refused in one sentence."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from counterbc.errors import DataError, FormatError
from counterbc.formats import (
    load,
)

FILE = "data/chunk-000/file-000.parquet"


INDEX = "meta/episodes/chunk-000/file-000.parquet"


def edit_info(root: Path, **changes: Any) -> None:
    path = root / "meta/info.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


def edit_feature(root: Path, name: str, **changes: Any) -> None:
    features = json.loads((root / "meta/info.json").read_text())["features"]
    features[name] |= changes
    edit_info(root, features=features)


def edit_column(root: Path, file: str, name: str, values: Any) -> None:
    table = pq.read_table(root / file)
    place = table.column_names.index(name)
    pq.write_table(table.set_column(place, name, pa.array(values)), root / file)


def without_column(root: Path, file: str, name: str) -> None:
    pq.write_table(pq.read_table(root / file).drop_columns([name]), root / file)


def assert_refused(root: Path, sentence: str) -> None:
    with pytest.raises((FormatError, DataError), match=sentence) as error_info:
        load(root, format="lerobot")
    assert str(root) in str(error_info.value)
    assert "\n" not in str(error_info.value)
