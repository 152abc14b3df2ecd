"""The benchmark of the tracker counts the pucks that it finds, and measures in millimetres."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from benchmarks.tracker import row


def test_errors_are_distances_in_millimetres_of_pucks_that_were_found() -> None:
    calls: list[Any] = []

    def find(place: np.ndarray[Any, Any]) -> np.ndarray[Any, Any] | None:
        calls.append(place)
        return None if len(calls) == 1 else place + np.array([0.003, 0.004 * (len(calls) % 2)])

    result = row("made up", 5, find)
    assert result == {
        "pictures": "made up", "places": 5, "tracked": 4, "mean_mm": pytest.approx(4.0),
        "median_mm": pytest.approx(4.0), "largest_mm": pytest.approx(5.0),
    }  # fmt: skip
