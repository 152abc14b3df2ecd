"""The entry of the attack: options, a report with an exit status, and the table of a page."""

from __future__ import annotations

from pathlib import Path

import pytest

from attack import __main__ as entry
from attack import table
from attack.rows import Row, RowFile


def test_every_part_has_a_module_of_its_name() -> None:
    for name in entry.PARTS:
        part = entry.load_part(name)
        assert part.name == name
        assert part.cases(2, 0)
        assert part.full >= part.quick


def test_the_report_returns_1_if_a_promise_did_not_hold(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = RowFile(tmp_path, "mutate")
    rows.add(Row("a/1", "refused"))
    assert entry.report(tmp_path, entry.PARTS) == 0
    rows.add(Row("a/2", "traceback", "KeyError at x.py:f"))
    assert entry.report(tmp_path, entry.PARTS) == 1
    assert "1  traceback: KeyError at x.py:f" in capsys.readouterr().out
    assert "| mutate | 2 | refused 1 | traceback 1 |" in (tmp_path / "table.md").read_text()


def test_the_table_is_written_to_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(entry, "ROOT", tmp_path)
    page = tmp_path / "SECURITY.md"
    page.write_text(f"# Security\n{table.START}\n{table.END}\n")
    assert entry.main(["--table", "--out", str(tmp_path / "results")]) == 1  # there are none
    RowFile(tmp_path / "results", "malice").clear()
    RowFile(tmp_path / "results", "malice").add(Row("a pipe", "refused"))
    assert entry.main(["--table", "--out", str(tmp_path / "results")]) == 0
    assert (
        "| `malice`: malicious files, folders and runs | 1 | refused 1 | none |" in page.read_text()
    )
