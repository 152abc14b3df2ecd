"""docs/teachers.md shows what the code does."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from counterbc.cli import main
from counterbc.demonstrators import HUMAN_TEACHERS
from reproduction.options import DOCS, RESULTS
from reproduction.records import read
from reproduction.studies.teachers import MEASURED_TEACHERS, TeachersOptions, draw, measure, run

PAGE = (DOCS / "teachers.md").read_text(encoding="utf-8")
ROWS = read(RESULTS / "teachers" / "numbers.json")


@pytest.mark.parametrize("name", HUMAN_TEACHERS)
def test_the_rows_on_file_are_what_the_teachers_do_now(name: str) -> None:
    again = measure(HUMAN_TEACHERS[name], 400)
    assert again["rms"] == pytest.approx(ROWS[name]["rms"], abs=0.015)
    assert again["lag 1"] == pytest.approx(ROWS[name]["lag 1"], abs=0.05)


def test_the_picture_is_drawn(tmp_path: Path) -> None:
    draw(3, tmp_path / "teachers.png")
    assert (tmp_path / "teachers.png").stat().st_size > 1000


def test_the_python_and_the_commands_of_the_page_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
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


def test_the_study_writes_and_draws_every_teacher(tmp_path: Path, check_origin: Any) -> None:
    options = TeachersOptions(episodes=5, figure=tmp_path / "teachers.png", out=tmp_path)
    run(options)
    rows = read(options.numbers("teachers"))
    assert list(rows) == list(MEASURED_TEACHERS)
    assert rows["no error"]["rms"] == pytest.approx(0, abs=1e-6)
    assert (tmp_path / "teachers.png").exists()
    check_origin(*rows.values())
