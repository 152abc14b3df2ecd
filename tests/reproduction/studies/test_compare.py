"""Comparisons on recordings: what is kept of one, and the table of the docs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from reproduction.options import RESULTS
from reproduction.records import read
from reproduction.studies import compare


@pytest.mark.slow
def test_the_demo_is_compared_once_and_kept_with_its_cost(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    extra = ("--methods", "counter-bc", "--steps", "5", "--folds", "2", "--env", "none")
    options = compare.CompareOptions(out=tmp_path, extra=extra)
    compare.run(options)
    rows = read(options.numbers("compare"))
    assert list(rows) == [compare.DEMO]
    assert rows[compare.DEMO]["cpu_seconds"] > 0
    assert rows[compare.DEMO]["mebibytes"] > 100
    changed = json.loads(options.numbers("compare").read_text())
    changed[compare.DEMO]["cpu_seconds"] = 6000.0
    options.numbers("compare").write_text(json.dumps(changed))
    compare.run(options)  # which keeps what is there
    assert "100.0 min" in capsys.readouterr().out


def test_the_verdicts_on_file_agree_with_the_studies() -> None:
    rows = read(RESULTS / "compare" / "numbers.json")
    assert [*rows] == [*compare.FILES, compare.DEMO]
    assert all(row["verdicts"][-1].endswith("use BC") for row in rows.values())
    assert all(row["cpu_seconds"] < 30 * 60 for row in rows.values())
    text = compare.table(rows)
    assert text.count("0 (Δ 0 is BC)") >= 5
    assert len(text.splitlines()) == 2 + len(rows)
