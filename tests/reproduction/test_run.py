"""Rows are computed, kept and resumed."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from counterbc.experiments.archive import unpack
from reproduction.catalog import plan
from reproduction.figure_options import FigureOptions, RunOptions
from reproduction.run import run, study_folders

ASKED = "--quick --env intersection --seeds 2 --steps 2 --episodes 1 --workers 1 --device cpu"


@pytest.mark.slow
def test_rows_are_computed_without_the_libraries_of_statistics_and_of_the_command_line(
    tmp_path: Path,
) -> None:
    code = """
import sys
class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("tyro", "pandas", "pingouin", "ray"):
            raise ModuleNotFoundError(name, name=name)
sys.meta_path.insert(0, Missing())
from reproduction.__main__ import main
sys.exit(main(sys.argv[1:]))
"""
    arguments = ["run", "figure5", *ASKED.split(), "--out", str(tmp_path)]
    process = subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=False
    )
    assert process.returncode == 0, process.stderr
    assert "15 cells computed, 15 finished" in process.stdout
    assert len(list((tmp_path / "rows").glob("*.parquet"))) == 15
    assert unpack(tmp_path / "figure5" / "rows.parquet", tmp_path / "again") == 15
    (call,) = json.loads((tmp_path / "timings.json").read_text())
    assert call["stages"]["figure5, intersection"]["computed"] == 15
    assert (call["device"], call["workers"]) == ("cpu", 1)


def test_what_is_left_is_printed_and_an_archive_counts_as_finished(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tiny: dict[str, object] = {"quick": True, "seeds": 2, "steps": 2, "out": tmp_path}
    options = RunOptions(**tiny, workers=1, device="cpu", sd=3.0)  # type: ignore[arg-type]  # one dict for several types
    assert run(["figure3"], options) == 4
    for file in (tmp_path / "rows").glob("*.parquet"):
        file.unlink()
    run(["figure3"], RunOptions(**tiny, left=True))  # type: ignore[arg-type]  # as above
    assert capsys.readouterr().out.splitlines()[-1] == "0 of 4 cells are left"


def test_table_1_is_made_from_the_rows_of_figure_4() -> None:
    both = plan(["figure4", "table1"], FigureOptions())
    assert study_folders(both, None) == {"figure4": "figure4", "table1": "figure4"}
    assert set(study_folders(both, "car-racing").values()) == {"car-racing"}
