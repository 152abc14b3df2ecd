"""Weights of pairs in a file beside the dataset."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq
import pytest

from counterbc.diagnosis.weights import SCHEMA
from tests.annotated import QUICK
from tests.fixture_types import Call

pytestmark = pytest.mark.filterwarnings(
    "ignore::counterbc.errors.AbsentEpisodes", "ignore::counterbc.errors.InfeasibleActions"
)


def test_weights_lie_beside_the_data_in_lerobots_columns(
    annotated_file: Path, tmp_path: Path, call: Call
) -> None:
    out = tmp_path / "weights.parquet"
    assert call("score", annotated_file, *QUICK, "--weights", out)[0] == 0
    table = pq.read_table(out)
    assert table.schema.equals(SCHEMA)
    assert table["index"].to_pylist() == list(range(40))
    assert table["episode_index"].to_pylist()[9:11] == [0, 1]
    assert table["frame_index"].to_pylist()[9:11] == [9, 0]
    weight = table["weight"].to_numpy()
    assert ((weight > 0) & (weight <= 1)).all()
    assert weight.std() > 0
