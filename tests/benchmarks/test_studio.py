"""The benchmark of the studio measures the page, the pictures and the disk."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from benchmarks.studio import DISK_TIMES, TimedWriter, measure_in_browser, quantiles
from counterbc.errors import FormatError


def never(error: FormatError) -> None:
    raise AssertionError(error)


def test_quantiles_are_rounded_and_leave_out_what_was_not_measured() -> None:
    values = [1.0, float("nan"), 3.0, 2.00049]
    assert quantiles("x", values) == {"x_p50": 2.0, "x_p99": 2.98, "x_max": 3.0}


def test_every_step_is_timed_until_its_line_is_synced(tmp_path: Path) -> None:
    folder = tmp_path / "journal" / "cartpole-001"
    folder.mkdir(parents=True)
    writer = TimedWriter(folder, never)
    writer.line(0, {"dataset": {}, "image": None})
    for i in range(3):
        writer.line(0, {"obs": [0.0], "action": [i]})
    time.sleep(0.05)
    writer.flush()
    writer.close()
    assert len(writer.times) == 3
    assert min(writer.times) > 0
    assert (tmp_path / DISK_TIMES).exists()


@pytest.mark.slow
@pytest.mark.needs("playwright")
def test_a_short_recording_with_the_page_has_every_time(tmp_path: Path) -> None:
    row = measure_in_browser(tmp_path, "air-hockey", 2.0)
    names = ("late", "jitter", "latency", "draw", "disk")
    assert {f"{name}_{q}" for name in names for q in ("p50", "p99", "max")} <= row.keys()
    assert row["steps"] > 3 < row["pictures"]
    assert row["latency_max"] > 0 < row["disk_p50"]
