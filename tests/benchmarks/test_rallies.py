"""Rallies in real time count hits and faults under each kind of disturbance."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.rallies import KINDS, Score, rallies, score_row
from counterbc.robots.tick_log import Tick
from tests.robots.doubles import write_policy


def tick(number: int, fault: str = "") -> Tick:
    return Tick(
        tick=number, due=0.05 * number, late=0.0, age=0.02, inference=0.001, round_trip=0.002,
        latency=None if fault else 0.03, sent=0.05 * number, jitter=0.001, missed=0,
        action=(0.0, 0.0), velocity=(0.0, 0.0), position=(0.3, 0.0), fault=fault,
    )  # fmt: skip


def test_a_row_has_the_settings_and_what_was_counted() -> None:
    ticks = [tick(0), tick(1, "camera lost"), tick(2, "camera lost")]
    row = score_row("strong", Score(hits=[3, 1], seconds=12.0, ticks=ticks, outside=0.002))
    assert (row["delay_ms"], row["delay_spread_ms"]) == (20.0, 20.0)
    assert (row["dropped"], row["noise_mm"]) == (0.2, 4.0)
    assert (row["rallies"], row["hits"], row["ticks"]) == (2, [3, 1], 3)
    assert row["faults"] == {"camera lost": 2}
    assert row["latency_ms"]["p50"] == pytest.approx(30.0)
    assert row["outside_mm"] == pytest.approx(2.0)


def test_the_first_kind_is_a_camera_without_disturbances() -> None:
    first = next(iter(KINDS.values()))
    assert (first.dropped, first.noise, first.delay_spread) == (0, 0, 0)


@pytest.mark.extra("mujoco", "robosuite", "onnxruntime")
def test_every_kind_plays_each_start_in_real_time(tmp_path: Path) -> None:
    policy = write_policy(tmp_path / "p.onnx", divide_by=-1.0)  # away from the puck
    rows = rallies(1, 0.5, policy)
    assert [row["disturbances"] for row in rows] == list(KINDS)
    assert all(row["rallies"] == 1 and len(row["hits"]) == 1 for row in rows)
    assert all(row["seconds"] >= 0.4 for row in rows)
    assert all(row["speed_share"] <= 1 for row in rows)
