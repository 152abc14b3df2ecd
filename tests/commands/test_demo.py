"""counterbc demo compares what it shows on equal terms."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from counterbc.commands.demo import Demo, _next_free


@pytest.mark.filterwarnings("ignore::counterbc.errors.InfeasibleActions")
def test_the_demonstrations_stand_beside_the_expert_from_the_same_starts(
    tmp_path: Path, call: Callable[..., tuple[int, str, str]]
) -> None:
    options = ("--seeds", 2, "--pairs", 40, "--steps", 2, "--episodes", 2, "--device", "cpu")
    teacher = ("--teacher", "typical")
    status, out, _ = call("demo", *options, *teacher, "--out", tmp_path / "demo")
    assert status == 0
    words = " ".join(out.split())
    demonstrated, expert, difference = map(
        float,
        re.search(
            r"demonstrations: ([\d.]+)\. The expert without errors earns ([\d.]+) from the same "
            r"starts: the difference is ([+-][\d.]+) ± [\d.]+ \(standard error",
            words,
        ).groups(),  # type: ignore[union-attr]  # a missing sentence fails here as well
    )
    assert difference == pytest.approx(demonstrated - expert, abs=0.011)  # both are rounded
    about = pq.read_table(tmp_path / "demo" / "rows.parquet").schema.metadata[b"counterbc"]
    assert json.loads(about)["comparison"]["teacher"] == "typical"


def test_the_radius_is_fixed_unless_a_preset_fixes_another() -> None:
    assert Demo()._changes() == {"radius": 0.4}
    assert Demo(radius=0.2)._changes() == {"radius": 0.2}
    assert Demo(preset="authors", steps=7)._changes() == {"steps": 7}


def test_an_existing_folder_is_never_reused(tmp_path: Path) -> None:
    assert _next_free(tmp_path / "demo") == tmp_path / "demo"
    (tmp_path / "demo").mkdir()
    (tmp_path / "demo-2").mkdir()
    assert _next_free(tmp_path / "demo") == tmp_path / "demo-3"
