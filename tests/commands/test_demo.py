"""counterbc demo compares what it shows on equal terms."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from counterbc.cli import parse
from counterbc.commands.demo import Demo
from counterbc.demonstrators import NOISES, TEACHERS
from counterbc.settings import PRESETS, Settings
from tests.fixture_types import Call, CallJson


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::counterbc.errors.InfeasibleActions")
def test_the_demo_writes_its_results_and_prints_the_same_ones_in_words(
    tmp_path: Path, call: Call, call_json: CallJson, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    options = ("--seeds", 2, "--pairs", 40, "--steps", 4, "--episodes", 3, "--device", "cpu",
               "--kernel", "torch")  # fmt: skip
    payload = call_json("demo", *options)
    check_files(tmp_path / payload["folder"], payload["table"])
    status, out, _ = call("demo", *options)
    assert status == 0
    assert "Figure, table and rows are in counterbc-demo-2/" in out
    for row in payload["table"]:  # the same numbers in a second run
        assert re.search(rf"{row['method']} +{row['mean']:.2f} \[", out)
    starts, words = payload["same_starts"], " ".join(out.split())
    assert (
        f"demonstrations: {starts['demonstrated']:.2f}. The expert without errors earns "
        f"{starts['expert']:.2f} from the same starts: the difference is "
        f"{starts['difference']['mean']:+.2f} ± {starts['difference']['se']:.2f} (standard error"
    ) in words
    assert payload["demonstrated_return"] == starts["demonstrated"]


def check_files(folder: Path, table: list[dict[str, Any]]) -> None:
    """Check that the files of a demo hold the numbers of its table."""
    names = ["demo.png", "demo.svg", "rows.parquet", "table.json"]
    assert sorted(path.name for path in folder.iterdir()) == names
    rows = pq.read_table(folder / "rows.parquet")
    assert rows.num_rows == 5 * 2 * 2  # methods, ways of acting, runs
    assert all(r["pairs"] == 40 and r["kernel"] == "torch" and r["torch"] for r in rows.to_pylist())
    returns: dict[tuple[str, str], list[float]] = {}
    for row in rows.to_pylist():
        returns.setdefault((row["method"], row["act"]), []).append(row["return"])
    for row in table:
        assert row["mean"] == pytest.approx(np.mean(returns[row["method"], row["act"]]))


def changes(*options: str) -> dict[str, Any]:
    command = parse(["demo", *options])
    assert isinstance(command, Demo)
    return command._changes()


def test_the_radius_is_fixed_unless_a_preset_fixes_another() -> None:
    assert changes() == {"radius": 0.4}
    assert changes("--radius", "0.2") == {"radius": 0.2}
    assert changes("--radius", "auto") == {"radius": "auto"}
    assert changes("--preset", "authors", "--steps", "7") == {"steps": 7}
    assert changes("--preset", "authors", "--kernel", "torch") == {"kernel": "torch"}


def test_a_registered_noise_teacher_or_preset_is_in_the_help(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(NOISES, "pink", NOISES["uniform"])
    monkeypatch.setitem(TEACHERS, "guru", TEACHERS["skilled"])
    monkeypatch.setitem(PRESETS, "brief", Settings(radius=0.3, steps=77))
    with pytest.raises(SystemExit):
        parse(["demo", "--help"])
    text = " ".join(capsys.readouterr().out.replace("│", " ").split())
    teachers = [name for name, teacher in TEACHERS.items() if teacher.world is None]
    assert len(teachers) < len(TEACHERS)
    for names in (NOISES, teachers, PRESETS):
        assert "{" + ",".join(names) + "}" in text.replace(" ", "")  # a long list is wrapped
    assert "(default: 0.4; authors: 0.5; brief: 0.3)" in text
    assert "(default: 10000; brief: 77)" in text
    assert changes("--preset", "brief") == {}
