"""Malicious HDF5 files: links to the outside, false sizes, bombs, names and environments."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np

from attack.malice.canary import MODULE, OUTSIDE, Maker

_UNKNOWN_FILTER = 32000
_ZEROS = (20_000_000, 2)  # 160 MB, which compress to almost nothing


def _robomimic(change: Callable[[h5py.File, Path], object]) -> Maker:
    """Return a maker of a good file with one demonstration that `change` spoils."""

    def make(folder: Path) -> Path:
        path = folder / "x.hdf5"
        with h5py.File(path, "w") as file:
            demo = file.create_group("data/demo_0")
            demo["actions"], demo["obs/state"] = np.zeros((4, 1)), np.zeros((4, 2))
            change(file, folder / OUTSIDE)
        return path

    return make


def _set(name: str, value: object) -> Maker:
    def change(file: h5py.File, _: Path) -> None:
        if name in file:
            del file[name]
        file[name] = value

    return _robomimic(change)


def _attribute(name: str, value: object) -> Maker:
    return _robomimic(lambda file, _: file["data"].attrs.__setitem__(name, value))


def _env(env_name: object) -> Maker:
    return _attribute("env_args", json.dumps({"env_name": env_name, "type": 2, "env_kwargs": {}}))


def _external_link(file: h5py.File, outside: Path) -> None:
    file["data/demo_1"] = h5py.ExternalLink(str(outside / "secret.hdf5"), "/data/demo_0")


def _external_obs(file: h5py.File, outside: Path) -> None:
    del file["data/demo_0/obs"]
    file["data/demo_0/obs"] = h5py.ExternalLink(str(outside / "secret.hdf5"), "/data/demo_0/obs")


def _external_storage(file: h5py.File, outside: Path) -> None:
    del file["data/demo_0/obs/state"]
    storage = [(str(outside / "secret.bin"), 0, h5py.h5f.UNLIMITED)]
    file.create_dataset("data/demo_0/obs/state", (4, 2), "<f4", external=storage)


def _virtual(file: h5py.File, outside: Path) -> None:
    del file["data/demo_0/obs/state"]
    layout = h5py.VirtualLayout((4, 2), "f8")
    layout[...] = h5py.VirtualSource(str(outside / "secret.hdf5"), "data/demo_0/obs/state", (4, 2))
    file.create_virtual_dataset("data/demo_0/obs/state", layout)


def _claim(file: h5py.File, _: Path) -> None:
    for name in ("actions", "obs/state"):
        del file[f"data/demo_0/{name}"]
        file.create_dataset(f"data/demo_0/{name}", (10**12, 2), "f4", chunks=True)


def _zeros(file: h5py.File, _: Path) -> None:
    for name in ("actions", "obs/state"):
        del file[f"data/demo_0/{name}"]
        options = {"compression": "gzip", "chunks": (100_000, 2)}
        file.create_dataset(f"data/demo_0/{name}", data=np.zeros(_ZEROS, "f4"), **options)


def _huge_chunk(file: h5py.File, _: Path) -> None:
    del file["data/demo_0/obs/state"]
    options = {"compression": "gzip", "chunks": (20_000_000, 2)}
    file.create_dataset("data/demo_0/obs/state", data=np.zeros(_ZEROS, "f4"), **options)


def _cycle(file: h5py.File, _: Path) -> None:
    file["data/demo_0/obs/again"] = file["data"]


def _many_links(file: h5py.File, _: Path) -> None:
    for i in range(5_000):
        file[f"data/demo_{i + 1}"] = file["data/demo_0"]


def _unknown_filter(file: h5py.File, _: Path) -> None:
    del file["data/demo_0/obs/state"]
    plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    plist.set_chunk((4, 2))
    plist.set_filter(_UNKNOWN_FILTER, h5py.h5z.FLAG_OPTIONAL)
    space = h5py.h5s.create_simple((4, 2))
    group = file["data/demo_0/obs"].id
    h5py.h5d.create(group, b"state", h5py.h5t.IEEE_F32LE, space, plist)


def _references(file: h5py.File, _: Path) -> None:
    del file["data/demo_0/obs/state"]
    kind = h5py.ref_dtype
    dataset = file.create_dataset("data/demo_0/obs/state", (4, 2), dtype=kind)
    dataset[...] = file["data"].ref


def _odd_names(file: h5py.File, _: Path) -> None:
    for name in ("\x1b[31mred", "[/s]", "<img src=x onerror=alert(1)>", "line\nbreak", "é" * 500):
        file[f"data/demo_0/obs/{name}"] = np.zeros((4, 1))
        file["data"].copy(file["data/demo_0"], f"demo_{len(file['data'])}")


def _heap(folder: Path) -> Path:
    """Write a file in which the texts of a heap never end."""
    path = _attribute("env_args", "x" * 100)(folder)
    content = bytearray(path.read_bytes())
    place = content.index(b"GCOL")
    content[place + 16 : place + 32] = bytes(16)
    path.write_bytes(content)
    return path


def _flat(folder: Path) -> Path:
    with h5py.File(folder / "x.hdf5", "w") as file:
        for name in ("observations", "actions"):
            file.create_dataset(name, data=np.zeros(_ZEROS, "f4"), compression="gzip")
        file.create_dataset("terminals", data=np.zeros(_ZEROS[0], bool), compression="gzip")
    return folder / "x.hdf5"


INPUTS: dict[str, Maker] = {
    "hdf5 with an external link to a demonstration": _robomimic(_external_link),
    "hdf5 with an external link to observations": _robomimic(_external_obs),
    "hdf5 with numbers stored outside": _robomimic(_external_storage),
    "hdf5 with a virtual dataset": _robomimic(_virtual),
    "hdf5 with a link to itself": _set("data/demo_1", h5py.SoftLink("/data/demo_1")),
    "hdf5 with a cycle of groups": _robomimic(_cycle),
    "hdf5 with a demonstration 5,000 times": _robomimic(_many_links),
    "hdf5 that claims terabytes": _robomimic(_claim),
    "hdf5 of zeros": _robomimic(_zeros),
    "hdf5 of zeros in one chunk": _robomimic(_huge_chunk),
    "hdf5 with a filter that does not exist": _robomimic(_unknown_filter),
    "hdf5 of references": _robomimic(_references),
    "hdf5 with odd names": _robomimic(_odd_names),
    "hdf5 with an endless heap": _heap,
    "hdf5 with no numbers": _set("data/demo_0/actions", h5py.Empty("f4")),
    "hdf5 with a module as environment": _env(f"{MODULE}:Canary-v0"),
    "hdf5 with a file as environment": _env("../outside/secret.txt"),
    "hdf5 with a list as environment": _env([f"{MODULE}:Canary-v0"]),
    "hdf5 with nested JSON": _attribute("env_args", "[" * 30_000 + "]" * 30_000),
    "hdf5 with thousands of digits": _attribute("env_args", f'{{"type": {"9" * 5000}}}'),
    "hdf5 with a mask of links": _set("mask/all", np.array([b"../../x", b"demo_0"])),
    "d4rl of zeros": _flat,
}
