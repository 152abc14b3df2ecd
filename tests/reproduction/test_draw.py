"""Figures and numbers from rows."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from counterbc.acting.intervals import paired_difference
from counterbc.data.demonstrations import Demonstrations
from counterbc.demonstrators import UniformNoise, demonstrate
from counterbc.experiments.cell_files import made_here
from reproduction import figure_options
from reproduction.draw import DrawOptions, draw_all, rows_of
from reproduction.figure_json import to_json
from reproduction.figure_options import FigureOptions, RunOptions
from reproduction.options import RESULTS
from reproduction.run import run

Make = Callable[..., Demonstrations]
TINY: dict[str, Any] = {"quick": True, "seeds": 4, "steps": 3, "episodes": 2}


def reproduce(names: list[str], out: Path, **options: Any) -> tuple[int, dict[str, Any]]:
    """Run and draw figures of a tiny size; return the cells computed and the numbers."""
    options_given = TINY | options | {"out": out}
    result = run(names, RunOptions(**options_given, device="cpu", workers=1))
    return result, draw_all(names, DrawOptions(**options_given))


def on_file(out: Path, figure: str) -> dict[str, Any]:
    numbers: dict[str, Any] = json.loads((out / figure / "numbers.json").read_text())[figure]
    return numbers


@pytest.mark.parametrize("figure", ["figure5", "figure7"])
def test_drawing_the_archived_rows_again_gives_the_numbers_on_file(
    figure: str, tmp_path: Path
) -> None:
    (tmp_path / figure).mkdir()
    shutil.copy(RESULTS / figure / "rows.parquet", tmp_path / figure)
    draw_all([figure], DrawOptions(out=tmp_path))
    second, before = on_file(tmp_path, figure), on_file(RESULTS, figure)
    assert second.keys() == before.keys()
    assert_close(second, before)


def assert_close(a: Any, b: Any) -> None:
    """Compare numbers with a relative tolerance: other CPUs round differently."""
    if isinstance(b, dict):
        for key, value in b.items():
            assert_close(a[key], value)
    elif isinstance(b, list):
        for first, second in zip(a, b, strict=True):
            assert_close(first, second)
    elif isinstance(b, float):
        assert a == pytest.approx(b, rel=1e-6, abs=1e-9)
    else:
        assert a == b


@pytest.mark.slow
def test_numbers_are_those_of_the_rows_and_drawing_again_changes_nothing(tmp_path: Path) -> None:
    result, numbers = reproduce(["figure5"], tmp_path, worlds=("intersection",))
    assert result == 15
    figure5 = numbers["figure5"]
    files = {"figure5-mean.png", "figure5-sample.png", "numbers.json", "rows.parquet"}
    assert {p.name for p in (tmp_path / "figure5").iterdir()} == files
    assert on_file(tmp_path, "figure5") == to_json(figure5)
    options = FigureOptions(**TINY, worlds=("intersection",))
    rows = rows_of("figure5", options, tmp_path, "figure5")
    for cell in figure5.cells:
        part = rows[(rows["method"] == cell.method) & (rows["act"] == cell.act)]
        assert part[part["sigma"] == cell.sigma]["return"].mean() == pytest.approx(cell.mean)
    test = figure5.statistics[0]
    assert test.anova.subjects == 3 * 4  # three σ, four runs
    assert len(test.post_hoc) == 10
    (made,) = figure5.made
    assert made == made_here("cpu")
    result, second = reproduce(["figure5"], tmp_path, worlds=("intersection",))
    assert result == 0
    assert_close(to_json(second["figure5"]), to_json(figure5))


@pytest.mark.slow
def test_the_baselines_of_figure6_are_computed_once_and_table1_uses_figure4(tmp_path: Path) -> None:
    choice: dict[str, Any] = {"worlds": ("intersection",), "teachers": ("uniform",)}
    result, numbers = reproduce(["figure4"], tmp_path, **choice)
    assert result == 10  # 2 sizes, 5 methods
    (row,) = numbers["figure4"].shown
    datasets = [
        demonstrate("intersection", UniformNoise(0.5), k, s) for k in (100, 400) for s in range(4)
    ]
    assert row.mean == pytest.approx(np.mean([d.mean_return for d in datasets]))
    result, numbers = reproduce(["figure6"], tmp_path, **choice)
    assert result == 3  # Δ 0.4 and the baselines are figure 4's
    rows = rows_of("figure6", FigureOptions(**TINY, **choice), tmp_path, "figure6")
    wide = rows[rows["act"] == "mean"].pivot(
        index="seed", columns=["method", "radius"], values="return"
    )
    p_value = paired_difference(wide["counter-bc"][0.2], wide["bc"].iloc[:, 0]).p
    tests = numbers["figure6"].above_bc
    (test,) = (t for t in tests if (t.radius, t.act) == (0.2, "mean"))
    assert test.p == pytest.approx(min(1.0, 4 * p_value))  # Bonferroni over four radii
    result, numbers = reproduce(["table1"], tmp_path, **choice)
    assert result == 0
    assert {(i.baseline, i.paper) for i in numbers["table1"].improvements} == {
        ("bc", 10), ("weighted-bc", 144), ("bc-rnn", 8), ("bcnd", 9),
    }  # fmt: skip


@pytest.mark.slow
def test_figure7_has_a_subject_per_size_and_run(tmp_path: Path) -> None:
    options: dict[str, Any] = {"teachers": ("uniform",), "seeds": 2, "episodes": 1}
    _, numbers = reproduce(["figure7"], tmp_path, **options)
    tests = numbers["figure7"].statistics
    assert [t.measure for t in tests[:3]] == ["hits", "distance_per_hit", "time_per_hit"]
    assert {t.anova.subjects for t in tests} == {2 * 2}
    assert all(p.stat().st_size > 1000 for p in (tmp_path / "figure7").glob("*.png"))


@pytest.fixture
def people(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file of demonstrations in Intersection, as if people recorded them."""
    monkeypatch.setitem(figure_options.RECORDED_WORLDS, "intersection", ())
    file = tmp_path / "people.hdf5"
    demonstrate("intersection", UniformNoise(0.5), 400, 0).save(file)
    return file


