"""counterbc study: any methods on any data, stopped and shared at will."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from counterbc.cli import main
from counterbc.data.demonstrations import Demonstrations
from tests.fixture_types import CallJson

DOCS = Path(__file__).parents[2] / "docs" / "studies.md"
GRID = """
methods = ["bc", "counter-bc"]
seeds = 2
episodes = 2
[settings]
radius = [0.2, 0.4]
steps = 4
[[data]]
world = "intersection"
pairs = [20, 40]
"""
WITHOUT_EXTRAS = """
import sys
class Missing:
    def find_spec(name, *_):
        if name.partition(".")[0] in ("pandas", "pingouin"):
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Missing)
from counterbc.cli import main
sys.exit(main())
"""


@pytest.fixture
def grid(tmp_path: Path) -> Path:
    path = tmp_path / "grid.toml"
    path.write_text(GRID)
    return path


def test_the_example_of_the_docs_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    example = re.findall(r"```toml\n(.*?)```", DOCS.read_text(encoding="utf-8"), re.DOTALL)[0]
    Path("example.toml").write_text(example)
    assert main(["study", "example.toml", "--workers", "1", "--device", "cpu"]) == 0
    printed = capsys.readouterr().out
    assert printed.count("counter-bc, Δ 0.4") == 2
    assert "minus bc [95 %]" in printed
    files = {path.name for path in Path("example-study").iterdir()}
    assert files == {"cells", "rows.parquet", "summary.json", "study.png", "study.svg"}


def test_rows_and_summary_agree_and_a_second_run_computes_nothing(
    grid: Path, tmp_path: Path, call_json: CallJson
) -> None:
    out = tmp_path / "out"
    options = ("study", grid, "--out", out, "--device", "cpu", "--workers", 1)
    first = call_json(*options)
    assert (first["cells"], first["computed"], first["missing"]) == (6, 6, 0)
    rows = pq.read_table(out / "rows.parquet").to_pylist()
    bc = [r["return"] for r in rows if r["method"] == "bc" and r["pairs"] == 40]
    better = [r["return"] for r in rows if r["radius"] == 0.4 and r["pairs"] == 40]
    (line,) = [
        s for s in first["summary"]
        if s["radius"] == "0.4" and s["data"] == "intersection, uniform 0.5, 40 pairs"
    ]  # fmt: skip
    assert line["mean"] == pytest.approx(sum(better) / 2)
    assert line["difference"]["mean"] == pytest.approx((sum(better) - sum(bc)) / 2)
    assert json.loads((out / "summary.json").read_text()) == first["summary"]
    assert call_json(*options)["computed"] == 0


def test_parts_are_disjoint_and_the_last_one_prints_the_table(
    grid: Path, tmp_path: Path, call_json: CallJson
) -> None:
    out = tmp_path / "out"
    options = ("study", grid, "--out", out, "--device", "cpu", "--workers", 1)
    assert call_json(*options, "--left")["missing"] == 6
    first = call_json(*options, "--part", "1/2")
    assert (first["computed"], first["missing"]) == (3, 3)
    assert call_json(*options, "--part", "1/2", "--left")["missing"] == 0
    second = call_json(*options, "--part", "2/2")
    assert (second["computed"], second["missing"]) == (3, 0)
    assert len(second["summary"]) == 6


@pytest.mark.slow
def test_two_processes_with_the_same_command_share_the_work(grid: Path, tmp_path: Path) -> None:
    grid.write_text(GRID.replace("steps = 4", "steps = 400"))
    options = [str(grid), "--out", str(tmp_path / "out"), "--device", "cpu", "--workers", "1"]
    command = [sys.executable, "-c", WITHOUT_EXTRAS, "study", *options, "--json"]
    processes = [
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    outputs = [process.communicate(timeout=300) for process in processes]
    assert [process.returncode for process in processes] == [0, 0], outputs
    results = [json.loads(out) for out, _ in outputs]
    assert sum(result["computed"] for result in results) == 6
    assert results[0]["summary"] == results[1]["summary"]
    assert len(pq.read_table(tmp_path / "out" / "rows.parquet")) == 6 * 2


def test_without_an_environment_the_measure_is_the_held_out_error(
    tiny: Demonstrations, tmp_path: Path, call_json: CallJson
) -> None:
    tiny.save(tmp_path / "demos.npz")
    grid = tmp_path / "grid.json"
    table = {"methods": ["bc", "bc-rnn"], "seeds": 2, "settings": {"steps": 3}}
    grid.write_text(json.dumps(table | {"data": [{"file": "demos.npz"}]}))
    result = call_json("study", grid, "--out", tmp_path / "out", "--workers", 1, "--device", "cpu")
    assert [s["measure"] for s in result["summary"]] == ["held_out_error"] * 2
    assert all(s["mean"] > 0 for s in result["summary"])


@pytest.mark.needs("gym_pusht")
def test_people_in_push_t_are_read_as_other_commands_read_them(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    grid = tmp_path / "grid.json"
    table = {"file": str(data / "pusht_human_206.hdf5"), "env": "push-t", "exclude": ["demo_0"]}
    numbers = {"methods": ["bc"], "seeds": 1, "episodes": 1, "settings": {"steps": 2}}
    grid.write_text(json.dumps(numbers | {"data": [table]}))
    options = ["--out", str(tmp_path / "out"), "--workers", "1", "--device", "cpu", "--json"]
    assert main(["study", str(grid), *options]) == 0
    out, err = capsys.readouterr()
    assert "Of pusht_human_206.hdf5, reads state, as push-t does; obs in the grid" in err
    (line,) = json.loads(out)["summary"]
    assert line["data"] == "pusht_human_206, without demo_0"
    assert 0 <= line["mean"] <= 1
    (row,) = pq.read_table(tmp_path / "out" / "rows.parquet").to_pylist()
    assert (row["obs"], row["subset"]) == ("state", "without1")


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ('"bc", ', '"dagger", ', "unknown method 'dagger'; allowed: bc"),
        ("steps = 4", "step = 4", "unknown setting in the grid 'step'; allowed: radius"),
        ('"intersection"', '"nowhere"', "unknown world 'nowhere'; allowed: intersection"),
        ("seeds = 2", "seed = 2", "unknown key in the grid 'seed'; allowed: methods"),
        ("seeds = 2", 'seeds = "two"', "seeds is 'two' in the grid; it must be a whole number"),
        ("pairs = [", "pears = [", "unknown key of a world in the grid 'pears'"),
        ('world = "intersection"', "", "each dataset needs a file or a world"),
        ("steps = 4", "steps = 0", "steps is 0"),
        ("seeds = 2", "seeds == 2", "is not valid TOML"),
        ('"bc", ', '"ileed", ', "this method needs operators"),
    ],
)
def test_mistakes_in_the_grid_are_explained_before_any_work(
    before: str, after: str, message: str, grid: Path, tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    grid.write_text(GRID.replace(before, after))
    assert main(["study", str(grid), "--out", str(tmp_path / "out")]) == 1
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("part", ["0/2", "3/2", "1", "a/b"])
def test_a_part_that_does_not_exist_is_refused(
    part: str, grid: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["study", str(grid), "--part", part]) == 1
    assert "part is" in capsys.readouterr().err
