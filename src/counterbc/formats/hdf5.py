"""What every HDF5 format needs: files that open with a clear word and are written whole or not."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from counterbc.episode import Array
from counterbc.errors import DataError, FormatError
from counterbc.files import aside, check_free


@contextmanager
def opened(path: Path) -> Iterator[h5py.File]:
    """An HDF5 file to read; whatever is wrong with it is said in one sentence."""
    if not path.is_file():
        raise FormatError(f"{path} is not a file; give the path of an HDF5 file")
    try:
        path.open("rb").close()  # h5py calls a file that may not be read "not HDF5"
        if not h5py.is_hdf5(path):
            raise FormatError(f"{path} is not an HDF5 file; give one in robomimic's layout")
        with h5py.File(path, "r") as file:
            yield file
    except DataError as error:
        raise DataError(f"{path}: {error}") from None
    except (OSError, RuntimeError, KeyError, TypeError, ValueError) as error:
        raise FormatError(
            f"{path} cannot be read, it may be cut short or damaged ({_reason(error)}); "
            "copy or download it again"
        ) from error


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
        except (TypeError, ValueError) as error:
            raise FormatError(
                f"{path} could not be written, HDF5 cannot hold one of its names or env_args "
                f"({_reason(error)}); rename or remove it"
            ) from error


def dataset(group: h5py.Group, key: str, path: Path) -> h5py.Dataset:
    """A dataset of numbers; anything else, Python objects above all, is refused."""
    found = group.get(key)
    if not isinstance(found, h5py.Dataset):
        raise FormatError(f"{path}: {base(group)!r} has no {key}; it has {listed(group)}")
    if found.dtype.kind not in "biuf":
        raise FormatError(
            f"{path}: {key} of {base(group)!r} holds values of type {found.dtype}; "
            "only numbers are read"
        )
    return found


def numbers(group: h5py.Group, key: str, path: Path) -> Array:
    return np.asarray(dataset(group, key, path)[()])


def from_json(group: h5py.Group, key: str, path: Path, default: Any) -> Any:
    """An attribute that holds a JSON value of the same kind as `default`."""
    if key not in group.attrs:
        return default
    try:
        value = json.loads(text(group.attrs[key]))
    except ValueError as error:
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


def listed(group: h5py.Group) -> str:
    return ", ".join(sorted(group)) or "nothing"


def _reason(error: BaseException) -> str:
    return str(error).strip("'\"").split("\n")[0]
