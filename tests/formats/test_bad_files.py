"""Files that lie, point elsewhere or were damaged: read right, or refused in one sentence."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import h5py
import numpy as np
import pytest

from counterbc.data.demonstrations import Demonstrations
from counterbc.errors import CounterBCError, FormatError
from counterbc.formats import hdf5, load, open_stream, save

DATA = os.environ.get("COUNTERBC_DATA")


@pytest.fixture
def demos(tiny: Demonstrations, tmp_path: Path) -> Path:
    tiny.save(tmp_path / "demos.hdf5")
    return tmp_path / "demos.hdf5"


def moved(file: h5py.File, key: str) -> str:
    """Takes what lies under `key` away; where it is now."""
    file.move(key, "/elsewhere")
    return "/elsewhere"


@pytest.mark.parametrize(
    "key", ["data", "mask", "data/demo_1", "data/demo_1/obs", "data/demo_1/actions",
            "data/demo_1/obs/state", "data/demo_1/rewards", "mask/expert"],
)  # fmt: skip
@pytest.mark.parametrize("kind", ["soft", "external"])
def test_links_are_refused(kind: str, key: str, demos: Path, tmp_path: Path) -> None:
    with h5py.File(demos, "a") as file:
        place = moved(file, key)
        if kind == "soft":
            file[key] = h5py.SoftLink(place)
    if kind == "external":
        os.rename(demos, tmp_path / "other.hdf5")
        with h5py.File(tmp_path / "other.hdf5") as other, h5py.File(demos, "w") as file:
            for name in ("data", "mask"):
                if name in other:
                    other.copy(name, file)
            file[key] = h5py.ExternalLink(tmp_path / "other.hdf5", "/elsewhere")
    with pytest.raises(FormatError, match="is a link, and links are not followed"):
        load(demos)


def test_values_kept_in_another_file_are_refused(demos: Path, tmp_path: Path) -> None:
    (tmp_path / "secret").write_bytes(np.zeros(20, np.float32).tobytes())
    with h5py.File(demos, "a") as file:
        del file["data/demo_1/actions"]
        file["data/demo_1"].create_dataset(
            "actions", (10, 2), np.float32, external=[(tmp_path / "secret", 0, 80)]
        )
    with pytest.raises(FormatError, match="actions is stored in another file"):
        load(demos)


def test_virtual_datasets_are_refused(demos: Path, tmp_path: Path) -> None:
    with h5py.File(tmp_path / "other.hdf5", "w") as other:
        other["secret"] = np.zeros((10, 2))
    layout = h5py.VirtualLayout((10, 2), np.float64)
    layout[:] = h5py.VirtualSource(tmp_path / "other.hdf5", "secret", (10, 2))
    with h5py.File(demos, "a") as file:
        del file["data/demo_1/actions"]
        file["data/demo_1"].create_virtual_dataset("actions", layout)
    with pytest.raises(FormatError, match="actions is stored in another file"):
        load(demos)


@pytest.mark.parametrize("key", ["data/demo_1/actions", "data/demo_1/obs/state", "mask/expert"])
def test_a_dataset_that_claims_terabytes_is_refused_before_it_is_read(
    key: str, demos: Path
) -> None:
    with h5py.File(demos, "a") as file:
        kind = file[key].dtype
        del file[key]
        shape = (2**38,) if "mask" in key else (2**38, 3)
        file.create_dataset(key, shape, kind, chunks=True, compression="gzip")
    with pytest.raises(FormatError, match=r"claims [\d,.]+ GB but the file stores 0\.000"):
        load(demos)


def test_a_flat_file_that_claims_terabytes_is_refused_before_it_is_read(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "flat.hdf5", "w") as file:
        for key, width in (("observations", 3), ("actions", 2), ("terminals", 1)):
            file.create_dataset(key, (2**40, width), np.float32, chunks=(1024, width))
    with pytest.raises(FormatError, match=r"claims .* GB but the file stores"):
        load(tmp_path / "flat.hdf5")


@pytest.mark.parametrize("key", ["data/..", "data/demo_0/obs/..", "mask/.."])
def test_names_that_could_mean_another_place_are_refused(key: str, demos: Path) -> None:
    with h5py.File(demos, "a") as file:
        file[key] = np.zeros((10, 2))
    with pytest.raises(FormatError, match=r"'\.\.' in .* is not a valid name; rename it"):
        load(demos)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("rate", "often"),
        ("rate", -1.0),
        ("action_low", "abc"),
        ("action_low", [np.nan, 0]),
        ("action_set", "cube"),
        ("action_names", "[1, 2]"),
        ("action_names", '["a"]'),
        ("obs_keys", '[["state"]]'),
        ("obs_keys", '[["state", 7]]'),
        ("obs_names", "{}"),
        ("env_args", "[" * 100_000),
        ("env_args", b"\xff\xfe"),
        ("env_args", np.arange(3)),
    ],
)
def test_attributes_that_make_no_sense_are_refused(key: str, value: object, demos: Path) -> None:
    with h5py.File(demos, "a") as file:
        file["data"].attrs[key] = value
    if (key, value) == ("obs_keys", '[["state", 7]]'):
        assert load(demos).obs_keys == (("state", 3),)  # what the data show counts
        return
    with pytest.raises(CounterBCError):
        load(demos)


def test_a_bug_of_ours_is_not_taken_for_damage(
    demos: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise KeyError("a bug")

    monkeypatch.setattr("counterbc.formats.robomimic.reader._read_obs", broken)
    with pytest.raises(KeyError, match="a bug"):
        load(demos)


def test_what_a_user_does_wrong_while_reading_is_not_taken_for_damage(demos: Path) -> None:
    with pytest.raises(KeyError, match="mine"), hdf5.open_file(demos):
        raise KeyError("mine")


# No permission


@contextmanager
def as_nobody() -> Iterator[None]:
    """Root may read everything; so be somebody else for a while."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.mark.skipif(sys.platform == "win32", reason="permissions are told otherwise there")
