from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import h5py
import numpy as np
import pytest

from counterbc.data.demonstrations import Demonstrations, Episode
from counterbc.errors import FormatError, OptionError
from counterbc.formats import FORMATS, Format, detect, load, save, writable_formats
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
def test_the_format_is_told_by_the_content_whatever_the_name(kind: str, tmp_path: Path) -> None:
    path = write(kind, tmp_path / "demos.dat")
    assert detect(path) == kind
    demos = load(path)
    assert np.array_equal(demos.obs, OBS)
    assert np.array_equal(demos.action, ACTION)
    assert load(path, format=kind).fingerprint() == demos.fingerprint()


@pytest.mark.parametrize("content", [b"", b"x,y,z\n1,2,3\n", b"\0" * 100, b"\x89PNG", b"PK\5\6"])
def test_what_no_format_knows_is_refused_with_the_list_of_formats(
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
    other = write("npz" if kind == "csv" else "csv", tmp_path / "demos")
    with pytest.raises(FormatError, match=str(tmp_path)):
        load(other, format=kind)


def test_unknown_formats_are_refused_by_name(tmp_path: Path) -> None:
    path = write("csv", tmp_path / "demos.csv")
    with pytest.raises(OptionError, match="unknown format 'zarr'; allowed: robomimic"):
        load(path, format="zarr")
    with pytest.raises(OptionError, match="unknown format to write 'csv'; allowed: robomimic"):
        save(load(path), tmp_path / "out.csv", format="csv")
    with pytest.raises(OptionError, match=r"suffix of .*out does not .*\.hdf5 \(robomimic\).*--to"):
        save(load(path), tmp_path / "out")
    assert os.listdir(tmp_path) == ["demos.csv"]


class Repeated:
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
    mine = Format(Repeated(), content="a word", writable=True, suffixes=(".rep",))
    monkeypatch.setitem(FORMATS, "mine", mine)
    path = tmp_path / "demos.rep"
    lost = save(Demonstrations((Episode(np.full((4, 1), 2.5), np.ones((4, 1))),)), path)
    assert lost == ["all values but the first"]
    assert detect(path) == "mine"
    assert load(path).action.tolist() == [[2.5]] * 4
    assert "mine" in writable_formats()


def test_every_real_dataset_is_recognized(data: Path) -> None:
    found = [*data.rglob("*.hdf5"), data / "fixtures/lerobot_v21_g1"]
    kinds = {p.name: detect(p) for p in found}
    assert len(kinds) == 7
    assert {n for n, kind in kinds.items() if kind == "robomimic"} == {
        n for n in kinds if n.endswith(".hdf5")
    }
    assert kinds["lerobot_v21_g1"] == "lerobot"
