"""Damage to bytes and to the structures of HDF5, JSON, Arrow, npz, CSV and safetensors files.

A mutator takes a random generator and a path, changes the file there, and returns what it did.
"""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable
from pathlib import Path

from attack.mutators import (
    arrow_tables,
    csv_cells,
    hdf5_tree,
    json_tree,
    npz_members,
    safetensors_header,
)
from attack.mutators.raw_bytes import change_bytes

__all__ = ["STRUCTURES", "change_bytes", "copy", "damage"]

STRUCTURES: dict[str, Callable[[random.Random, Path], str]] = {
    ".hdf5": hdf5_tree.change,
    ".json": json_tree.change,
    ".jsonl": json_tree.change,
    ".parquet": arrow_tables.change_parquet,
    ".arrow": arrow_tables.change_arrow,
    ".npz": npz_members.change,
    ".csv": csv_cells.change,
    ".safetensors": safetensors_header.change,
}
"""Mutators that know a file's structure, by its suffix."""
_FOLDER_SHARE, _BYTES_SHARE, _TWICE_SHARE = 0.06, 0.45, 0.25


def damage(rng: random.Random, path: Path) -> str:
    """Damage a file, or one file of a folder; return what was done.

    Changes of bytes and of whole files begin with "bytes" and "folder"; others edit the structure,
    and may give a valid file with other content.
    """
    if not path.is_dir():
        return _damage_file(rng, path)
    files = sorted(p for p in path.rglob("*") if p.is_file())
    file = rng.choice(files)
    inside = file.relative_to(path)
    if rng.random() < _FOLDER_SHARE:
        return f"folder:{_replace(rng, file, rng.choice(files))}:{inside}"
    return f"{_damage_file(rng, file)}:{inside}"


def _damage_file(rng: random.Random, path: Path) -> str:
    structure = STRUCTURES.get(path.suffix)
    if structure is None or rng.random() < _BYTES_SHARE:
        change = change_bytes(rng, path)
        return f"{change}+{change_bytes(rng, path)}" if rng.random() < _TWICE_SHARE else change
    return structure(rng, path)


def _replace(rng: random.Random, file: Path, other_file: Path) -> str:
    """Put something else in the place of a file."""
    kind = rng.choice(["remove", "folder", "empty", "swap", "link", "dangling"])
    content = other_file.read_bytes()
    file.unlink()
    if kind == "folder":
        file.mkdir()
    elif kind == "empty":
        file.write_bytes(b"")
    elif kind == "swap":
        file.write_bytes(content)
    elif kind == "link":
        file.symlink_to("/etc/passwd")
    elif kind == "dangling":
        file.symlink_to("/nowhere")
    return kind


def copy(source: Path, target: Path) -> None:
    """Copy a file or folder to a path; whatever is there is deleted."""
    if target.is_dir() and not target.is_symlink():
        shutil.rmtree(target)
    else:
        target.unlink(missing_ok=True)
    if source.is_dir():
        shutil.copytree(source, target)
    else:
        shutil.copy(source, target)
