"""What every HDF5 format needs: files that open with a clear word and are written whole or not.

A file may come from anybody. Nothing outside it is ever read: links, data kept in other files and
virtual datasets are refused. So is a dataset that claims far more than the file can hold.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from counterbc.episode import Array
from counterbc.errors import CounterBCError, FormatError
from counterbc.files import aside, check_free

_LARGE = 2**28  # bytes; below this a dataset is read whatever it was compressed to
_RATIO = 200  # what real recordings never reach when compressed, and made-up sizes do


@contextmanager
def guarded(path: Path) -> Iterator[None]:
    """Turns whatever h5py raises on a damaged file into one sentence.

    h5py raises almost anything, so nothing but h5py's own calls belongs inside.
    """
    try:
        yield
    except CounterBCError:
        raise
    except Exception as error:
        raise FormatError(
            f"{path} cannot be read, it may be cut short or damaged ({_reason(error)}); "
            "copy or download it again"
        ) from error


@contextmanager
def opened(path: Path) -> Iterator[h5py.File]:
    """An HDF5 file to read."""
    if not path.is_file():
        raise FormatError(f"{path} is not a file; give the path of an HDF5 file")
    with guarded(path):
        path.open("rb").close()  # h5py calls a file that may not be read "not HDF5"
        if not h5py.is_hdf5(path):
            raise FormatError(f"{path} is not an HDF5 file; give one in robomimic's layout")
        file = h5py.File(path, "r")
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
                yield file
        except RuntimeError as error:  # how h5py reports a disk that fills up while it closes
            raise OSError(_reason(error)) from error


# Groups and datasets


def names(group: h5py.Group, path: Path) -> list[str]:
    """What a group holds, sorted; names that could be mistaken for another place are refused."""
    with guarded(path):
        found = sorted(group)
    for name in found:
        if name in (".", "..") or not _is_text(name):
            raise FormatError(f"{path}: {name!r} in {base(group)!r} is no proper name; rename it")
    return found


def member(group: h5py.Group, key: str, path: Path) -> h5py.Group | h5py.Dataset | None:
    """What lies under `key`, such as obs/state, or None; links are never followed."""
    found: Any = group
    for name in key.split("/"):
        with guarded(path):
            encoded = name.encode()
            if not isinstance(found, h5py.Group) or not found.id.links.exists(encoded):
                return None
            hard = found.id.links.get_info(encoded).type == h5py.h5l.TYPE_HARD
            where, found = found, found[name] if hard else None
        if not hard:
            raise FormatError(
                f"{path}: {name!r} in {base(where)!r} is a link, and links are not followed; "
                "copy what it points to into the file"
            )
    return found


def dataset(group: h5py.Group, key: str, path: Path) -> h5py.Dataset:
    """A dataset of numbers that lies in this file; anything else, objects above all, is refused."""
    found = member(group, key, path)
    if not isinstance(found, h5py.Dataset):
        raise FormatError(f"{path}: {base(group)!r} has no {key}; it has {listed(group, path)}")
    with guarded(path):
        kind, dtype = found.dtype.kind, found.dtype
    if kind not in "biuf":
        raise FormatError(
            f"{path}: {key} of {base(group)!r} holds values of type {dtype}; only numbers are read"
        )
    _check_storage(found, path)
    return found


def numbers(group: h5py.Group, key: str, path: Path) -> Array:
    found = dataset(group, key, path)
    with guarded(path):
        return np.asarray(found[()])


def strings(found: Any, what: str, path: Path) -> tuple[str, ...]:
    """A dataset of names."""
    with guarded(path):
        proper = isinstance(found, h5py.Dataset) and h5py.check_string_dtype(found.dtype)
    if not proper:
        raise FormatError(f"{path}: {what} is not a list of demo names; remove it")
    _check_storage(found, path)
    with guarded(path):
        return tuple(str(n) for n in np.ravel(found.asstr("utf-8")[()]))


def _check_storage(found: h5py.Dataset, path: Path) -> None:
    """Refuse data kept elsewhere, and a size that the bytes in this file cannot account for."""
    with guarded(path):
        made = found.id.get_create_plist()
        elsewhere = made.get_layout() == h5py.h5d.VIRTUAL or made.get_external_count() > 0
        size = found.id.get_type().get_size() * found.id.get_space().get_simple_extent_npoints()
        stored = found.id.get_storage_size() if size > _LARGE else size
    if elsewhere:
        raise FormatError(
            f"{path}: {found.name} is kept in another file; copy its values into this one"
        )
    if size > _RATIO * stored:
        raise FormatError(
            f"{path}: {found.name} claims {size / 1e9:,.1f} GB but only {stored / 1e9:,.3f} GB "
            "are stored; give a file whose datasets are filled"
        )


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
    value = attribute(group, key, path)
    try:
        return None if value is None else float(value)
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


def _reason(error: BaseException) -> str:
    return str(error).strip("'\"").split("\n")[0]
