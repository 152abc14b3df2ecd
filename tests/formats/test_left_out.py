"""Whatever a reader does not read it names, so that `convert` can say what is not carried over."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from counterbc.data.demonstrations import Demonstrations, Episode
from counterbc.formats import csv as table
from counterbc.formats import lerobot, minari, npz, open_stream, robomimic


def demos() -> Demonstrations:
    """Two episodes of 3 and 2 pairs."""
    episodes = [Episode(np.zeros((n, 3)), np.zeros((n, 1)), np.zeros(n)) for n in (3, 2)]
    return Demonstrations(tuple(episodes), obs_keys=(("place", 2), ("velocity", 1)), rate=10.0)


def planted_robomimic(root: Path) -> tuple[Path, set[str]]:
    robomimic.write(demos(), path := root / "demos.hdf5")
    with h5py.File(path, "a") as file:
        file["maps"] = file["data/notes"] = np.zeros(2)
        file["data/demo_1/forces"] = file["data/demo_1/obs/touch"] = np.zeros((2, 1))
        file.attrs["licence"] = file["data/demo_1"].attrs["weather"] = "free"
    names = {"maps", "data/notes", "forces", "obs/touch", "attribute licence", "attribute weather"}
    return path, names


def planted_lerobot(root: Path) -> tuple[Path, set[str]]:
    lerobot.write(demos(), path := root / "demos")
    about = json.loads((path / "meta/info.json").read_text())
    for name in ("forces", "next.done"):
        about["features"][name] = {"dtype": "float32", "shape": [1], "names": None}
    (path / "meta/info.json").write_text(json.dumps(about))
    data = path / "data/chunk-000/file-000.parquet"
    held = pq.read_table(data)
    for name in ("forces", "next.done"):
        held = held.append_column(name, pa.array(np.zeros(5, np.float32)))
    pq.write_table(held, data)
    return path, {"forces (float32)", "next.done (float32)"}


def planted_minari(root: Path) -> tuple[Path, set[str]]:
    minari.write(demos(), path := root / "demos")
    where = path / "data/metadata.json"
    about = json.loads(where.read_text()) | {"author": ["ann"]}
    del about["counterbc"]
    where.write_text(json.dumps(about))
    with h5py.File(path / "data/main_data.hdf5", "a") as file:
        file["episode_1/infos/forces"] = np.zeros(3)
        file["episode_1/forces"] = np.zeros(2)
    names = {"infos/forces", "forces", "metadata author", "terminations", "truncations"}
    return path, names | {"the last observation of each episode"}


def planted_npz(root: Path) -> tuple[Path, set[str]]:
    path = root / "demos.npz"
    np.savez(path, obs=np.zeros((5, 2)), action=np.zeros((5, 1)), forces=np.zeros(5))
    return path, {"forces", "digits beyond 32 bits"}


def planted_flat(root: Path) -> tuple[Path, set[str]]:
    path = root / "demos.hdf5"
    with h5py.File(path, "w") as file:
        file["observations"], file["actions"] = np.zeros((5, 2)), np.zeros((5, 1))
        file["timeouts"], file["forces"] = np.eye(1, 5, 4)[0], np.zeros(5)
        file.attrs["licence"] = "free"
    ends = "whether terminals or timeouts ended an episode"
    return path, {"forces", "attribute licence", "digits beyond 32 bits", ends}


@pytest.mark.parametrize(
    "plant", [planted_robomimic, planted_lerobot, planted_minari, planted_npz, planted_flat]
)
def test_what_is_not_read_is_named(
    tmp_path: Path, plant: Callable[[Path], tuple[Path, set[str]]]
) -> None:
    path, names = plant(tmp_path)
    stream = open_stream(path)
    assert names <= set(stream.header.left_out)
    assert stream.demonstrations().pairs == 5


@pytest.mark.parametrize("module", [robomimic, lerobot, minari, npz])
def test_of_what_we_wrote_nothing_is_left_out(tmp_path: Path, module: Any) -> None:
    path = tmp_path / {robomimic: "demos.hdf5", npz: "demos.npz"}.get(module, "demos")
    module.write(demos(), path)
    assert module.stream(path).header.left_out == ()


@pytest.mark.parametrize("module", [robomimic, lerobot, minari, npz])
def test_keys_that_are_not_chosen_are_named(tmp_path: Path, module: Any) -> None:
    path = tmp_path / {robomimic: "demos.hdf5", npz: "demos.npz"}.get(module, "demos")
    module.write(demos(), path)
    (said,) = module.stream(path, ["place"]).header.left_out
    assert "velocity" in said


def test_columns_of_a_table_that_are_not_chosen_are_named(tmp_path: Path) -> None:
    (path := tmp_path / "demos.csv").write_text("x,velocity,action\n1,2,3\n")
    assert "column 'velocity'" in table.stream(path, ["x"]).header.left_out
