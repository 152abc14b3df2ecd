"""Small files that claim much: refused at once, unless they are trusted."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from counterbc.errors import FormatError
from counterbc.formats import frames, load, open_stream, save, untrusted
from counterbc.formats.untrusted import Tally, check_at_most, check_size, trusting
from tests.formats.datasets import small
from tests.formats.lerobot.editing import FILE, INDEX, edit_column, edit_info
from tests.formats.lerobot.foreign import foreign as lerobot_foreign


def test_only_sizes_far_beyond_the_stored_bytes_are_refused() -> None:
    large = untrusted.LARGE
    check_size("x", large, 0)
    check_size("x", 2 * large, 2 * large // 200 + 1)
    with pytest.raises(FormatError, match=r"x claims 0.13 GB but the file stores 0.0007 GB for it"):
        check_size("x", 2 * large, 2 * large // 200)
    with trusting(True):
        check_size("x", 2 * large, 0)
    with trusting(False), pytest.raises(FormatError, match=r"read it with --trusted \(trusted=Tr"):
        check_size("x", 2 * large, 0)


def test_a_number_beyond_its_bound_is_refused() -> None:
    check_at_most("x", 7, 7, "episodes")
    with pytest.raises(FormatError, match="x has 8 episodes; at most 7 are read; if you trust it"):
        check_at_most("x", 8, 7, "episodes")
    with trusting(True):
        check_at_most("x", 8, 7, "episodes")


def test_all_numbers_of_a_dataset_together_are_bounded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(untrusted, "_TOTAL", 1000)
    monkeypatch.setattr(untrusted, "LARGE", 1000)
    (tmp_path / "a").write_bytes(bytes(10))
    for path in (tmp_path / "a", tmp_path):  # a file, and a folder of the same size
        tally = Tally(path)
        tally.add(2000)
        with pytest.raises(FormatError, match=r"claims .* but the file stores"):
            tally.add(1)
    monkeypatch.setattr(untrusted, "MAX_EPISODES", 1)
    tally = Tally(tmp_path)
    tally.add(1)
    with pytest.raises(FormatError, match="has 2 episodes; at most 1 are read"):
        tally.add(1)


def compressed_npz(path: Path) -> Path:
    """Write 12 MB of zeros in 12 kB."""
    path = path.with_suffix(".npz")
    np.savez_compressed(path, obs=np.zeros((200_000, 16), np.float32), action=np.zeros(200_000))
    return path


def alternating_npz(path: Path) -> Path:
    """Write episodes of one row each, which compress to almost nothing."""
    ids = np.arange(1_100_000, dtype=np.uint8) % 2
    path = path.with_suffix(".npz")
    np.savez_compressed(path, obs=ids, action=ids, episode=ids)
    return path


def empty_texts_npz(path: Path) -> Path:
    """Write an array of texts of no characters, which numpy would make as wide as one."""
    with zipfile.ZipFile(path, "w") as archive:
        for name in ("obs", "action"):
            buffer = io.BytesIO()
            np.save(buffer, np.zeros((4, 1)))
            archive.writestr(f"{name}.npy", buffer.getvalue())
        buffer = io.BytesIO()
        header = {"descr": "<U0", "fortran_order": False, "shape": (10**12,)}
        np.lib.format.write_array_header_1_0(buffer, header)
        archive.writestr("operator.npy", buffer.getvalue())
    return path


def compressed_hdf5(path: Path) -> Path:
    """Write 12 MB of zeros in 12 kB."""
    with h5py.File(path, "w") as file:
        for name in ("observations", "actions"):
            file.create_dataset(name, data=np.zeros((200_000, 8)), compression="gzip")
        file["terminals"] = np.zeros(200_000, bool)
    return path


BOMBS: dict[str, Callable[[Path], Path]] = {
    "zeros in npz": compressed_npz,
    "a million episodes": alternating_npz,
    "texts of no characters": empty_texts_npz,
    "zeros in hdf5": compressed_hdf5,
}


@pytest.fixture
def tenth(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lower the bound, so that small arrays are beyond it."""
    monkeypatch.setattr(untrusted, "LARGE", 2**21)


@pytest.mark.usefixtures("tenth")
@pytest.mark.parametrize("name", list(BOMBS))
def test_a_small_file_that_claims_much_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="if you trust it, read it with --trusted"):
        load(BOMBS[name](tmp_path / "bomb"))


@pytest.mark.usefixtures("tenth")
def test_a_trusted_file_is_read(tmp_path: Path) -> None:
    raw = next(open_stream(compressed_npz(tmp_path / "a.npz"), trusted=True).raw_episodes)
    assert raw.obs.shape == (200_000, 16)


def with_rows(root: Path, rows: int) -> None:
    """Repeat the first row of a dataset with one episode."""
    save(small().subset([0]), root, format="lerobot")
    table = pq.read_table(root / FILE)
    pq.write_table(table.take(np.zeros(rows, int)), root / FILE)
    for column in ("length", "dataset_to_index"):
        edit_column(root, INDEX, column, [rows])
    edit_info(root, total_frames=rows)
    (root / "meta/counterbc.json").unlink()


@pytest.mark.usefixtures("tenth")
def test_repeated_values_in_parquet_are_refused(tmp_path: Path) -> None:
    with_rows(tmp_path / "demos", 100_000)
    with pytest.raises(FormatError, match=r"parquet claims .* GB .* --trusted"):
        load(tmp_path / "demos")


@pytest.mark.usefixtures("tenth")
@pytest.mark.parametrize("nested", [False, True])
def test_one_long_text_for_many_rows_is_refused(tmp_path: Path, nested: bool) -> None:
    root, count = tmp_path / "demos", 500
    save(small(), root, format="lerobot")
    table = pq.read_table(root / INDEX)
    texts = pa.DictionaryArray.from_arrays(pa.array([0] * count), ["x" * 100_000])
    tasks = pa.ListArray.from_arrays(pa.array(range(count + 1)), texts) if nested else texts
    rows = table.take([0] * count)
    place = rows.column_names.index("tasks")
    pq.write_table(rows.set_column(place, "tasks", tasks), root / INDEX)
    edit_info(root, total_episodes=count)
    with pytest.raises(FormatError, match=r"parquet claims .* GB .* --trusted|a list of text"):
        load(root)


def test_frames_of_one_colour_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(untrusted, "LARGE", 10_000)
    image = frames.png(np.zeros((2000, 2000, 1), np.uint8))
    with pytest.raises(FormatError, match=r"front claims .* --trusted"):
        frames.decode([image[: len(image) // 2]], (2000, 2000, 1), "front")


def test_the_number_of_episodes_that_metadata_claim_is_bounded(tmp_path: Path) -> None:
    root = lerobot_foreign(tmp_path)
    edit_info(root, total_episodes=untrusted.MAX_EPISODES + 1)
    with pytest.raises(FormatError, match="has 1,000,001 episodes; at most 1,000,000 are read"):
        load(root)
