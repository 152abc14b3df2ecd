"""The study of operators' offsets."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from reproduction.records import read_rows
from reproduction.studies import offsets
from reproduction.studies.offsets import OffsetOptions, found_table, trained_table, true_offsets


def cells(table: str) -> list[str]:
    return [cell.strip() for cell in table.splitlines()[2].split("|")[1:-1]]


def test_offsets_of_each_crowd() -> None:
    assert not true_offsets("none", 2, 0).any()
    assert true_offsets("one", 2, 0).tolist() == [[0.4, 0.4]] + [[0.0, 0.0]] * 4
    everybody = true_offsets("all", 2, 3)
    assert np.abs(everybody).max() <= 0.4
    np.testing.assert_array_equal(everybody, true_offsets("all", 2, 3))


def test_errors_are_of_the_estimate_and_of_what_is_left() -> None:
    about = {"world": "w", "crowd": "all", "pairs": 9, "part": "found"}
    told = {"estimate": [0.3, -0.3], "se": [0.1, 0.1], "truth": [0.4, -0.4], "corrected": [0.3, 0]}
    empty: dict[str, list[float]] = {name: [] for name in offsets.FOUND}
    rows = [about | {"verdict": "to one side"} | told, about | {"verdict": "cannot tell"} | empty]
    left = np.sqrt((0.1**2 + 0.4**2) / 2)
    assert cells(found_table(rows)) == [
        "w", "all", "9", "50%", "50%", "0.400", "0.100", f"{left:.3f}", "100%"
    ]  # fmt: skip


def test_the_difference_is_removed_minus_kept() -> None:
    about = {"world": "w", "crowd": "one", "pairs": 9, "part": "trained", "method": "bc"}
    rows = [about | {"kept": k, "removed": k + 2, "shown": 5.0} for k in (1.0, 2.0, 3.0)]
    assert cells(trained_table(rows))[4:] == ["5.0", "2.00", "4.00", "+2.00 [+2.00, +2.00]"]


@pytest.mark.slow
def test_a_run_is_written_once_and_resumed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(offsets.SETTINGS, "steps", 2)
    options = OffsetOptions(
        out=tmp_path, seeds=2, first_seed=1080, worlds=("intersection",), crowds=("one",),
        methods=("bc",), pairs=(200,), episodes=1, workers=1, device="cpu",
    )  # fmt: skip
    offsets.run(options)
    first = capsys.readouterr().out
    rows = read_rows(tmp_path / "offsets")
    assert [r["part"] for r in rows].count("trained") == 2
    monkeypatch.setattr(offsets, "find", None)  # nothing is computed again
    offsets.run(options)
    assert capsys.readouterr().out == first
    assert "intersection | one | 200" in offsets.sections(tmp_path)["tune"]["offsets-found"]