@pytest.mark.parametrize("ending", [".hdf5", ".npz", ".csv"])
def test_a_file_that_may_not_be_read_is_refused(ending: str, tiny: Demonstrations) -> None:
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


def test_a_folder_that_may_not_be_written_to_is_named(tiny: Demonstrations) -> None:
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o555)
        with as_nobody(), pytest.raises(FormatError, match="could not be written"):
            tiny.save(Path(folder) / "demos.hdf5")
        os.chmod(folder, 0o700)


# Damage

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
    found = [folder / "ours.hdf5", folder / "ours.npz"]
    if DATA:
        whole = h5py.File(Path(DATA) / "pusht_human_206.hdf5")
        with whole, h5py.File(folder / "push_t.hdf5", "w") as part:
            group = part.create_group("data")
            group.attrs.update(whole["data"].attrs)
            for i in range(3):
                whole.copy(f"data/demo_{i}", group)
        fixtures = Path(DATA) / "fixtures"
        found += [folder / "push_t.hdf5", *sorted(fixtures.glob("robomimic_*_low_dim_*.hdf5"))]
    return found


def cut(content: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return content[: rng.integers(len(content))]


def flipped(content: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """One bit in each of eight bytes."""
    content[rng.integers(len(content), size=8)] ^= np.uint8(1) << rng.integers(8, dtype=np.uint8)
    return content


def flipped_in_front(content: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """In the first part, where HDF5 keeps its own tables."""
    flipped(content[:8192], rng)
    return content


def overwritten(content: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    start = rng.integers(max(len(content) - 300, 1))
    content[start : start + 300] = rng.integers(256, size=len(content[start : start + 300]))
    return content


WAYS: list[Callable[[np.ndarray, np.random.Generator], np.ndarray]]
WAYS = [cut, flipped, flipped_in_front, overwritten]


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
    done = subprocess.run(  # a crash of the HDF5 library would take the tests with it
        [sys.executable, "-c", WORKER, *damaged], capture_output=True, text=True, timeout=120
    )
    results = dict(json.loads(line) for line in done.stdout.splitlines())
    assert done.returncode == 0, damaged[len(results)]
    assert list(results) == damaged
    assert {r for r in results.values() if r not in ("read", "refused")} == set()
    assert {"read", "refused"} == set(results.values())


def test_many_arrays_that_store_nothing_are_refused_one_by_one(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "d.hdf5", "w") as file:
        for i in range(40):
            group = file.create_group(f"data/demo_{i}")
            for key, width in (("obs/x", 3), ("actions", 2)):
                group.create_dataset(key, (10_000_000, width), "f8", chunks=(10_000, width))
    with pytest.raises(FormatError, match="the file stores none"):
        load(tmp_path / "d.hdf5")


def test_masks_of_a_subset_name_only_what_is_in_it(tiny: Demonstrations, tmp_path: Path) -> None:
    names = [e.name for e in tiny.episodes]
    masks = {"good": tuple(names[:1]), "all": tuple(names)}
    replace(tiny, masks=masks).save(tmp_path / "d.hdf5")
    part = open_stream(tmp_path / "d.hdf5").subset("good").demonstrations()
    assert part.masks == {"good": tuple(names[:1]), "all": tuple(names[:1])}
