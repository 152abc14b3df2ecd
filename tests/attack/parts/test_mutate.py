"""Cases are repeatable, of every base, and judged by what is read."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from attack.bases import BASES, recordings
from attack.parts import mutate
from attack.rows import UNNOTICEABLE


def test_every_base_gets_its_share_of_the_cases() -> None:
    keys = mutate.cases(20_000, 3)
    names = [key.partition("/")[0] for key in keys]
    assert len(set(keys)) == len(keys) >= 20_000
    assert {names.count(name) for name in BASES} == {-(-20_000 // len(BASES))}


@pytest.fixture
def scratch(tmp_path: Path) -> Path:
    (tmp_path / "bases").mkdir()
    BASES["table.csv"].make(recordings(), tmp_path / "bases" / "table.csv")
    (tmp_path / "scratch").mkdir()
    return tmp_path / "scratch"


def _damage_by(monkeypatch: pytest.MonkeyPatch, change: str, old: str, new: str) -> None:
    def edit(_: object, path: Path) -> str:
        path.write_text(path.read_text().replace(old, new))
        return change

    monkeypatch.setattr(mutate, "damage", edit)


def test_an_unnoticed_change_of_the_structure_is_a_finding(
    scratch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _damage_by(monkeypatch, "bytes:flip", "\n1,bob", "\n0,ann")
    assert mutate.run("table.csv/0-0", scratch).outcome == UNNOTICEABLE
    counted_base = replace(BASES["table.csv"], counts=True)
    monkeypatch.setitem(BASES, "table.csv", counted_base)
    assert mutate.run("table.csv/0-0", scratch).outcome == "structure"
    _damage_by(monkeypatch, "csv:cell", "\n1,bob", "\n0,ann")  # an edit gives another valid file
    row = mutate.run("table.csv/0-0", scratch)
    assert (row.outcome, row.facts["differs"][0]) == ("read", "structure")


def test_a_refusal_in_one_sentence_is_no_finding(
    scratch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _damage_by(monkeypatch, "bytes:flip", "0.5", "half")
    row = mutate.run("table.csv/0-0", scratch)
    assert (row.outcome, row.is_finding) == ("refused", False)
    assert row.facts == {"base": "table.csv", "change": "bytes:flip"}
