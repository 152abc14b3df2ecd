"""What every HDF5 format needs: files that open with a clear word and are written whole or not.

A file may come from anybody. Nothing outside it is ever read: links, data kept in other files and
virtual datasets are refused. So is a dataset that claims far more than the file can hold.
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

from counterbc.data.episode import Array
from counterbc.errors import FormatError
from counterbc.files import aside, check_free
from counterbc.formats.guard import LARGE, check_size, guarded, reason

_UNFILLED = 2**20  # bytes that may be claimed without a single one stored


@contextmanager
def opened(path: Path) -> Iterator[h5py.File]:
    """An HDF5 file to read."""
    if not path.is_file():
        raise FormatError(f"{path} is not a file; give the path of an HDF5 file")
    with guarded(path):
        path.open("rb").close()  # h5py calls a file that may not be read "not HDF5"
        if not h5py.is_hdf5(path):
            raise FormatError(f"{path} is not an HDF5 file; give the path of one")
        file = h5py.File(path, "r")
        _bound_cache(file)
    try:
        yield file
    finally:
        with guarded(path):
            file.close()


@contextmanager
def created(path: Path) -> Iterator[h5py.File]:
    """A new HDF5 file, written aside and renamed when complete; on any failure nothing remains."""
    check_free(path)
    with aside(path) as temporary:
        try:
            with h5py.File(temporary, "x") as file:
                _bound_cache(file)
                yield file
        except RuntimeError as error:  # how h5py reports a disk that fills up while it closes
            raise OSError(reason(error)) from error


def _bound_cache(file: h5py.File) -> None:
    """Keep HDF5 from remembering the descriptions of ten thousand demos, hundreds of megabytes."""
    config = file.id.get_mdc_config()
    config.set_initial_size, config.initial_size = True, 2**20
    config.min_size, config.max_size = 2**20, 2**21
    file.id.set_mdc_config(config)


# Groups and datasets


def names(group: h5py.Group, path: Path) -> list[str]:
    """What a group holds, sorted; links are refused, and names that could mean another place."""
    found: dict[bytes, int] = {}
    with guarded(path):
        group.id.links.iterate(lambda name, info: found.update({name: info.type}), info=True)
    for name, kind in found.items():
        if kind != h5py.h5l.TYPE_HARD:
            raise _link(group, name, path)
        if name in (b".", b"..") or not _is_text(name):
            raise FormatError(f"{path}: {name!r} in {base(group)!r} is no proper name; rename it")
    return sorted(name.decode() for name in found)


def holds(group: h5py.Group, key: str, path: Path) -> bool:
    """Whether something lies under `key`, such as obs/state; links are refused, not followed."""
    encoded, end = key.encode(), 0
    with guarded(path):
        links = group.id.links
        while end < len(encoded):
            end = (encoded + b"/").index(b"/", end + 1)
            if not links.exists(encoded[:end]):
                return False
            if links.get_info(encoded[:end]).type != h5py.h5l.TYPE_HARD:
                raise _link(group, encoded[:end], path)
    return True


def _link(group: h5py.Group, name: bytes, path: Path) -> FormatError:
    return FormatError(
        f"{path}: {text(name)!r} in {base(group)!r} is a link, and links are not followed; "
        "copy what it points to into the file"
    )


def member(group: h5py.Group, key: str, path: Path) -> h5py.Group | h5py.Dataset | None:
    """What lies under `key`, or None."""
    if not holds(group, key, path):
        return None
    with guarded(path):
        found = h5py.h5o.open(group.id, key.encode())
        return h5py.Group(found) if isinstance(found, h5py.h5g.GroupID) else group[key]


def is_group(group: h5py.Group, name: str, path: Path) -> bool:
    """Whether a group lies under `name`, found out without opening it."""
    if not holds(group, name, path):
        return False
    with guarded(path):
        return bool(h5py.h5o.get_info(group.id, name.encode()).type == h5py.h5o.TYPE_GROUP)


# In these `known` says that the key is one of `names`, so that it is there and no link. To look
# every name up again, or to go through h5py's Python layer, takes as long as reading an episode.


def subgroup(group: h5py.Group, key: str, path: Path, known: bool = False) -> h5py.Group:
    """A group that must be there."""
    there = known or holds(group, key, path)
    with guarded(path):
        found = h5py.h5o.open(group.id, key.encode()) if there else None
    if not isinstance(found, h5py.h5g.GroupID):
        raise FormatError(f"{path}: {base(group)!r} has no {key}; it has {listed(group, path)}")
    return h5py.Group(found)


def dataset(group: h5py.Group, key: str, path: Path) -> h5py.Dataset:
    """A dataset of numbers that lies in this file; anything else, objects above all, is refused."""
    there = holds(group, key, path)
    with guarded(path):
        return h5py.Dataset(_dataset(group, key, path, there)[0])


def numbers(group: h5py.Group, key: str, path: Path, known: bool = False) -> Array:
    """All of a dataset."""
    there = known or holds(group, key, path)
    with guarded(path):
        found, shape, dtype = _dataset(group, key, path, there)
        values = np.empty(shape, dtype)
        found.read(h5py.h5s.ALL, h5py.h5s.ALL, values)
        return values


def strings(found: Any, what: str, path: Path) -> tuple[str, ...]:
    """A dataset of names."""
    with guarded(path):
        proper = isinstance(found, h5py.Dataset) and h5py.check_string_dtype(found.dtype)
        if not proper:
            raise FormatError(f"{path}: {what} is not a list of demo names; remove it")
        _check_storage(found.id, what, found.shape, found.dtype, path)
        return tuple(str(n) for n in np.ravel(found.asstr("utf-8")[()]))


def _dataset(
    group: h5py.Group, key: str, path: Path, there: bool
) -> tuple[Any, tuple[int, ...], Any]:
    """Its id, shape and type."""
    found = h5py.h5o.open(group.id, key.encode()) if there else None
    if not isinstance(found, h5py.h5d.DatasetID):
        raise FormatError(f"{path}: {base(group)!r} has no {key}; it has {listed(group, path)}")
    shape, dtype = found.shape, found.dtype
    if dtype.kind not in "biuf":
        raise FormatError(
            f"{path}: {key} of {base(group)!r} holds values of type {dtype}; only numbers are read"
        )
    _check_storage(found, key, shape, dtype, path)
    return found, shape, dtype


def _check_storage(found: Any, name: str, shape: tuple[int, ...], dtype: Any, path: Path) -> None:
    """Refuse data kept elsewhere, and a size that the bytes in this file cannot account for."""
    if found.get_offset() is None:  # not one piece of this file: chunks, or elsewhere
        made = found.get_create_plist()
        if made.get_layout() == h5py.h5d.VIRTUAL or made.get_external_count() > 0:
            raise FormatError(
                f"{path}: {name} is kept in another file; copy its values into this one"
            )
    size = math.prod(shape) * dtype.itemsize
    if size > LARGE:
        check_size(f"{path}: {name}", size, found.get_storage_size())
    elif size > _UNFILLED and found.get_storage_size() == 0:  # many of these add up
        raise FormatError(f"{path}: {name} claims {size:,} bytes but stores none; fill it")


# Attributes


def attribute(group: h5py.Group, key: str, path: Path, default: Any = None) -> Any:
    with guarded(path):
        # .get would take an attribute that cannot be read for one that is absent
        return group.attrs[key] if h5py.h5a.exists(group.id, key.encode()) else default


def text_of(group: h5py.Group, key: str, path: Path) -> str | None:
    """An attribute as text; None where it is absent."""
    value = attribute(group, key, path)
    if value is None:
        return None
    if not isinstance(value, str | bytes) or not _is_text(value):
        raise FormatError(f"{path}: attribute {key} of {base(group)!r} is not text; repair it")
    return text(value)


def number_of(group: h5py.Group, key: str, path: Path) -> float | None:
    """An attribute as a number, also one that was written as text; None where it is absent."""
    value: Any = np.empty(())
    with guarded(path):
        if not h5py.h5a.exists(group.id, key.encode()):
            return None
        try:  # straight from HDF5, which takes a fifth of the time
            h5py.h5a.open(group.id, key.encode()).read(value, h5py.h5t.NATIVE_DOUBLE)
        except (OSError, TypeError, ValueError):  # a truth value, a text, a list
            value = group.attrs[key]
    try:
        return float(value)
    except (TypeError, ValueError):
        raise FormatError(
            f"{path}: attribute {key} of {base(group)!r} is {value!r}; expected a number"
        ) from None


def from_json(group: h5py.Group, key: str, path: Path, default: Any) -> Any:
    """An attribute that holds a JSON value of the same kind as `default`."""
    written = text_of(group, key, path)
    if written is None:
        return default
    try:
        value = json.loads(written)
    except (ValueError, RecursionError) as error:
        raise FormatError(f"{path}: attribute {key} is not JSON ({error}); repair it") from None
    if type(value) is not type(default):
        raise FormatError(
            f"{path}: attribute {key} holds a JSON {type(value).__name__}; "
            f"expected a {type(default).__name__}"
        )
    return value


def text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)


def base(group: h5py.Group) -> str:
    """The last part of a group's name."""
    return str(group.name).rsplit("/", 1)[-1]


def listed(group: h5py.Group, path: Path) -> str:
    with guarded(path):
        return ", ".join(sorted(group)) or "nothing"


def _is_text(value: str | bytes) -> bool:
    """Whether it is proper UTF-8; h5py hides other bytes in surrogates."""
    try:
        value.encode() if isinstance(value, str) else value.decode()
    except UnicodeError:
        return False
    return True
