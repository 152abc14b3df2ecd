"""Files as robomimic itself writes them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import h5py
import numpy as np


def foreign(path: Path, demos: dict[str, dict[str, Any]], **attrs: Any) -> Path:
    """A file as robomimic's own tools make it: no attribute of ours."""
    with h5py.File(path, "w") as file:
        data = file.create_group("data")
        data.attrs.update(attrs)
        for name, datasets in demos.items():
            group = data.create_group(name)
            for key, values in datasets.items():
                group[key] = values
    return path


def demo(length: int = 2, **datasets: Any) -> dict[str, Any]:
    return {"actions": np.zeros((length, 1)), "obs/state": np.zeros((length, 2))} | datasets
