"""The table about timing with a browser, from made-up times."""

from __future__ import annotations

import json
from pathlib import Path

from reproduction import studio_timing


def test_each_world_has_its_times_and_the_load_is_named(tmp_path: Path) -> None:
    names = ("late", "jitter", "latency", "draw", "disk")
    times = {
        f"{name}_{q}": i + k / 10
        for i, name in enumerate(names)
        for k, q in enumerate(("p50", "p99", "max"))
    }
    row = {"world": "air-hockey", "rate": 20, "steps": 400, "pictures": 1200, **times}
    (tmp_path / "times.json").write_text(json.dumps({"load": 0.16, "rows": [row]}))
    lines = studio_timing.browser_table(tmp_path / "times.json").splitlines()
    cells = "Air hockey | 20 | 400 | 1.00 | 1.10 | 2.0 | 2.1 | 3.0 | 3.1 | 4 | 4 | 4"
    assert lines[2:] == [f"| {cells} |", "", "Load of the machine: 0.2."]


def test_nothing_is_claimed_before_a_measurement(tmp_path: Path) -> None:
    assert studio_timing.browser_table(tmp_path / "none.json") == studio_timing.NONE
