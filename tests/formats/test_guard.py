from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import h5py
import numpy as np
import pytest

from counterbc.data.demonstrations import Demonstrations
from counterbc.errors import FormatError
from counterbc.formats import (
    guard,
    lerobot,
    load,
    save,
)

DATA = os.environ.get("COUNTERBC_DATA")


def test_a_file_of_a_dataset_fails_with_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a").touch()
    damaged = (
        r"^a cannot be read; it may be incomplete or damaged \(x\); copy or download it again$"
    )
    for error, message in (
        (FileNotFoundError("x"), "^a is missing; copy or download the dataset again$"),
        (PermissionError("x"), "^a cannot be read: permission denied; check its permissions$"),
        (OSError("x"), damaged),
        (KeyError("x"), damaged),
    ):
        with pytest.raises(FormatError, match=message), guard.dataset_file(Path("a"), KeyError):
            raise error
    with pytest.raises(KeyError), guard.dataset_file(Path("a")):
        raise KeyError("x")


def test_a_path_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    guard.check_there(tmp_path)
    with pytest.raises(FormatError, match=r"nothing does not exist; give the path of a file"):
        guard.check_there(tmp_path / "nothing")


def test_a_bug_is_one_sentence_that_asks_for_a_report(
    tiny: Demonstrations, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise KeyError("a bug")

    monkeypatch.setattr("counterbc.formats.robomimic.reader._read_vector", fail)
    tiny.save(tmp_path / "demos.hdf5")
    with pytest.raises(FormatError, match=r"\(a bug\); .* report this if it is whole") as error:
        load(tmp_path / "demos.hdf5")
    assert isinstance(error.value.__cause__, KeyError)


@contextmanager
def as_nobody() -> Iterator[None]:
    """Give up the right of root to read everything."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.mark.skipif(sys.platform == "win32", reason="other permissions there")
@pytest.mark.parametrize("ending", [".hdf5", ".npz", ".csv"])
def test_a_file_without_read_permission_is_refused(ending: str, tiny: Demonstrations) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"demos{ending}"
        if ending == ".csv":
            path.write_text("x,action\n1,2\n")
        else:
            save(tiny, path)
        load(path)  # it is the permission alone that is in the way
        os.chmod(folder, 0o755)
        path.chmod(0)
        with as_nobody(), pytest.raises(FormatError, match="permission denied"):
            load(path)
        os.chmod(folder, 0o700)
        with as_nobody(), pytest.raises(FormatError, match="permission denied"):
            load(path)


@pytest.mark.parametrize(
    "name", ["data/chunk-000/file-000.parquet", "data/chunk-000", "meta/info.json", "meta"]
)
def test_a_folder_without_read_permission_is_refused(tiny: Demonstrations, name: str) -> None:
    with tempfile.TemporaryDirectory() as folder:  # pytest's own is closed to others
        os.chmod(folder, 0o755)
        root = Path(folder) / "demos"
        lerobot.write(tiny, root)
        (root / name).chmod(0)
        with as_nobody():
            with pytest.raises(FormatError, match="permission denied; check its permissions"):
                load(root, format="lerobot")
            assert lerobot.recognizes(root) is (name != "meta")
        (root / name).chmod(0o755)


def test_a_folder_without_write_permission_is_named(tiny: Demonstrations) -> None:
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o555)
        with as_nobody(), pytest.raises(FormatError, match="could not be written"):
            tiny.save(Path(folder) / "demos.hdf5")
        os.chmod(folder, 0o700)


WORKER = """
import json, resource, signal, sys, traceback, warnings
from counterbc.errors import CounterBCError
from counterbc.formats import load

def late(*_):
    raise TimeoutError

warnings.simplefilter("ignore")
resource.setrlimit(resource.RLIMIT_AS, (2**32, 2**32))
signal.signal(signal.SIGALRM, late)
for path in sys.argv[1:]:
    signal.alarm(10)
    try:
        load(path)
        said = "read"
    except CounterBCError as error:
        said = "refused" if str(path) in str(error) else f"without its path: {error}"
    except BaseException:
        said = traceback.format_exc()
    signal.alarm(0)
    print(json.dumps([path, said]), flush=True)
"""


def originals(folder: Path, tiny: Demonstrations) -> list[Path]:
    """Small files: ours, and real ones where there are any."""
    tiny.save(folder / "ours.hdf5")
    save(tiny, folder / "ours.npz")
    paths = [folder / "ours.hdf5", folder / "ours.npz"]
    if DATA:
        whole = h5py.File(Path(DATA) / "pusht_human_206.hdf5")
        with whole, h5py.File(folder / "push_t.hdf5", "w") as part:
            group = part.create_group("data")
            group.attrs.update(whole["data"].attrs)
            for i in range(3):
                whole.copy(f"data/demo_{i}", group)
        fixtures = Path(DATA) / "fixtures"
        paths += [folder / "push_t.hdf5", *sorted(fixtures.glob("robomimic_*_low_dim_*.hdf5"))]
    return paths


def truncate(content: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return content[: rng.integers(len(content))]


def flip_bits(content: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """One bit in each of eight bytes."""
    content[rng.integers(len(content), size=8)] ^= np.uint8(1) << rng.integers(8, dtype=np.uint8)
    return content


def flip_bits_in_front(content: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """In the first part, where HDF5 keeps its own tables."""
    flip_bits(content[:8192], rng)
    return content


def overwrite(content: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    start = rng.integers(max(len(content) - 300, 1))
    content[start : start + 300] = rng.integers(256, size=len(content[start : start + 300]))
    return content


WAYS: list[Callable[[np.ndarray, np.random.Generator], np.ndarray]]

WAYS = [truncate, flip_bits, flip_bits_in_front, overwrite]


@pytest.mark.skipif(sys.platform == "win32", reason="limits and alarms are POSIX's")
def test_damaged_files_are_read_or_refused_and_never_crash(
    tiny: Demonstrations, tmp_path: Path
) -> None:
    rng = np.random.default_rng(0)
    damaged = []
    for original in originals(tmp_path, tiny):
        for i in range(20):
            content = np.frombuffer(original.read_bytes(), np.uint8).copy()
            path = tmp_path / f"{original.stem}_{i}{original.suffix}"
            path.write_bytes(WAYS[i % 4](content, rng).tobytes())
            damaged.append(str(path))
    assert len(damaged) >= (60 if DATA else 40)
    process = subprocess.run(  # a crash of the HDF5 library would take the tests with it
        [sys.executable, "-c", WORKER, *damaged], capture_output=True, text=True, timeout=300
    )
    results = dict(json.loads(line) for line in process.stdout.splitlines())
    assert process.returncode == 0, damaged[len(results)]
    assert list(results) == damaged
    assert {r for r in results.values() if r not in ("read", "refused")} == set()
    # Files of ours have checksums, so that those that are read despite damage are of other tools.
    assert set(results.values()) == ({"read", "refused"} if DATA else {"refused"})


POINTER = (
    "version https://git-lfs.github.com/spec/v1\n"
    "oid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\nsize 12345\n"
)


@pytest.mark.parametrize("place", ["meta/info.json", "meta/episodes", "data"])
def test_a_pointer_of_git_lfs_is_recognized_wherever_it_lies(
    place: str, tiny: Demonstrations, tmp_path: Path
) -> None:
    save(tiny, tmp_path / "demos", format="lerobot")
    target = tmp_path / "demos" / place
    file = target if target.is_file() else next(target.rglob("*.parquet"))
    file.write_text(POINTER)
    with pytest.raises(FormatError, match=rf"{file.name} is a Git LFS pointer .*run git lfs pull"):
        load(tmp_path / "demos")


@pytest.mark.parametrize("name", ["demos.hdf5", "demos.npz", "demos.csv"])
def test_a_single_file_that_is_a_pointer_of_git_lfs_is_recognized(
    name: str, tmp_path: Path
) -> None:
    (tmp_path / name).write_text(POINTER)
    for format in (None, "robomimic"):
        with pytest.raises(FormatError, match=r"is a Git LFS pointer .*run git lfs pull"):
            load(tmp_path / name, format=format)
