"""HDF5 files, read safely and with clear errors.

A file may come from anybody, so nothing outside it is ever read: links, external data and virtual
datasets are refused. A dataset that claims far more bytes than the file stores is refused too.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from counterbc.data.arrays import Array
from counterbc.errors import FormatError
from counterbc.files import Guard
from counterbc.formats import untrusted
from counterbc.formats.guard import check_content
from counterbc.formats.hdf5_heaps import check_heaps
from counterbc.formats.hdf5_output import bound_cache
from counterbc.formats.untrusted import check_size

_NAMES = 64  # names per read: all of them may point to one long text
_UNFILLED = 2**20  # bytes that a dataset may claim while the file stores none of them


@contextmanager
def open_file(path: Path) -> Iterator[h5py.File]:
    """Open an HDF5 file to read."""
    if not path.is_file():
        raise FormatError(f"{path} is not a file; give the path of an HDF5 file")
    with Guard(path):
        check_content(path)  # h5py reports a file without read permission as "not HDF5"
        if not h5py.is_hdf5(path):
            raise FormatError(f"{path} is not an HDF5 file; give the path of an HDF5 file")
        check_heaps(path)
        file = h5py.File(path, "r")
        bound_cache(file)
    try:
        yield file
    finally:
        with Guard(path):
            file.close()


# Groups and datasets


def names(group: h5py.Group, path: Path) -> list[str]:
    """Return the sorted names in a group; links and names such as `..` are refused."""
    types: dict[bytes, int] = {}
    with Guard(path):
        group.id.links.iterate(lambda name, info: types.update({name: info.type}), info=True)
    for name, kind in types.items():
        if kind != h5py.h5l.TYPE_HARD:
            raise _link(group, name, path)
        if name in (b".", b"..") or not _is_text(name):
            raise FormatError(f"{path}: {name!r} in {base(group)!r} is not a valid name; rename it")
    return sorted(name.decode() for name in types)


def holds(group: h5py.Group, key: str, path: Path) -> bool:
    """Return whether `key`, such as obs/state, exists; links are refused, not followed."""
    key_bytes, end = key.encode(), 0
    with Guard(path):
        links = group.id.links
        while end < len(key_bytes):
            end = (key_bytes + b"/").index(b"/", end + 1)
            if not links.exists(key_bytes[:end]):
                return False
            if links.get_info(key_bytes[:end]).type != h5py.h5l.TYPE_HARD:
                raise _link(group, key_bytes[:end], path)
    return True


def _link(group: h5py.Group, name: bytes, path: Path) -> FormatError:
    return FormatError(
        f"{path}: {text(name)!r} in {base(group)!r} is a link, and links are not followed; "
        "copy its target into the file"
    )


def member(group: h5py.Group, key: str, path: Path) -> h5py.Group | h5py.Dataset | None:
    """Return the group or dataset under `key`, or None."""
    if not holds(group, key, path):
        return None
    with Guard(path):
        object_id = h5py.h5o.open(group.id, key.encode())
        is_group = isinstance(object_id, h5py.h5g.GroupID)
        return h5py.Group(object_id) if is_group else group[key]


def is_group(group: h5py.Group, name: str, path: Path) -> bool:
    """Return whether there is a group under `name`, without opening it."""
    if not holds(group, name, path):
        return False
    with Guard(path):
        return bool(h5py.h5o.get_info(group.id, name.encode()).type == h5py.h5o.TYPE_GROUP)


# `exists=True` says that the key is one of `names`, so it exists and is not a link. Looking every
# name up again, or going through h5py's Python layer, takes as long as reading an episode.


def subgroup(group: h5py.Group, key: str, path: Path, exists: bool = False) -> h5py.Group:
    """Return the group under `key`, which must exist."""
    exists = exists or holds(group, key, path)
    with Guard(path):
        group_id = h5py.h5o.open(group.id, key.encode()) if exists else None
    if not isinstance(group_id, h5py.h5g.GroupID):
        raise _absent(group, key, path)
    return h5py.Group(group_id)


def group_of(group: h5py.Group, key: str, path: Path) -> h5py.Group | None:
    """Return what is under a key, one of `names`, if it is a group."""
    with Guard(path):
        object_id = h5py.h5o.open(group.id, key.encode())
    return h5py.Group(object_id) if isinstance(object_id, h5py.h5g.GroupID) else None


def dataset(group: h5py.Group, key: str, path: Path) -> h5py.Dataset:
    """Return a dataset of numbers stored in this file; anything else is refused."""
    exists = holds(group, key, path)
    with Guard(path):
        return h5py.Dataset(_dataset(group, key, path, exists)[0])


def numbers(group: h5py.Group, key: str, path: Path, exists: bool = False) -> Array:
    """Read all numbers of a dataset."""
    exists = exists or holds(group, key, path)
    with Guard(path):
        dataset_id, shape, dtype = _dataset(group, key, path, exists)
        values = np.empty(shape, dtype)
        dataset_id.read(h5py.h5s.ALL, h5py.h5s.ALL, values)
        return values


def strings(names: Any, label: str, path: Path) -> tuple[str, ...]:
    """Read all strings of a dataset of names."""
    with Guard(path):
        is_list = isinstance(names, h5py.Dataset) and names.ndim == 1
        if not is_list or not h5py.check_string_dtype(names.dtype):
            raise FormatError(f"{path}: {label} is not a list of demo names; remove it")
        _check_storage(names.id, label, names.shape, names.dtype, path)
        texts, size = [], 0
        for begin in range(0, len(names), _NAMES):
            part = [str(text) for text in names.asstr("utf-8")[begin : begin + _NAMES]]
            size += sum(map(len, part))
            check_size(f"{path}: {label}", size, path.stat().st_size)
            texts += part
        return tuple(texts)


def _dataset(
    group: h5py.Group, key: str, path: Path, exists: bool
) -> tuple[Any, tuple[int, ...], Any]:
    """Return the id, shape and type of a dataset."""
    dataset_id = h5py.h5o.open(group.id, key.encode()) if exists else None
    if not isinstance(dataset_id, h5py.h5d.DatasetID):
        raise _absent(group, key, path)
    shape, dtype = dataset_id.shape, dataset_id.dtype
    if dtype.kind not in "biuf":
        raise FormatError(
            f"{path}: {key} of {base(group)!r} holds values of type {dtype}; "
            "only numbers can be read; convert or remove them"
        )
    _check_storage(dataset_id, key, shape, dtype, path)
    return dataset_id, shape, dtype


def _absent(group: h5py.Group, key: str, path: Path) -> FormatError:
    return FormatError(
        f"{path}: {base(group)!r} has no {key}; it has {listing(group, path)}; "
        f"add {key}, or give a file that has it"
    )


def _check_storage(
    dataset_id: Any, name: str, shape: tuple[int, ...], dtype: Any, path: Path
) -> None:
    """Refuse data stored in other files, and sizes far beyond the bytes stored in this file."""
    if dataset_id.get_offset() is None:  # not contiguous in this file: chunked, or elsewhere
        properties = dataset_id.get_create_plist()
        is_virtual = properties.get_layout() == h5py.h5d.VIRTUAL
        if is_virtual or properties.get_external_count() > 0:
            raise FormatError(
                f"{path}: {name} is stored in another file; copy its values into this one"
            )
    size = math.prod(shape) * dtype.itemsize
    if size > untrusted.LARGE:
        check_size(f"{path}: {name}", size, dataset_id.get_storage_size())
    elif size > _UNFILLED and dataset_id.get_storage_size() == 0:  # many of these add up
        raise FormatError(f"{path}: {name} claims {size:,} bytes but the file stores none; fill it")


# Attributes


def attribute(group: h5py.Group, key: str, path: Path, default: Any = None) -> Any:
    """Return an attribute, or `default` if there is none."""
    with Guard(path):
        # .get returns the default also for an attribute that cannot be read
        return group.attrs[key] if h5py.h5a.exists(group.id, key.encode()) else default


def text_of(group: h5py.Group, key: str, path: Path) -> str | None:
    """Return an attribute as text, or None if there is none."""
    value = attribute(group, key, path)
    if value is None:
        return None
    if not isinstance(value, str | bytes) or not _is_text(value):
        raise FormatError(f"{path}: attribute {key} of {base(group)!r} is not text; repair it")
    return text(value)


def number_of(group: h5py.Group, key: str, path: Path) -> float | None:
    """Return an attribute as a number, also if it was written as text; None if there is none."""
    value: Any = np.empty(())
    with Guard(path):
        if not h5py.h5a.exists(group.id, key.encode()):
            return None
        try:  # directly from HDF5, which takes a fifth of the time
            h5py.h5a.open(group.id, key.encode()).read(value, h5py.h5t.NATIVE_DOUBLE)
        except (OSError, TypeError, ValueError):  # a boolean, a text or a list
            value = group.attrs[key]
    try:
        return float(value)
    except (TypeError, ValueError):
        raise FormatError(
            f"{path}: attribute {key} of {base(group)!r} is {value!r}; expected a number; repair it"
        ) from None


def from_json(group: h5py.Group, key: str, path: Path, default: Any) -> Any:
    """Return an attribute that holds JSON; its value must be of the same type as `default`."""
    json_text = text_of(group, key, path)
    if json_text is None:
        return default
    try:
        value = json.loads(json_text)
    except (ValueError, RecursionError) as error:
        raise FormatError(f"{path}: attribute {key} is not JSON ({error}); repair it") from None
    if type(value) is not type(default):
        raise FormatError(
            f"{path}: attribute {key} holds a JSON {type(value).__name__}; "
            f"expected a {type(default).__name__}; repair it"
        )
    return value


def text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)


def base(group: h5py.Group) -> str:
    """Return the last part of the name of a group."""
    return str(group.name).rsplit("/", 1)[-1]


def listing(group: h5py.Group, path: Path) -> str:
    """Return the names in a group as a text for error messages."""
    with Guard(path):
        return ", ".join(sorted(group)) or "nothing"


def _is_text(value: str | bytes) -> bool:
    """Return whether a value is valid UTF-8; h5py hides other bytes in surrogates."""
    try:
        value.encode() if isinstance(value, str) else value.decode()
    except UnicodeError:
        return False
    return True
