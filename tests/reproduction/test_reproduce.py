"""From a command to figures and sentences."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from counterbc.acting.intervals import paired_difference
from counterbc.cli import main
from counterbc.data.demonstrations import Demonstrations
from counterbc.demonstrators import UniformNoise, demonstrate
from counterbc.errors import OptionError
from counterbc.experiments.cell_files import made_with
from counterbc.experiments.study import Study
from counterbc.training.run import versions
from reproduction import catalog
from reproduction.catalog import FigureOptions, figure7
from reproduction.draw import draw, resolution, rows_of, sentences
from reproduction.figures import loss_plane
from reproduction.recovery import AT, RecoveryCell, distances, examples, meant
from reproduction.timings import cpu_name

Make = Callable[..., Demonstrations]
TINY = ("--quick", "--seeds", 4, "--steps", 3, "--episodes", 2, "--device", "cpu")


def reproduce(capsys: pytest.CaptureFixture[str], *arguments: object) -> dict[str, Any]:
    asked = (*arguments, *TINY, "--workers", 1, "--json")
    status = main(["reproduce", *map(str, asked)])
    said, told = capsys.readouterr()
    assert status == 0, told
    found: dict[str, Any] = json.loads(said)
    return found


def test_the_loss_is_largest_when_confident_outside_and_least_when_confident_inside() -> None:
    found = list(loss_plane.losses().values())
    assert found == sorted(found, reverse=True)
    assert found[0] > 3 > 0 > found[-1]


def test_any_action_well_inside_the_set_is_as_good_as_the_demonstrated_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    there = loss_plane.POLICIES[-1]
    here = replace(there, name="at the demonstrated action", mean=(0.0, 0.0), std=0.05)
    beside = replace(here, name="beside it", mean=(0.2, -0.2))
    monkeypatch.setattr(loss_plane, "POLICIES", (here, beside))
    a, b = loss_plane.losses().values()
    # Up to how many of the 2000 draws lie near; some 30 lie within two standard deviations.
    assert a == pytest.approx(b, abs=0.3)


def test_distances_of_the_meant_function_are_those_of_the_noise_alone() -> None:
    found = distances(meant(AT), examples(50_000, seed=0))
    assert found["variation"] == pytest.approx(2.0)  # from 0.5 down to −0.5 and up again
    assert found["to_meant"] == 0.0
    assert found["to_examples"] == pytest.approx(1 / 12**0.5, rel=0.02)  # the sd of U(−.5, .5)


def test_recovery_learns_from_the_same_examples_whatever_the_radius() -> None:
    bc, counter = (RecoveryCell(r, 20, 2, steps=3).rows("cpu").to_pylist() for r in (None, 0.5))
    assert [r["fingerprint"] for r in bc] == [r["fingerprint"] for r in counter]
    assert bc[0]["action"] != counter[0]["action"]


def test_reproduce_writes_figures_and_their_numbers_and_resumes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ("figure5", "--env", "intersection", "--out", tmp_path)
    said = reproduce(capsys, *asked)
    assert said["computed"] == said["populations"] == 15
    kinds = {f"figure5-{act}.{kind}" for act in ("mean", "sample") for kind in ("png", "svg")}
    assert {Path(f).name for f in said["figure5"]["files"]} == {*kinds, "figure5.json"}
    assert json.loads((tmp_path / "figure5.json").read_text())["cells"] == said["figure5"]["cells"]

    options = FigureOptions(True, ("intersection",), (), 4, 3, 2)
    rows = rows_of("figure5", options, tmp_path)
    for cell in said["figure5"]["cells"]:
        own = rows[(rows["method"] == cell["method"]) & (rows["act"] == cell["act"])]
        assert own[own["sigma"] == cell["sigma"]]["return"].mean() == pytest.approx(cell["mean"])
    test = said["figure5"]["statistics"][0]
    assert test["anova"]["subjects"] == 3 * 4  # three σ, four runs
    assert len(test["post_hoc"]) == 10

    again = reproduce(capsys, *asked)
    assert again["computed"] == 0
    assert again["figure5"]["statistics"] == said["figure5"]["statistics"]
    text = resolution("figure5", options, tmp_path, sd=None)
    assert text is not None
    assert "4 paired runs per point" in text
    assert "by the largest sd of the rows" in text


def test_what_the_runs_can_resolve_is_said_before_they_are_made(tmp_path: Path) -> None:
    assert resolution("figure4", FigureOptions(), tmp_path, sd=3.0) == (
        "figure4: 50 paired runs per point find differences of 0.54 sd (power 0.8, "
        "p < .05 after Bonferroni over 10 pairs of methods), 1.61 with an sd of 3"
    )
    assert resolution("figure4", FigureOptions(seeds=2), tmp_path, sd=None) == (
        "figure4: 2 runs per point are too few to tell methods apart"
    )


def test_the_baselines_of_figure6_are_computed_once_and_table1_uses_figure4(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    chosen = ("--env", "intersection", "--noise", "uniform", "--out", tmp_path)
    said = reproduce(capsys, "figure4", *chosen)
    assert said["computed"] == 10  # 2 sizes, 5 methods
    (shown,) = said["figure4"]["shown"]
    datasets = [
        demonstrate("intersection", UniformNoise(0.5), k, s) for k in (100, 400) for s in range(4)
    ]
    assert shown["mean"] == pytest.approx(np.mean([d.mean_return for d in datasets]))
    (made,) = said["figure4"]["made"]
    assert made == made_with({"device": "cpu", "versions": versions()})
    said = reproduce(capsys, "figure6", *chosen)
    assert said["computed"] == 3  # Δ 0.4 and the baselines are figure 4's
    assert {c["radius"] for c in said["figure6"]["cells"]} == {None, 0.0, 0.2, 0.4, 0.8}
    rows = rows_of(
        "figure6", FigureOptions(True, ("intersection",), ("uniform",), 4, 3, 2), tmp_path
    )
    wide = rows[rows["act"] == "mean"].pivot(
        index="seed", columns=["method", "radius"], values="return"
    )
    alone = paired_difference(wide["counter-bc"][0.2], wide["bc"].iloc[:, 0]).p
    (found,) = (t for t in said["figure6"]["above_bc"] if (t["radius"], t["act"]) == (0.2, "mean"))
    assert found["p"] == pytest.approx(min(1.0, 4 * alone))  # Bonferroni over four radii
    (mean, sample) = sentences("figure6", said["figure6"])
    assert mean.startswith("intersection, uniform, act=mean: best Δ 0")
    assert "; Δ 0 " in sample
    said = reproduce(capsys, "table1", *chosen)
    assert said["computed"] == 0
    assert {(i["baseline"], i["paper"]) for i in said["table1"]["improvements"]} == {
        ("bc", 10), ("weighted-bc", 144), ("bc-rnn", 8), ("bcnd", 9),
    }  # fmt: skip


def test_figure7_has_a_subject_per_size_and_run(tmp_path: Path) -> None:
    options = FigureOptions(True, (), ("uniform",), 2, 3, 1)
    Study(figure7(options), tmp_path / "rows").run("cpu", workers=1)
    said, files = draw("figure7", options, tmp_path)
    assert [t["measure"] for t in said["statistics"][:3]] == [
        "hits", "distance_per_hit", "time_per_hit",
    ]  # fmt: skip
    assert {t["anova"]["subjects"] for t in said["statistics"]} == {2 * 2}
    assert {t["method"] for t in said["statistics"][0]["post_hoc"]} <= {
        "weighted-bc", "bcnd", "counter-bc",
    }  # fmt: skip
    assert all(f.stat().st_size > 1000 for f in files)
    assert sentences("figure7", said)[0].startswith("hits, act=mean: ")


@pytest.fixture
def shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file of demonstrations in Intersection, which is taken for a world of recordings."""
    monkeypatch.setitem(catalog.RECORDED, "intersection", ())
    file = tmp_path / "shown.hdf5"
    demonstrate("intersection", UniformNoise(0.5), 400, 0).save(file)
    return file


