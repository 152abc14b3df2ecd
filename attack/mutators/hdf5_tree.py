"""Damage to HDF5 files: members, attributes, types, shapes, links and storage."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from attack.mutators.json_tree import change_tree
from attack.mutators.npz_members import with_odd_number
from attack.mutators.odd_values import NUMBERS, plain_text, shape
from attack.mutators.raw_bytes import change_bytes

_BYTES_SHARE = 0.1
_FEW = 10**6  # numbers
_RENAMES = ("x", "demo_99", "demo_01", "obs", "actions", "data2", "é")
_LONG_NAMES = (f"demo_{'9' * 18}", f"demo_{'9' * 30}", "x" * 2000, "a b")
_ATTRIBUTES = (
    "env_args", "num_samples", "rate", "action_low", "action_high", "action_set", "name",
    "operator", "success", "written_by", "obs_keys", "obs_names", "action_names", "total",
)  # fmt: skip
_STORABLE = (TypeError, ValueError, OSError, AttributeError)


class Tree:
    """The names in a file from which changes choose."""

    def __init__(self, rng: random.Random, file: h5py.File) -> None:
        self.rng, self.file = rng, file
        names: list[str] = []
        file.visit(names.append)
        self.members = names
        self.groups = ["/", *(n for n in names if isinstance(file[n], h5py.Group))]
        datasets = [n for n in names if isinstance(file[n], h5py.Dataset)]
        self.member = rng.choice(names) if names else ""
        self.dataset = rng.choice(datasets) if datasets else ""

    def sibling(self, name: str) -> str:
        """Return the path of another name beside the chosen member."""
        return f"{os.path.dirname(self.member)}/{name}"

    def dataset_shape(self) -> tuple[int, ...]:
        return tuple(self.file[self.dataset].shape or (3,))


def change(rng: random.Random, path: Path) -> str:
    """Change one to three places of an HDF5 file, and sometimes a byte of it as well."""
    kinds = []
    with h5py.File(path, "r+") as file:
        for _ in range(rng.choice([1, 1, 1, 2, 3])):
            tree = Tree(rng, file)
            kinds.append(rng.choice(_WEIGHTED))
            if tree.member and (tree.dataset or kinds[-1] not in _OF_DATASETS):
                CHANGES[kinds[-1]](tree)
    if rng.random() < _BYTES_SHARE:
        kinds.append(change_bytes(rng, path))
    return "hdf5:" + "+".join(kinds)


def _delete(tree: Tree) -> None:
    del tree.file[tree.member]


def _rename(tree: Tree) -> None:
    _move(tree, tree.rng.choice(_RENAMES))


def _long_name(tree: Tree) -> None:
    _move(tree, tree.rng.choice(_LONG_NAMES))


def _move(tree: Tree, name: str) -> None:
    if tree.sibling(name) not in tree.file:
        tree.file.move(tree.member, tree.sibling(name))


def _attribute(tree: Tree) -> None:
    node = tree.file[tree.rng.choice(["/", *tree.members])]
    names = list(node.attrs)
    name = tree.rng.choice(names) if names else tree.rng.choice(_ATTRIBUTES)
    _set_attribute(tree.rng, node, name)


def _new_attribute(tree: Tree) -> None:
    node = tree.file[tree.rng.choice(["/", *tree.members])]
    _set_attribute(tree.rng, node, tree.rng.choice(_ATTRIBUTES))


def _set_attribute(rng: random.Random, node: Any, name: str) -> None:
    with suppress(*_STORABLE):
        node.attrs[name] = _attribute_value(rng, node.attrs.get(name))


def _attribute_value(rng: random.Random, old: Any) -> Any:
    kind = rng.choice(
        ["number", "text", "bytes", "array", "empty", "json", "json", "bool", "no rows"]
    )
    if kind == "json" and isinstance(old, str | bytes):
        with suppress(ValueError, TypeError, KeyError):
            return json.dumps(change_tree(rng, json.loads(old)))
    if kind == "number":
        value = rng.choice(NUMBERS)
        return float(value) if abs(value) >= 2**63 else value
    if kind == "text":
        return plain_text(rng)
    if kind == "bytes":
        return np.bytes_(rng.choice([b"\xff\xfe", b"abc", b"{}", b"\x80abc"]))
    if kind == "array":
        values: list[list[Any]] = [[1, 2], [[1.5]], [np.nan, 1], [b"a", b"b"]]
        return np.array(rng.choice(values))
    if kind == "empty":
        return h5py.Empty("f4")
    return np.zeros((0, 2)) if kind == "no rows" else rng.random() < 0.5


def _values(tree: Tree) -> None:
    dataset = tree.file[tree.dataset]
    if dataset.dtype.kind in "fiu" and dataset.size and _is_readable(dataset):
        for _ in range(tree.rng.randint(1, 4)):
            dataset[...] = with_odd_number(tree.rng, np.array(dataset[()]))


def _is_readable(dataset: h5py.Dataset) -> bool:
    """Return whether an earlier change left the numbers inside the file, and few of them."""
    return dataset.size < _FEW and not dataset.is_virtual and dataset.external is None


def _shape(tree: Tree) -> None:
    kind = tree.file[tree.dataset].dtype
    fresh = shape(tree.rng, tree.file[tree.dataset].shape or ())
    _replace(tree, lambda: np.zeros(fresh, kind), fresh)


def _type(tree: Tree) -> None:
    old_shape = tree.file[tree.dataset].shape or ()
    _replace(tree, lambda: _odd_array(tree.rng, old_shape), old_shape)


def _replace(tree: Tree, make: Callable[[], Any], fallback: tuple[int, ...]) -> None:
    del tree.file[tree.dataset]
    try:
        tree.file.create_dataset(tree.dataset, data=make())
    except _STORABLE:
        if tree.dataset in tree.file:  # created, but its values do not fit
            del tree.file[tree.dataset]
        tree.file[tree.dataset] = np.zeros(fallback)


def _odd_array(rng: random.Random, size: tuple[int, ...]) -> Any:
    kind = rng.choice(
        ["f8", "f2", "i8", "u1", "bool", "c8", ">f8", "u8", "S5", "g", "text", "enum", "compound",
         "opaque", "nan", "inf", "huge"]
    )  # fmt: skip
    if kind in ("nan", "inf", "huge"):
        return np.full(size, {"nan": np.nan, "inf": np.inf, "huge": 1e300}[kind])
    if kind == "text":
        return np.full(size, "text", dtype=h5py.string_dtype())
    if kind == "enum":
        return np.zeros(size, h5py.enum_dtype({"a": 0, "b": 1}, "i1"))
    if kind == "compound":
        return np.zeros(size, [("a", "f4"), ("b", "i4")])
    if kind == "opaque":
        return np.zeros(size, h5py.opaque_dtype("M8[s]"))
    if kind == "S5":
        return np.full(size, b"abc", "S5")
    return np.random.default_rng(rng.randrange(2**32)).uniform(-3, 300, size).astype(kind)


def _soft_link(tree: Tree) -> None:
    del tree.file[tree.member]
    targets = ["/", "/data", tree.member, "/nowhere", "/data/demo_0"]
    tree.file[tree.member] = h5py.SoftLink(tree.rng.choice(targets))


def _external_link(tree: Tree) -> None:
    del tree.file[tree.member]
    target = tree.rng.choice(["/etc/passwd", tree.file.filename, "../x.h5"])
    tree.file[tree.member] = h5py.ExternalLink(target, "/data")


def _cycle(tree: Tree) -> None:
    group, name = tree.file[tree.rng.choice(tree.groups)], tree.rng.choice(["loop", "demo_77"])
    if name not in group:
        group[name] = tree.file[tree.rng.choice(tree.groups)]


def _hard_link(tree: Tree) -> None:
    source, target = tree.rng.choice(tree.members), tree.rng.choice(tree.members)
    if not source.startswith(target) and not target.startswith(source):
        del tree.file[target]
        tree.file[target] = tree.file[source]


def _virtual(tree: Tree) -> None:
    size = tree.dataset_shape()
    del tree.file[tree.dataset]
    layout = h5py.VirtualLayout(size, "f4")
    layout[...] = h5py.VirtualSource("/etc/passwd", "x", size)
    tree.file.create_virtual_dataset(tree.dataset, layout)


def _outside(tree: Tree) -> None:
    size = tree.dataset_shape()
    if np.prod(size):
        del tree.file[tree.dataset]
        storage = [("/etc/passwd", 0, h5py.h5f.UNLIMITED)]
        tree.file.create_dataset(tree.dataset, size, "u1", external=storage)


def _exchange(tree: Tree) -> None:
    """Put a group in the place of a dataset, or the other way round."""
    is_dataset = isinstance(tree.file[tree.member], h5py.Dataset)
    del tree.file[tree.member]
    if is_dataset:
        tree.file.create_group(tree.member)
    else:
        tree.file[tree.member] = np.zeros(3)


def _null(tree: Tree) -> None:
    del tree.file[tree.dataset]
    tree.file[tree.dataset] = h5py.Empty("f4")


def _huge(tree: Tree) -> None:
    size = (tree.rng.choice([10**6, 10**9, 10**12, 2**40]), *tree.dataset_shape()[1:])
    del tree.file[tree.dataset]
    with suppress(ValueError, OSError):
        tree.file.create_dataset(tree.dataset, size, tree.rng.choice(["f4", "u1"]), chunks=True)


def _filters(tree: Tree) -> None:
    """Store the same numbers in chunks, with other filters."""
    dataset = tree.file[tree.dataset]
    if dataset.shape and np.prod(dataset.shape) and _is_readable(dataset):
        values = dataset[()]
        compression, has_checksum = tree.rng.choice(["gzip", "lzf", None]), tree.rng.random() < 0.5
        del tree.file[tree.dataset]
        with suppress(*_STORABLE):  # texts take no filters
            tree.file.create_dataset(
                tree.dataset,
                data=values,
                chunks=True,
                compression=compression,
                shuffle=True,
                fletcher32=has_checksum,
            )


CHANGES: dict[str, Callable[[Tree], None]] = {
    "delete": _delete, "rename": _rename, "long name": _long_name, "attribute": _attribute,
    "new attribute": _new_attribute, "values": _values, "shape": _shape, "type": _type,
    "soft link": _soft_link, "external link": _external_link, "cycle": _cycle,
    "hard link": _hard_link, "virtual": _virtual, "outside": _outside, "exchange": _exchange,
    "null": _null, "huge": _huge, "filters": _filters,
}  # fmt: skip
"""Every change by name."""
_OF_DATASETS = {"values", "shape", "type", "virtual", "outside", "null", "huge", "filters"}
_WEIGHTED = (*CHANGES, "attribute", "attribute", "values", "shape", "shape", "filters")
