"""Weights of pairs in a file beside the dataset."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pyarrow.parquet as pq
import pytest

from counterbc.data.demonstrations import Demonstrations
from counterbc.diagnosis.weights import SCHEMA

Call = Callable[..., tuple[int, str, str]]
CallJson = Callable[..., dict[str, Any]]
pytestmark = pytest.mark.filterwarnings(
    "ignore::counterbc.errors.AbsentEpisodes", "ignore::counterbc.errors.InfeasibleActions"
)
QUICK = ("--steps", "20", "--folds", "2", "--repeats", "1", "--radius", "0.3")


@pytest.fixture
def demos(tiny: Demonstrations, tmp_path: Path) -> Path:
    path = tmp_path / "demos.hdf5"
    tiny.save(path)
    with h5py.File(path, "a") as file:  # things that only others know of
        demo = file["data/demo_2"]
        demo["action_dict/gripper"] = np.ones((10, 1))
        demo["obs"].attrs["frame"] = "world"
        demo["states"] = np.arange(20.0).reshape(10, 2)
        demo["actions"].attrs["unit"] = "m/s"
        file.attrs["licence"] = "MIT"
    return path


def test_weights_lie_beside_the_data_in_lerobots_columns(
    demos: Path, tmp_path: Path, call: Call
) -> None:
    out = tmp_path / "weights.parquet"
    assert call("score", demos, *QUICK, "--weights", out)[0] == 0
    table = pq.read_table(out)
    assert table.schema.equals(SCHEMA)
    assert table["index"].to_pylist() == list(range(40))
    assert table["episode_index"].to_pylist()[9:11] == [0, 1]
    assert table["frame_index"].to_pylist()[9:11] == [9, 0]
    weight = table["weight"].to_numpy()
    assert ((weight > 0) & (weight <= 1)).all()
    assert weight.std() > 0
