"""Pages say what the benchmarks behind them measured."""

from __future__ import annotations

import json
import runpy
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]


def blocks(name: str) -> list[str]:
    """What a benchmark makes of its rows on file, table by table and sentence by sentence."""
    benchmark: dict[str, Any] = runpy.run_path(str(ROOT / "benchmarks" / f"{name}.py"))
    rows = json.loads((ROOT / "benchmarks" / "results" / f"{name}.json").read_text())
    said: str = benchmark["markdown"](rows)
    return said.strip().split("\n\n")


@pytest.mark.parametrize(
    ("name", "tables"), [("scores", 2), ("clean", 2), ("intents", 1), ("modes", 2)]
)
def test_everything_that_a_benchmark_says_of_its_rows_is_in_its_page(
    name: str, tables: int
) -> None:
    page, said = (ROOT / "docs" / f"{name}.md").read_text(), blocks(name)
    assert [block for block in said if block not in page] == []
    assert sum(block.startswith("|") for block in said) == tables
