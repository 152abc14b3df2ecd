"""Teachers whose errors break the assumption behind the choice of Δ."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from reproduction.options import RESULTS
from reproduction.records import read
from reproduction.studies import radius_errors


def test_the_rows_on_file_have_every_teacher() -> None:
    rows = read(RESULTS / "radius-errors" / "numbers.json")
    assert [r["teacher"] for r in rows] == list(radius_errors.ERRING_TEACHERS)


def test_the_error_at_the_chosen_radius_is_interpolated() -> None:
    row = {"teacher": "t", "chosen": [0.1, 0.3], "meant": [[1.0, 0.25, 0.04, 0.09, 0.16]] * 2}
    cells = radius_errors.markdown([row]).splitlines()[2].split("|")[2:-1]
    means = [float(cell.split("±")[0]) for cell in cells]
    # RMS 1, 0.5, 0.2, …; at Δ 0.1 it is 0.75, at 0.3 0.35.
    assert means == pytest.approx([0.2, 0.4, 1.0, 0.2, 0.55, 0.2])


@pytest.mark.usefixtures("few_steps")
def test_the_study_writes_the_errors_of_every_radius(tmp_path: Path, check_origin: Any) -> None:
    options = radius_errors.RadiusErrorsOptions(seeds=2, pairs=40, out=tmp_path)
    radius_errors.run(options)
    rows = read(options.numbers("radius-errors"))
    assert [r["teacher"] for r in rows] == list(radius_errors.ERRING_TEACHERS)
    for row in rows:
        assert np.shape(row["meant"]) == (2, len(radius_errors.SEARCH.radii))
        assert all(0 <= radius <= 0.8 for radius in row["chosen"])
    check_origin(*rows)
