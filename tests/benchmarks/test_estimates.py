"""What the benchmark of estimates reads of the lines of a command; the times need minutes."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from benchmarks import estimates
from counterbc.data.cores import cores
from counterbc.training.run import versions
from counterbc.training.session import Session


@pytest.mark.parametrize(
    ("seconds", "rounded"), [(40.0, 40.0), (200.0, 198.0), (9e4, 9e4), (3e5, 3e5)]
)
def test_the_announcement_of_a_command_is_understood(seconds: float, rounded: float) -> None:
    text = Session().announcement(seconds)
    assert estimates.announced_seconds(text) == pytest.approx(rounded, rel=0.02)
    assert estimates.announced_seconds("choosing (numba): 3 of 9, about 2 minutes left") is None


@pytest.mark.parametrize("status", [0, 3])
def test_a_row_names_the_machine_and_the_versions_of_its_run(
    status: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = tmp_path / "program"
    text = Session().announcement(40.0)
    script.write_text(f"#!/bin/sh\necho '{text}' >&2\nexit {status}\n")
    script.chmod(0o700)
    monkeypatch.setattr("sys.executable", str(script))
    if status:
        with pytest.raises(RuntimeError, match="ended with 3"):
            estimates.measure("compare", tmp_path, 0)
        return
    row = estimates.measure("compare", tmp_path, 0)
    assert (row["work"], row["cores"], row["versions"]) == ("compare", cores(), versions())
    assert [e["announced"] for e in row["estimates"]] == [40.0]


def test_rows_are_added_to_those_on_file_which_stay_as_they_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = {
        "seconds": 100.0, "competitors": 0, "load": [1.0, 2.0], "cores": 2, "versions": {},
        "estimates": [{"after": 10.0, "announced": 60.0, "actual": 90.0}],
    }  # fmt: skip
    monkeypatch.setattr(estimates, "write_data", lambda folder: None)
    monkeypatch.setattr(estimates, "measure", lambda work, *_: row | {"work": work})
    earlier = [row | {"work": "an earlier run", "versions": {"counterbc": "0.1.0"}, "cores": 64}]
    out = tmp_path / "rows.json"
    out.write_text(json.dumps(earlier))
    monkeypatch.setattr(sys, "argv", ["estimates", "--json", str(out)])
    for count in (1, 2):
        estimates.main()
        rows = json.loads(out.read_text())
        assert rows[:1] == earlier
        assert [r["work"] for r in rows[1:]] == [*estimates.WORK] * count
    assert estimates.line_of(rows[-1]).endswith(
        "100 s, load 1.0 to 2.0; actual / announced ['1.50']"
    )


def test_the_page_shows_the_rows_on_file() -> None:
    root = Path(estimates.__file__).parents[1]
    page = (root / "docs" / "long-work.md").read_text("utf-8")
    for row in json.loads((root / "benchmarks/results/estimates.json").read_text("utf-8")):
        load = f"| {row['load'][0]:.1f}, {row['load'][1]:.1f} |"
        for e in row["estimates"]:
            ratio = e["actual"] / e["announced"]
            text = f"{load} {e['announced']:.0f} s | {e['actual']:.0f} s | {ratio:.2f} |"
            assert text in page
        assert row["estimates"] or f"{load} nothing | {row['seconds']:.0f} s in all |" in page
