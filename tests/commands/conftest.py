"""Files that commands read: one of several people, and one with a value that is not finite."""

from __future__ import annotations

from pathlib import Path

import h5py
import numpy as np
import pytest


@pytest.fixture
def multi_human(data: Path) -> Path:
    return data / "fixtures/robomimic_mh_lift_image_excerpt.hdf5"


@pytest.fixture
def faulty_file(demo_file: Path) -> Path:
    with h5py.File(demo_file, "a") as file:
        file["data/demo_1/actions"][3, 0] = np.nan
    return demo_file
