"""Copies of robomimic files in which one thing is changed and all else is equal to the byte."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from counterbc.data.arrays import Array
from counterbc.diagnosis.components import by_episode
from counterbc.diagnosis.meaning import Meaning
from counterbc.errors import FormatError, OptionError
from counterbc.files import aside, check_free
from counterbc.formats import hdf5
from counterbc.formats.hdf5_output import Output, open_to_write

SHOWN_KEY = "actions_shown"
"""The key of the demonstrated actions in a cleaned file."""
SELECTED_KEY = "selected"
"""The key of the mark that says which pairs are learned from."""


@contextmanager
def _copy(source: Path, out: Path) -> Iterator[Output]:
    """Yield a copy to change, which becomes `out` at the end; after a failure nothing remains."""
    check_free(out)
    with aside(out) as temporary:
        shutil.copyfile(source, temporary)
        with open_to_write(temporary) as output:
            yield output


def _demos(file: h5py.File, path: Path) -> dict[str, h5py.Group]:
    """Return the group of each episode by the episode's name."""
    data = hdf5.subgroup(file, "data", path)
    by_counterbc = hdf5.attribute(data, "written_by", path) is not None
    groups = {}
    for name in hdf5.names(data, path):
        if hdf5.is_group(data, name, path):
            group = hdf5.subgroup(data, name, path)
            groups[(hdf5.text_of(group, "name", path) if by_counterbc else None) or name] = group
    return groups


def check_cleanable(source: Path) -> None:
    """Refuse a file whose actions cannot be replaced, before any work is done."""
    with hdf5.open_file(source) as file:
        for group in _demos(file, source).values():
            kind = hdf5.dataset(group, "actions", source).dtype
            if hdf5.holds(group, SHOWN_KEY, source):
                raise FormatError(
                    f"{source}: demo {hdf5.base(group)!r} has {SHOWN_KEY}, so it was cleaned "
                    "before; clean the file that it came from"
                )
            if kind.kind != "f":
                raise FormatError(
                    f"{source}: actions of demo {hdf5.base(group)!r} are of type {kind}, which "
                    "cannot hold the meant actions between them; store floating-point numbers"
                )


def check_mask(source: Path, name: str) -> None:
    """Refuse a name that cannot be added to the file's masks."""
    if not name or "/" in name or name in (".", ".."):
        raise OptionError(f"{name!r} cannot name a mask; use letters, digits and _")
    with hdf5.open_file(source) as file:
        if hdf5.holds(file, f"mask/{name}", source):
            raise OptionError(f"{source} has a mask {name!r} already; choose another name")


def write_cleaned(
    meaning: Meaning, source: Path, out: Path, provenance: Mapping[str, Any]
) -> list[str]:
    """Write a copy with meant actions, and the demonstrated ones under `actions_shown`.

    `provenance` becomes an attribute of the new actions. If a lag was undone, `selected` is false
    for the pairs that have no meant action. Returns the other keys of a demo that hold actions,
    which are not changed.
    """
    check_cleanable(source)
    other_keys: dict[str, None] = {}
    cleaned = meaning.cleaned
    is_learned = np.isin(np.arange(len(meaning.meant)), cleaned.learned)  # (N,)
    with _copy(source, out) as output:
        groups = _demos(output.file, source)
        parts = (by_episode(cleaned, values) for values in (meaning.meant, is_learned))
        for episode, actions, mark in zip(cleaned.episodes, *parts, strict=True):
            group = groups[episode.name]
            _replace(group, actions, provenance, source)
            if any(meaning.lag):
                _mark(group, mark, source)
            output.check()
            other_keys |= dict.fromkeys(
                k for k in hdf5.names(group, source) if k.startswith("action")
            )
    return [k for k in other_keys if k not in ("actions", SHOWN_KEY)]


def _replace(
    group: h5py.Group, meant_actions: Any, provenance: Mapping[str, Any], path: Path
) -> None:
    original = hdf5.dataset(group, "actions", path)
    group.move("actions", SHOWN_KEY)
    new = group.create_dataset(
        "actions", data=meant_actions.astype(original.dtype), chunks=original.chunks,
        compression=original.compression, compression_opts=original.compression_opts,
        shuffle=original.shuffle, fletcher32=original.fletcher32, maxshape=original.maxshape,
    )  # fmt: skip
    for key, value in original.attrs.items():
        new.attrs[key] = value
    new.attrs["meant"] = json.dumps(dict(provenance))


def _mark(group: h5py.Group, is_learned: Array, path: Path) -> None:
    """Store which pairs are learned from, in place of an earlier mark."""
    if hdf5.holds(group, SELECTED_KEY, path):
        del group[SELECTED_KEY]
    group[SELECTED_KEY] = is_learned


def write_mask(source: Path, out: Path, name: str, episodes: Iterable[str]) -> None:
    """Write a copy with one more mask, which names these episodes."""
    check_mask(source, name)
    with _copy(source, out) as output:
        groups = _demos(output.file, source)
        names = [hdf5.base(groups[k]).encode() for k in episodes]
        output.file[f"mask/{name}"] = np.array(names)
