"""Mutators are repeatable, change the file, and cover every format."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from attack.bases import BASES, recordings
from attack.mutators import STRUCTURES, copy, damage
from attack.mutators.hdf5_tree import CHANGES


@pytest.fixture(scope="module")
def bases(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bases")
    for name in ("own.hdf5", "own.npz", "table.csv", "lerobot21", "minari_packed"):
        BASES[name].make(recordings(), folder / name)
    return folder


def _contents(path: Path) -> dict[str, bytes]:
    files = [path] if path.is_file() else sorted(p for p in path.rglob("*") if p.is_file())
    return {str(file.relative_to(path)): file.read_bytes() for file in files}


@pytest.mark.parametrize("name", ["own.npz", "table.csv", "lerobot21", "minari_packed"])
def test_the_same_seed_gives_the_same_damage(name: str, bases: Path, tmp_path: Path) -> None:
    changes = 0
    for case in range(12):
        results = []
        for target in (tmp_path / "a" / name, tmp_path / "b" / name):
            target.parent.mkdir(exist_ok=True)
            copy(bases / name, target)
            results.append((damage(random.Random(case), target), _contents(target)))
        if not results[0][0].startswith("npz"):  # zip archives store the time
            assert results[0] == results[1]
        changes += results[0][1] != _contents(bases / name)
    assert changes >= 10


def test_every_suffix_of_our_files_has_a_mutator_of_its_structure(bases: Path) -> None:
    suffixes = {file.suffix for file in bases.rglob("*") if file.is_file()}
    assert suffixes <= set(STRUCTURES)


@pytest.mark.parametrize("kind", CHANGES)
def test_hdf5_changes_keep_a_file_that_the_library_of_hdf5_can_open(
    kind: str, bases: Path, tmp_path: Path
) -> None:
    import h5py

    from attack.mutators.hdf5_tree import Tree

    path = tmp_path / "x.hdf5"
    copy(bases / "own.hdf5", path)
    with h5py.File(path, "r+") as file:
        CHANGES[kind](Tree(random.Random(3), file))
    with h5py.File(path) as file:
        assert isinstance(list(file), list)
