"""HDF5 files are written with checksums, and a full disk is an error, not a crash."""

from __future__ import annotations

import errno
from pathlib import Path

import h5py
import numpy as np
import pytest

from counterbc import Demonstrations, Episode
from counterbc.errors import FormatError
from counterbc.formats import load, save
from counterbc.formats.hdf5_output import Spill, new_file, open_to_write
from tests.formats.datasets import small
from tests.full_disk import largest_file


def test_a_spill_keeps_what_the_disk_does_not_take(tmp_path: Path) -> None:
    spill = Spill(tmp_path / "a", "x+b")
    spill.write(b"0123456789")
    with largest_file(12):
        spill.seek(8)
        assert spill.write(b"abcdef") == 6
    assert spill.error is not None
    assert spill.error.errno == errno.EFBIG
    assert (tmp_path / "a").stat().st_size == 12
    spill.seek(-7, 2)
    assert spill.read(100) == b"7abcdef"
    spill.seek(10)
    spill.write(b"XY")
    spill.seek(0)
    assert spill.read(14) == b"01234567abXYef"
    assert spill.truncate(9) == 9
    assert spill.seek(0, 2) == 9
    spill.close()


@pytest.mark.parametrize("format", ["robomimic", "minari", "npz", "lerobot"])
def test_a_full_disk_is_one_sentence_and_leaves_nothing(format: str, tmp_path: Path) -> None:
    first = small().episodes[0]
    demos = Demonstrations((Episode(first.obs, first.action),) * 100)
    save(demos, tmp_path / "whole", format=format)
    files = [p for p in (tmp_path / "whole", *tmp_path.rglob("*")) if p.is_file()]
    largest = max(p.stat().st_size for p in files)
    (tmp_path / "out").mkdir()
    for share in (0, 0.02, 0.3, 0.7, 0.99):
        sentence = r"could not be written \(.*\); check permissions and free space"
        with largest_file(int(share * largest)), pytest.raises(FormatError, match=sentence):
            save(demos, tmp_path / "out" / "demos", format=format)
        assert list((tmp_path / "out").iterdir()) == []
    assert load(tmp_path / "whole").fingerprint() == demos.fingerprint()


@pytest.mark.parametrize("format", ["robomimic", "minari"])
def test_every_damaged_bit_of_the_numbers_is_noticed(format: str, tmp_path: Path) -> None:
    demos = small(masks={})
    save(demos, tmp_path / "demos", format=format)
    paths = (tmp_path / "demos/data/main_data.hdf5", tmp_path / "demos")
    path = next(p for p in paths if p.is_file())
    content = path.read_bytes()
    begin = content.index(demos.episodes[0].action.tobytes())
    for i in range(begin, begin + demos.episodes[0].action.nbytes, 5):
        path.write_bytes(content[:i] + bytes([content[i] ^ 64]) + content[i + 1 :])
        with pytest.raises(FormatError, match="cannot be read"):
            load(tmp_path / "demos")


def test_large_arrays_have_many_checksums_and_empty_ones_none(tmp_path: Path) -> None:
    with new_file(tmp_path / "a.hdf5") as output:
        output.put(output.file, "large", np.zeros((1000, 1000), np.float32))
        output.put(output.file, "empty", np.zeros((0, 3)))
    with h5py.File(tmp_path / "a.hdf5") as file:
        assert (file["large"].chunks, file["large"].fletcher32) == ((262, 1000), True)
        assert (file["empty"].shape, file["empty"].chunks) == ((0, 3), None)


def test_numbers_are_the_same_bytes_by_either_way(tmp_path: Path) -> None:
    arrays = {
        "actions": np.arange(6.0, dtype=np.float32).reshape(3, 2),
        "transposed": np.arange(6.0).reshape(2, 3).T,
        "large": np.zeros((1000, 1000), np.float32),
        "dones": np.eye(1, 3, 2, dtype=np.int64)[0],
        "selected": np.array([True, False, True]),
        "image": np.zeros((3, 4, 4, 3), np.uint8),
        "empty": np.zeros((0, 3)),
        "größe": np.ones(3),
    }
    for name in ("put", "put_numbers"):
        with new_file(tmp_path / name) as output:
            for key, values in arrays.items():
                getattr(output, name)(output.file, key, values)
    assert (tmp_path / "put").read_bytes() == (tmp_path / "put_numbers").read_bytes()
    with h5py.File(tmp_path / "put_numbers") as file:
        np.testing.assert_array_equal(file["transposed"][()], arrays["transposed"])


def test_a_file_is_changed_in_place(tmp_path: Path) -> None:
    with new_file(tmp_path / "a.hdf5") as output:
        output.put(output.file, "x", np.arange(3))
    with open_to_write(tmp_path / "a.hdf5") as output:
        output.file["x"][1] = 7
    with h5py.File(tmp_path / "a.hdf5") as file:
        assert file["x"][()].tolist() == [0, 7, 2]
