"""The start of a process is measured as a newcomer has it."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import starting
from benchmarks.starting import FIRST_USE, measure, run

WRITE = "import os, pathlib; pathlib.Path('place').write_text(os.environ['NUMBA_CACHE_DIR'])"


def test_native_code_of_a_first_use_lies_in_a_folder_of_its_own(tmp_path: Path) -> None:
    wall, cpu, others_share = run(("-c", WRITE), tmp_path, tmp_path / "native")
    assert (tmp_path / "place").read_text() == str(tmp_path / "native")
    assert wall > 0 < cpu
    assert 0 <= others_share <= 1


def test_the_first_use_of_the_demo_has_an_empty_cache_and_its_usual_one_has_compiled_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    caches: list[tuple[str, Path | None]] = []

    def note(words: tuple[str, ...], folder: Path, cache: Path | None = None) -> tuple[float, ...]:
        caches.append((Path(words[-1]).name, cache))
        return 1.0, 1.0, 0.0

    monkeypatch.setattr(starting, "PYTHON", {})
    monkeypatch.setattr(starting, "run", note)
    rows = measure(1, tmp_path, demo=True)
    assert [row["what"] for row in rows] == ["counterbc demo", FIRST_USE]
    (small, nowhere), (demo, usual), (first, empty) = caches
    assert (small, nowhere, demo, usual, first) == (
        "small",
        None,
        "counterbc demo",
        None,
        FIRST_USE,
    )
    assert empty is not None
    assert not empty.exists()
