"""A robomimic file with entries that the library does not read, and all that a file contains."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import h5py
import numpy as np

QUICK = ("--steps", "20", "--folds", "2", "--repeats", "1", "--radius", "0.3", "--force")
"""Options of score and clean that make them take a second; so briefly trained, policies explain
nothing."""


def annotate(path: Path) -> None:
    """Add datasets and attributes that only other programs know of."""
    with h5py.File(path, "a") as file:
        demo = file["data/demo_2"]
        demo["action_dict/gripper"] = np.ones((10, 1))
        demo["obs"].attrs["frame"] = "world"
        demo["states"] = np.arange(20.0).reshape(10, 2)
        demo["actions"].attrs["unit"] = "m/s"
        file.attrs["licence"] = "MIT"


def hdf5_contents(path: Path) -> dict[str, Any]:
    """Return every dataset and attribute of a file, by its path in the file."""
    contents: dict[str, Any] = {}

    def note(name: str, item: Any) -> None:
        if isinstance(item, h5py.Dataset):
            contents[name] = (item.dtype, item.shape, item[()].tobytes())
        for key, value in item.attrs.items():
            contents[f"{name}@{key}"] = np.asarray(value).tobytes()

    with h5py.File(path, "r") as file:
        note("", file)
        file.visititems(note)
    return contents
