"""docs/teachers.md says what the code does."""

from __future__ import annotations

import json
import re
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from counterbc.cli import main
from counterbc.demonstrators import TEACHERS

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "teachers.md").read_text()
BENCHMARK: dict[str, Any] = vars(import_module("reproduction.studies.teachers"))
ROWS = json.loads((ROOT / "reproduction" / "results" / "teachers" / "numbers.json").read_text())


def test_its_tables_are_the_traits_in_the_code_and_the_rows_on_file() -> None:
    assert BENCHMARK["parameters"]() in PAGE
    assert BENCHMARK["markdown"](ROWS) in PAGE


@pytest.mark.parametrize("name", TEACHERS)
def test_the_rows_on_file_are_what_the_teachers_do_now(name: str) -> None:
    again = BENCHMARK["measure"](TEACHERS[name], 400)
    assert again["rms"] == pytest.approx(ROWS[name]["rms"], abs=0.015)
    assert again["lag 1"] == pytest.approx(ROWS[name]["lag 1"], abs=0.05)


def test_its_python_and_its_commands_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"__name__": __name__}
    for block in re.findall(r"```python\n(.*?)```", PAGE, re.S):
        exec(block, names)
    assert len(names["demos"].operators) == 6
    assert names["shy"].pairs == 400
    commands = re.findall(r"^    counterbc (.*)$", PAGE, re.M)
    assert len(commands) == 3
    for command in commands:
        assert main(command.split()) == 0, command
