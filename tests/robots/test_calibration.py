"""Marks fix the map from pictures to the table."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from counterbc.errors import DataError, FormatError
from counterbc.robots.calibration import Calibration

PLACES = np.array([[0, -0.4], [1.6, -0.4], [1.6, 0.4], [0, 0.4], [0.8, 0.1]])
MATRIX = np.array([[310.0, 20, 60], [-5, -330, 190], [0.02, 0.05, 1]])


def seen(places: np.ndarray) -> np.ndarray:
    rows = np.concatenate([places, np.ones((len(places), 1))], 1) @ MATRIX.T
    return np.asarray(rows[:, :2] / rows[:, 2:])


def test_exact_marks_give_the_exact_map() -> None:
    calibration = Calibration.of(seen(PLACES), PLACES)
    others = np.random.default_rng(0).uniform([0, -0.4], [1.6, 0.4], (100, 2))
    assert calibration.to_table(seen(others)) == pytest.approx(others, abs=1e-9)
    assert calibration.to_picture(others) == pytest.approx(seen(others), abs=1e-6)
    assert calibration.error < 1e-9


def test_marks_that_were_measured_badly_show_in_the_error() -> None:
    pixels = seen(PLACES)
    pixels[2] += 20
    assert Calibration.of(pixels, PLACES).error > 0.005


def test_marks_are_kept_in_a_file(tmp_path: Path) -> None:
    calibration = Calibration.of(seen(PLACES), PLACES)
    calibration.save(tmp_path / "marks.json")
    again = Calibration.load(tmp_path / "marks.json")
    assert again.matrix == pytest.approx(calibration.matrix)


@pytest.mark.parametrize(
    "places",
    [
        PLACES[:3],
        np.array([[0, 0], [1, 1], [2, 2], [3, 3]]),
        np.zeros((4, 2)),
        np.full((4, 2), np.nan),
        np.zeros((4, 3)),
    ],
)
def test_marks_that_fix_no_map_are_refused(places: np.ndarray) -> None:
    with pytest.raises(DataError):
        Calibration.of(places, places)


@pytest.mark.parametrize("content", ["", "[]", '{"pixels": 1}', '{"pixels": [], "places": [[]]}'])
def test_files_of_other_content_are_refused(content: str, tmp_path: Path) -> None:
    (tmp_path / "marks.json").write_text(content)
    with pytest.raises((FormatError, DataError)):
        Calibration.load(tmp_path / "marks.json")


def test_a_missing_file_is_explained(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="does not exist"):
        Calibration.load(tmp_path / "marks.json")
