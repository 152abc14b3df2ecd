"""Damage to npz files: arrays, their names, types and headers, and our notes in them."""

from __future__ import annotations

import io
import json
import random
import warnings
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from attack.mutators.json_tree import change_tree
from attack.mutators.odd_values import NUMBERS, plain_text, shape

Arrays = dict[str, np.ndarray[Any, Any]]

_KINDS = (
    "drop", "rename", "shape", "shape", "type", "type", "object", "values", "fortran", "text",
    "header", "header", "version", "name", "huge", "notes", "notes",
)  # fmt: skip
_TYPES = (
    "f2", "f4", "i4", "u1", "c16", "U3", "S3", "O", "bool", "M8[s]", "V4", ">f8", "g", "U0",
    "m8[s]",
)  # fmt: skip
_RENAMES = ("x", "episode", "operator", "selected", "reward", "counterbc", "episode_ends")
_NAMES = ("../x", "/abs", "a/b", "é", "", "obs.npy")
_HEADER_EDITS = (
    (b"(", b"(-"), (b"40", b"99"), (b"False", b"True "), (b"<f8", b"<f4"), (b"<f4", b"|O "),
    (b"'shape'", b"'shapo'"), (b"{", b"["), (b"<", b">"), (b"f8", b"U8"), (b"descr", b"desce"),
    (b"(40,", b"(4" + b"0" * 15 + b","), (b"40", b"3 "), (b"4", b"1"),
)  # fmt: skip
_HUGE = ((10**12, 4), (10**9,), (2**62, 2**62), (40, 10**9), (-1, 4), (10**6, 400))
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA)
_HEADER = 128  # bytes of the header of a small array
_TWICE_SHARE = 0.02  # of members that are stored twice


def change(rng: random.Random, path: Path) -> str:
    """Change one or two arrays, and how the archive is compressed."""
    with np.load(path, allow_pickle=False) as archive:
        arrays: Arrays = {name: archive[name] for name in archive.files}
    headers: dict[str, str] = {}
    kinds = []
    for _ in range(rng.choice([1, 1, 2])):
        name, kind = rng.choice(list(arrays)), rng.choice(_KINDS)
        kinds.append(kind)
        if kind in ("header", "version", "huge"):
            headers[name] = kind
        elif kind == "drop" and len(arrays) > 1:
            del arrays[name]
        else:
            _change_array(rng, arrays, name, kind)
    with warnings.catch_warnings(), zipfile.ZipFile(path, "w", rng.choice(_METHODS)) as archive_out:
        warnings.simplefilter("ignore")  # about the same name twice
        for name, array in arrays.items():
            content = _member(rng, array, headers.get(name, ""))
            if content is not None:
                archive_out.writestr(f"{name}.npy", content)
                if rng.random() < _TWICE_SHARE:
                    archive_out.writestr(f"{name}.npy", content)
    return "npz:" + "+".join(kinds)


def _change_array(rng: random.Random, arrays: Arrays, name: str, kind: str) -> None:
    array = arrays[name]
    if kind == "rename":
        arrays[rng.choice(_RENAMES)] = array
    elif kind == "name":
        arrays[rng.choice(_NAMES)] = array
    elif kind == "shape":
        arrays[name] = np.zeros(shape(rng, array.shape), array.dtype)
    elif kind == "type":
        try:
            arrays[name] = array.astype(rng.choice(_TYPES))
        except (TypeError, ValueError):
            arrays[name] = np.array([None, 1], object)
    elif kind == "object":
        arrays[name] = np.array([{"a": 1}, None], object)
    elif kind == "values" and array.dtype.kind in "fiu" and array.size:
        arrays[name] = with_odd_number(rng, array)
    elif kind == "fortran":
        arrays[name] = np.asfortranarray(array)
    elif kind == "text":
        arrays[name] = np.array([plain_text(rng)] * max(1, array.shape[0] if array.ndim else 1))
    elif kind == "notes" and "counterbc" in arrays:
        try:
            notes = json.dumps(change_tree(rng, json.loads(str(arrays["counterbc"]))))
            arrays["counterbc"] = np.array(notes)
        except (ValueError, KeyError, TypeError):
            return


def with_odd_number(rng: random.Random, array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return an array with one number replaced, or the same if its type cannot hold the number."""
    flat = array.ravel().copy()
    with np.errstate(all="ignore"):
        try:
            flat[rng.randrange(flat.size)] = rng.choice(NUMBERS)
        except (OverflowError, ValueError):
            return array
    return flat.reshape(array.shape)


def _member(rng: random.Random, array: np.ndarray[Any, Any], header: str) -> bytes | None:
    """Return the bytes of a member with its header damaged; None if it cannot be stored."""
    buffer = io.BytesIO()
    try:
        np.lib.format.write_array(buffer, array, allow_pickle=True)
    except (ValueError, TypeError, OSError):
        return None
    content = buffer.getvalue()
    if header == "header":
        old, new = rng.choice(_HEADER_EDITS)
        return content[:_HEADER].replace(old, new, 1) + content[_HEADER:]
    if header == "version":
        return content[:6] + bytes([rng.choice([2, 3, 9, 0])]) + content[7:]
    if header == "huge":
        claim = io.BytesIO()
        fields = {"descr": "<f8", "fortran_order": rng.random() < 0.5, "shape": rng.choice(_HUGE)}
        np.lib.format.write_array_header_1_0(claim, fields)
        return claim.getvalue() + bytes(1000)
    return content
