"""Figures of methods are drawn for any number of methods, and the same twice."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from counterbc.acting.intervals import paired_difference
from counterbc.experiments.grid import Entry
from counterbc.experiments.method_figures import summary_figure
from counterbc.experiments.summary import SummaryLine
from tests.experiments.cells import TINY


def line(data: str, method: str, values: list[float]) -> SummaryLine:
    entry = Entry(TINY, data, "", method, "0.4" if "counter" in method else "", "return")
    array = np.array(values)
    return SummaryLine(entry, "mean", array, paired_difference(array, array[::-1]))


METHOD_NAMES = ["bc", "counter-bc", "ileed", "soft-bc", "other", "sixth"]


@pytest.mark.parametrize("datasets", [1, 4])
def test_every_method_has_a_tick_in_every_panel(datasets: int, tmp_path: Path) -> None:
    lines = [line(f"data {i}", m, [1.0, 2.0]) for i in range(datasets) for m in METHOD_NAMES]
    png, svg = summary_figure(lines, tmp_path, "study")
    text = svg.read_text()
    assert text.count("<!-- Soft-BC -->") == text.count("<!-- BC -->") == datasets
    assert text.count("<!-- Counter-BC, Δ 0.4 -->") == datasets
    assert png.stat().st_size > 0
    again = summary_figure(lines, tmp_path / "..", tmp_path.name)[1]
    assert again.read_bytes() == svg.read_bytes()


def test_seeds_that_diverged_leave_a_gap(tmp_path: Path) -> None:
    lines = [line("data", "bc", [np.nan, np.nan]), line("data", "bcnd", [1.0, np.nan])]
    assert all(path.exists() for path in summary_figure(lines, tmp_path, "study"))
