"""The table about the speed of cameras, from made-up times."""

from __future__ import annotations

import json
from pathlib import Path

from reproduction import camera_speed


def _section(device: str, members: int, alone: float, both: float) -> dict[str, object]:
    row = {
        "policy": "bc, gaussian-cnn",
        "ms": {"frames alone": alone, "frames and state": both},
        "speed": {"frames alone": 1.0, "frames and state": alone / both},
    }
    return {"device": device, "sizes": {"members": members, "batch": 8}, "rows": [row]}


def test_each_device_has_its_times_and_the_speed_beside_frames_alone(tmp_path: Path) -> None:
    times = {
        "cpu": _section("x86_64", 1, 20.0, 25.0),
        "cuda": _section("NVIDIA H200", 5, 3.0, 4.0),
    }
    (tmp_path / "cameras.json").write_text(json.dumps(times))
    lines = camera_speed.sections(tmp_path / "cameras.json")["cameras"]["speed"].splitlines()
    assert lines[0] == (
        "| device, networks × batch | method, policy | frames alone | frames and state |"
    )
    assert lines[2] == "| H200, 5 × 8 | bc, gaussian-cnn | 3.0 ms (1.00) | 4.0 ms (0.75) |"
    assert lines[3].startswith("| one core of a CPU, 1 × 8 |")
    assert lines[3].endswith("| 25.0 ms (0.80) |")


def test_nothing_is_claimed_before_a_measurement(tmp_path: Path) -> None:
    assert camera_speed.sections(tmp_path / "none.json")["cameras"]["speed"] == camera_speed.NONE
