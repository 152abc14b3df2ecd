from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from counterbc.data.demonstrations import Demonstrations, Episode
from counterbc.errors import FormatError, OptionError
from counterbc.formats import (
    FORMATS,
    Format,
    detect,
    lerobot,
    load,
    minari,
    npz,
    open_stream,
    robomimic,
    save,
    writable_formats,
)
from counterbc.formats import csv as table
from counterbc.formats.stream import Header, RawEpisode, Stream

OBS, ACTION = np.arange(6.0).reshape(3, 2), np.array([[0.5], [1], [2]])


def write(kind: str, path: Path) -> Path:
    """The same three pairs in each format."""
    if kind == "d4rl":
        with h5py.File(path, "w") as file:
            file.update({"observations": OBS, "actions": ACTION, "terminals": [0, 0, 1]})
    elif kind == "csv":
        rows = [f"{x},{y},{a}" for (x, y), a in zip(OBS, ACTION[:, 0], strict=True)]
        path.write_text("\n".join(["x,y,action", *rows]))
    else:
        save(Demonstrations((Episode(OBS, ACTION),)), path, format=kind)
    return path


@pytest.mark.parametrize("kind", FORMATS)
def test_the_format_is_detected_from_the_content(kind: str, tmp_path: Path) -> None:
    path = write(kind, tmp_path / "demos.dat")
    assert detect(path) == kind
    demos = load(path)
    assert np.array_equal(demos.obs, OBS)
    assert np.array_equal(demos.action, ACTION)
    assert load(path, format=kind).fingerprint() == demos.fingerprint()


def test_a_format_that_cannot_choose_actions_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(FORMATS, "mine", Format(OneValueFormat(), content="a word"))
    (tmp_path / "demos").write_text("repeated 4 2.5")
    with pytest.raises(OptionError, match="the format mine cannot choose actions"):
        load(tmp_path / "demos", action=["x"])


@pytest.mark.parametrize("content", [b"", b"1,2,3\n4,5,6\n", b"\0" * 100, b"\x89PNG", b"PK\5\6"])
def test_an_unsupported_file_is_refused_with_the_list_of_formats(
    content: bytes, tmp_path: Path
) -> None:
    path = tmp_path / "demos.hdf5"
    path.write_bytes(content)
    supported = r"is not in a supported format; .*robomimic \(an HDF5 file.*minari \(a folder"
    for unsupported in (path, tmp_path):
        with pytest.raises(FormatError, match=supported):
            load(unsupported)


@pytest.mark.parametrize("kind", FORMATS)
def test_a_forced_format_that_does_not_fit_is_one_sentence(kind: str, tmp_path: Path) -> None:
    other_format = write("npz" if kind == "csv" else "csv", tmp_path / "demos")
    with pytest.raises(FormatError, match=str(tmp_path)):
        load(other_format, format=kind)


def test_unknown_formats_are_refused_by_name(tmp_path: Path) -> None:
    path = write("csv", tmp_path / "demos.csv")
    with pytest.raises(OptionError, match="unknown format 'zarr'; allowed: robomimic"):
        load(path, format="zarr")
    with pytest.raises(OptionError, match="unknown format to write 'csv'; allowed: robomimic"):
        save(load(path), tmp_path / "out.csv", format="csv")
    with pytest.raises(OptionError, match=r"suffix of .*out does not .*\.hdf5 \(robomimic\).*--to"):
        save(load(path), tmp_path / "out")
    assert os.listdir(tmp_path) == ["demos.csv"]


class OneValueFormat:
    """A format of three lines: a word and two numbers, the length and the only value."""

    def recognizes(self, path: Path) -> bool:
        return path.is_file() and path.read_bytes().startswith(b"repeated")

    def stream(self, path: Path, obs: Sequence[str] | None) -> Stream:
        _, length, value = path.read_text().split()
        rows = np.full((int(length), 1), float(value))
        return Stream(Header(source=str(path)), iter([RawEpisode(rows, rows)])).choose(obs)

    def write(self, data: Demonstrations | Stream, path: Path) -> list[str]:
        (episode,) = Stream.of(data).checked().raw_episodes
        path.write_text(f"repeated {len(episode.obs)} {episode.obs[0, 0]}")
        return ["all values but the first"]


def test_a_registered_object_is_detected_read_and_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    new_format = Format(OneValueFormat(), content="a word", writable=True, suffixes=(".rep",))
    monkeypatch.setitem(FORMATS, "mine", new_format)
    path = tmp_path / "demos.rep"
    notes = save(Demonstrations((Episode(np.full((4, 1), 2.5), np.ones((4, 1))),)), path)
    assert notes == ["all values but the first"]
    assert detect(path) == "mine"
    assert load(path).action.tolist() == [[2.5]] * 4
    assert "mine" in writable_formats()


def test_every_real_dataset_is_recognized(data: Path) -> None:
    paths = [*data.rglob("*.hdf5"), data / "fixtures/lerobot_v21_g1"]
    kinds = {p.name: detect(p) for p in paths}
    assert len(kinds) == 7
    assert {n for n, kind in kinds.items() if kind == "robomimic"} == {
        n for n in kinds if n.endswith(".hdf5")
    }
    assert kinds["lerobot_v21_g1"] == "lerobot"


def test_a_dataset_is_saved_as_npz_if_the_path_says_so(
    tmp_path: Path, tiny: Demonstrations
) -> None:
    tiny.save(tmp_path / "d.npz")
    assert detect(tmp_path / "d.npz") == "npz"
    assert load(tmp_path / "d.npz").fingerprint() == tiny.fingerprint()


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
    columns = pq.read_table(data)
    for name in ("forces", "next.done"):
        columns = columns.append_column(name, pa.array(np.zeros(5, np.float32)))
    pq.write_table(columns, data)
    return path, {"forces (float32)", "next.done (float32)"}


def planted_minari(root: Path) -> tuple[Path, set[str]]:
    minari.write(demos(), path := root / "demos")
    path_of_metadata = path / "data/metadata.json"
    about = json.loads(path_of_metadata.read_text()) | {"author": ["ann"]}
    del about["counterbc"]
    path_of_metadata.write_text(json.dumps(about))
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
def test_nothing_that_we_wrote_is_left_out(tmp_path: Path, module: Any) -> None:
    path = tmp_path / {robomimic: "demos.hdf5", npz: "demos.npz"}.get(module, "demos")
    module.write(demos(), path)
    assert module.stream(path).header.left_out == ()


@pytest.mark.parametrize("module", [robomimic, lerobot, minari, npz])
def test_keys_that_are_not_chosen_are_named(tmp_path: Path, module: Any) -> None:
    path = tmp_path / {robomimic: "demos.hdf5", npz: "demos.npz"}.get(module, "demos")
    module.write(demos(), path)
    (note,) = module.stream(path, ["place"]).header.left_out
    assert "velocity" in note


def test_columns_of_a_table_that_are_not_chosen_are_named(tmp_path: Path) -> None:
    (path := tmp_path / "demos.csv").write_text("x,velocity,action\n1,2,3\n")
    assert "column 'velocity'" in table.stream(path, ["x"]).header.left_out