def test_what_people_recorded_is_a_teacher_beside_the_others(
    shown: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ("--env", "cartpole", "--env", "intersection", "--noise", "uniform", "--data", shown)
    said = reproduce(capsys, "figure4", *asked, "--out", tmp_path)
    assert said["computed"] == 2 * 2 * 5  # worlds, sizes and methods
    found = {(c["world"], c["teacher"], c["pairs"]) for c in said["figure4"]["cells"]}
    made = {("cartpole", "uniform", k) for k in (100, 400)}
    assert found == made | {("intersection", "people", k) for k in (100, 400)}
    radii = {(c["method"], c["radius"]) for c in said["figure4"]["cells"]}
    assert ("counter-bc", 0.4) in radii
    assert ("bc", None) in radii
    assert [row["world"] for row in said["figure4"]["shown"]] == ["cartpole"]


@pytest.mark.needs("gym_pusht")
def test_what_people_recorded_is_a_figure_of_its_own(
    make_demos: Make, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, out = tmp_path / "people.hdf5", tmp_path / "out"
    make_demos(episodes=10, length=20, obs_size=5).save(file)
    asked = ("--env", "push-t", "--data", file, "--pairs", 50, "--out", out)
    said = reproduce(capsys, "figure4", *asked)
    assert said["computed"] == 5  # methods
    assert said["figure4"]["shown"] == []
    assert all(Path(f).stat().st_size > 1000 for f in said["figure4"]["files"])
    assert json.loads((out / "figure4.json").read_text())["cells"] == said["figure4"]["cells"]
    cells = {(c["world"], c["teacher"], c["pairs"]) for c in said["figure4"]["cells"]}
    assert cells == {("push-t", "people", 50)}


def test_all_draws_the_figures_of_a_world_and_leaves_out_the_others(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ("all", "--env", "intersection", "--noise", "uniform", "--out", tmp_path)
    said = reproduce(capsys, *asked)
    drawn = {f"{f}.json" for f in ("figure4", "figure5", "figure6", "table1")}
    assert drawn == {f.name for f in tmp_path.glob("*.json")} - {"seconds.json"}
    assert drawn == {f"{name}.json" for name in said if name.startswith(("figure", "table"))}
    assert [note.partition(" ")[0] for note in said["notes"]] == ["figure2", "figure3", "figure7"]


def test_the_time_that_a_figure_took_lies_beside_its_rows(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ("figure4", "--env", "intersection", "--noise", "uniform", "--out", tmp_path)
    for sizes in (("--pairs", 100), ("--pairs", 100, "--pairs", 200), ("--pairs", 200)):
        reproduce(capsys, *asked, *sizes)  # the last computes nothing
    calls = json.loads((tmp_path / "seconds.json").read_text())
    shards = [call["parts"]["figure4, intersection"] for call in calls]
    assert [(part["computed"], part["of"]) for part in shards] == [(5, 5), (5, 10)]
    assert {(c["device"], c["workers"], c["cpu"]) for c in calls} == {("cpu", 1, cpu_name())}


def test_one_file_is_of_one_world(shown: Path) -> None:
    both = FigureOptions(worlds=("push-t", "intersection"), data=shown)
    with pytest.raises(OptionError, match="one file, of one world; give only one of push-t, inter"):
        catalog.figure4(both)


def test_slow_worlds_are_studied_at_the_size_that_hardware_allows() -> None:
    cells = catalog.figure4(FigureOptions(worlds=("car-racing",), teachers=("uniform",)))
    assert {u.about["pairs"] for u in cells} == {400, 1600}
    assert {(u.about["seeds"], u.about["episodes"], u.about["pool"]) for u in cells} == {
        (5, 10, 8000)
    }
    racing = FigureOptions(worlds=("car-racing",), seeds=50)
    assert {u.about["seeds"] for u in catalog.figure4(racing)} == {50}
    assert {u.about["sigma"] for u in catalog.figure5(racing)} == {0.0, 0.5, 1.0}
    assert {u.about["radius"] for u in catalog.figure6(racing)} == {None, 0.0, 0.2, 0.4, 0.8}


def test_distance_counts_in_car_racing_and_the_numbers_on_file_come_of_its_rows() -> None:
    folder = Path(__file__).parents[2] / "reproduction" / "results" / "car-racing"
    cells = json.loads((folder / "figure4.json").read_text())["cells"]
    teachers = tuple(dict.fromkeys(cell["teacher"] for cell in cells))
    rows = rows_of("figure4", FigureOptions(worlds=("car-racing",), teachers=teachers), folder)
    assert (rows["return"] == rows["tiles"]).all()
    assert len(cells) == len(teachers) * 2 * 5 * 2  # sizes, methods and ways of acting
    for cell in cells:
        own = rows
        for k in ("teacher", "pairs", "method", "act"):
            own = own[own[k] == cell[k]]
        assert own["tiles"].mean() == pytest.approx(cell["mean"])


def test_sizes_are_the_world_s_unless_others_are_asked_for() -> None:
    assert FigureOptions().sizes("air-hockey").pairs == (200, 400, 800, 1600, 3200)
    assert (FigureOptions().sizes().seeds, FigureOptions().sizes("air-hockey").seeds) == (50, 10)
    assert FigureOptions(seeds=7, steps=3).sizes("push-t").seeds == 7
    assert FigureOptions(quick=True, steps=3).sizes("push-t").steps == 3


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("figure4", "--env", "moon"),
            "unknown world of figure4 'moon'; allowed: ",
        ),
        (("figure4", "--env", "push-t"), "push-t is studied with what people recorded; name their"),
        (("figure8",), "unknown figure or table 'figure8'; allowed: figure2, figure3"),
        (
            ("figure4", "--noise", "loud"),
            "unknown noise or teacher of figure4 'loud'; allowed: ",
        ),
        (("figure4", "--seeds", "1"), "seeds is 1; it must be 2 or more"),
    ],
)
def test_what_cannot_be_reproduced_is_refused_in_one_sentence(
    arguments: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["reproduce", *arguments]) == 1
    told = capsys.readouterr().err
    assert told.startswith("error: ")
    assert message in told
    assert told.count("\n") == 1
