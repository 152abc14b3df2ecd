"""Files that commands read: one of several people, and one with a value that is not finite."""

from __future__ import annotations

from pathlib import Path

import h5py
import numpy as np
import pytest

from tests.fixture_types import Call, CheckRefused


@pytest.fixture
def multi_human(data: Path) -> Path:
    return data / "fixtures/robomimic_mh_lift_image_excerpt.hdf5"


@pytest.fixture
def check_refused(call: Call) -> CheckRefused:
    """A function that checks that options are refused in one sentence, before data are read."""

    def check(name: str, options: tuple[object, ...], words: str) -> None:
        status, out, err = call(name, "no-such-file.hdf5", *options)
        assert (status, out, len(err.splitlines())) == (1, "", 1)
        assert words in err

    return check


@pytest.fixture
def faulty_file(demo_file: Path) -> Path:
    with h5py.File(demo_file, "a") as file:
        file["data/demo_1/actions"][3, 0] = np.nan
    return demo_file
