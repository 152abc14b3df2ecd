"""Counter-BC at several radii."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from counterbc.demonstrators import UniformNoise
from reproduction.records import read
from reproduction.studies import fixed_radii
from reproduction.studies.methods import STUDY_TEACHERS


def test_uniform_noise_has_its_standard_deviation_and_no_slope() -> None:
    numbers = fixed_radii.errors("intersection", UniformNoise(0.5))
    assert numbers["rms error"] == pytest.approx(0.5 / 3**0.5, rel=0.03)
    assert numbers["slope"] == pytest.approx(0.0, abs=0.05)


def test_a_table_has_a_column_per_radius() -> None:
    row = {"world": "fork", "teacher": "t", "rms meant": 0.5, "rms error": 0.25, "slope": -0.5}
    means = {f"{r:g}": {"mean": 10 * r, "se": 0.1} for r in fixed_radii.RADII}
    line = fixed_radii.markdown([row | means]).splitlines()[2]
    assert line.startswith("| fork | t | 0.50 | 0.25 | −0.50 | 0.0 ± 0.1 | 0.5 ± 0.1 |")


@pytest.mark.usefixtures("few_steps")
def test_the_study_writes_every_radius_of_every_teacher(tmp_path: Path, check_origin: Any) -> None:
    options = fixed_radii.FixedRadiiOptions(seeds=2, worlds=("intersection",), out=tmp_path)
    fixed_radii.run(options)
    rows = read(options.numbers("fixed-radii"))
    assert [r["teacher"] for r in rows] == list(STUDY_TEACHERS)
    for row in rows:
        assert row["0"]["above 0"][0] == 0
        assert len({row[f"{r:g}"]["mean"] for r in fixed_radii.RADII}) > 1
    check_origin(*rows, trained=True)
