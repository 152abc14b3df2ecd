"""Copies of robomimic files: one thing is changed, everything else is equal byte by byte."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from counterbc.diagnosis.meaning import Meaning
from counterbc.errors import FormatError, OptionError
from counterbc.files import aside, check_free
from counterbc.formats import hdf5
from counterbc.formats.guard import reason

SHOWN = "actions_shown"
"""Where a cleaned file keeps what was shown."""


@contextmanager
def _copied(source: Path, out: Path) -> Iterator[h5py.File]:
    """A copy to change, renamed to `out` when all went well; on any failure nothing remains."""
    check_free(out)
    with aside(out) as temporary:
        shutil.copyfile(source, temporary)
        try:
            with h5py.File(temporary, "r+") as file:
                yield file
        except RuntimeError as error:  # how h5py reports a disk that fills up while it closes
            raise OSError(reason(error)) from error


def _demos(file: h5py.File, path: Path) -> dict[str, h5py.Group]:
    """The group of each episode, by the episode's name."""
    data = hdf5.subgroup(file, "data", path)
    ours = hdf5.attribute(data, "written_by", path) is not None
    found = {}
    for name in hdf5.names(data, path):
        if hdf5.is_group(data, name, path):
            group = hdf5.subgroup(data, name, path)
            found[(hdf5.text_of(group, "name", path) if ours else None) or name] = group
    return found


def check_cleanable(source: Path) -> None:
    """Refuse a file whose actions cannot be replaced, before any work is done."""
    with hdf5.open_file(source) as file:
        for group in _demos(file, source).values():
            kind = hdf5.dataset(group, "actions", source).dtype
            if hdf5.holds(group, SHOWN, source):
                raise FormatError(
                    f"{source}: demo {hdf5.base(group)!r} has {SHOWN} already, so it was cleaned "
                    "before; clean the file that it came from"
                )
            if kind.kind != "f":
                raise FormatError(
                    f"{source}: actions of demo {hdf5.base(group)!r} are of type {kind}, which has "
                    "no room for what is meant between them; store floating-point numbers"
                )


def check_mask(source: Path, name: str) -> None:
    """Refuse a name that cannot be added to the file's masks."""
    if not name or "/" in name or name in (".", ".."):
        raise OptionError(f"{name!r} cannot name a mask; use letters, digits and _")
    with hdf5.open_file(source) as file:
        if hdf5.holds(file, f"mask/{name}", source):
            raise OptionError(f"{source} has a mask {name!r} already; choose another name")


def write_cleaned(meaning: Meaning, source: Path, out: Path, how: Mapping[str, Any]) -> list[str]:
    """The file with every action as it was meant, and what was shown under `actions_shown`.

    `how` says how they were found, as an attribute of the new actions. Returns other places of a
    demo that hold actions, which stay as they were shown.
    """
    check_cleanable(source)
    others: dict[str, None] = {}
    ends = np.cumsum([len(e) for e in meaning.demos.episodes])[:-1]
    with _copied(source, out) as file:
        groups = _demos(file, source)
        meant = np.split(meaning.meant, ends)
        for episode, actions in zip(meaning.demos.episodes, meant, strict=True):
            group = groups[episode.name]
            _replace(group, actions, how, source)
            others |= dict.fromkeys(k for k in hdf5.names(group, source) if k.startswith("action"))
    return [k for k in others if k not in ("actions", SHOWN)]


def _replace(group: h5py.Group, meant: Any, how: Mapping[str, Any], path: Path) -> None:
    shown = hdf5.dataset(group, "actions", path)
    group.move("actions", SHOWN)
    new = group.create_dataset(
        "actions", data=meant.astype(shown.dtype), chunks=shown.chunks,
        compression=shown.compression, compression_opts=shown.compression_opts,
        shuffle=shown.shuffle, fletcher32=shown.fletcher32, maxshape=shown.maxshape,
    )  # fmt: skip
    for key, value in shown.attrs.items():
        new.attrs[key] = value
    new.attrs["meant"] = json.dumps(dict(how))


def write_mask(source: Path, out: Path, name: str, kept: Iterable[str]) -> None:
    """The file with one more mask, which names these episodes."""
    check_mask(source, name)
    with _copied(source, out) as file:
        groups = _demos(file, source)
        names = [hdf5.base(groups[k]).encode() for k in kept]
        file[f"mask/{name}"] = np.array(names)