@pytest.mark.slow
def test_people_are_a_teacher_beside_the_others(people: Path, tmp_path: Path) -> None:
    options: dict[str, Any] = {"worlds": ("cartpole", "intersection"), "teachers": ("uniform",)}
    result, numbers = reproduce(["figure4"], tmp_path, **options, data=people, pairs=(100,))
    assert result == 2 * 5  # worlds and methods
    cells = numbers["figure4"].cells
    assert {(c.world, c.teacher) for c in cells} == {
        ("cartpole", "uniform"),
        ("intersection", "people"),
    }
    assert {(c["method"], c["radius"]) for c in on_file(tmp_path, "figure4")["cells"]} >= {
        ("counter-bc", 0.4),
        ("bc", None),
    }
    assert [row.world for row in numbers["figure4"].shown] == ["cartpole"]


@pytest.mark.slow
@pytest.mark.needs("gym_pusht")
def test_a_study_with_a_name_has_its_own_folder(make_demos: Make, tmp_path: Path) -> None:
    file, out = tmp_path / "people.hdf5", tmp_path / "out"
    make_demos(episodes=10, length=20, obs_size=5).save(file)
    options_given: dict[str, Any] = {"worlds": ("push-t",), "data": file, "pairs": (50,)}
    result, numbers = reproduce(["figure4"], out, **options_given, study="push-t")
    assert result == 5  # methods
    assert numbers["figure4"].shown == ()
    contents = json.loads((out / "push-t" / "numbers.json").read_text())
    assert list(contents) == ["figure4"]
    assert {p.name for p in out.iterdir()} == {"push-t", "rows", "timings.json"}


@pytest.mark.slow
def test_all_draws_the_figures_of_a_world_and_leaves_out_the_others(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    choice: dict[str, Any] = {"worlds": ("intersection",), "teachers": ("uniform",)}
    _, numbers = reproduce(["all"], tmp_path, **choice)
    drawn = {"figure4", "figure5", "figure6", "table1"}
    assert set(numbers) == drawn
    assert {p.parent.name for p in tmp_path.glob("*/numbers.json")} == drawn
    assert "figure7 is left out" in capsys.readouterr().out


def test_distance_counts_in_car_racing_and_the_numbers_on_file_come_of_its_rows(
    tmp_path: Path,
) -> None:
    (tmp_path / "car-racing").mkdir()
    shutil.copy(RESULTS / "car-racing" / "rows.parquet", tmp_path / "car-racing")
    cells = json.loads((RESULTS / "car-racing" / "numbers.json").read_text())["figure4"]["cells"]
    teachers = tuple(dict.fromkeys(cell["teacher"] for cell in cells))
    options = replace(FigureOptions(), worlds=("car-racing",), teachers=teachers)
    rows = rows_of("figure4", options, tmp_path, "car-racing")
    assert (rows["return"] == rows["tiles"]).all()
    assert len(cells) == len(teachers) * 2 * 5 * 2  # sizes, methods and ways of acting
    means = rows.groupby(["teacher", "pairs", "method", "act"])["tiles"].mean()
    for c in cells:
        mean = means[c["teacher"], c["pairs"], c["method"], c["act"]]
        assert mean == pytest.approx(c["mean"], rel=1e-9)
