"""Each figure has its worlds, teachers and sizes, and says so before any work."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from counterbc.errors import OptionError
from reproduction.__main__ import main
from reproduction.catalog import FIGURES, figure4, figure5, figure6, plan
from reproduction.figure_options import FigureOptions

RACING = FigureOptions(worlds=("car-racing",), paper_size=True)


def values(name: str, options: FigureOptions, about: str) -> set[object]:
    return {cell.about[about] for cell in FIGURES[name](options)}


def test_car_racing_can_be_studied_at_the_paper_s_size() -> None:
    sizes = [values("figure4", RACING, about) for about in ("seeds", "episodes", "steps", "pairs")]
    assert sizes == [{50}, {100}, {10_000}, {100, 200, 400, 800, 1600}]
    assert values("figure5", RACING, "sigma") == {0.0, 0.25, 0.5, 0.75, 1.0}
    radii = {None, 0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1.0}
    assert values("figure6", RACING, "radius") == radii


def test_only_the_sizes_that_are_asked_for_are_studied() -> None:
    two_sizes = FigureOptions(pairs=(400, 50))
    for name in ("figure4", "figure7", "table1"):
        assert values(name, two_sizes, "pairs") == {50, 400}
    assert values("figure7", two_sizes, "seeds") == {10}  # everything else as it was


def test_rows_alone_are_asked_for_by_the_same_options(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ["figure4", "--env", "car-racing", "--noise", "uniform", "--out", str(tmp_path)]
    for more, count in ((["--paper-size"], 25), (["--pairs", "400", "--pairs", "800"], 10)):
        assert main(["run", *asked, *more, "--left"]) == 0
        assert capsys.readouterr().out == f"{count} of {count} cells are left\n"


def test_all_are_the_figures_that_have_the_world() -> None:
    racing = plan(["all"], FigureOptions(worlds=("car-racing",)))
    assert [*racing.figures] == ["figure4", "figure5", "figure6", "table1"]
    assert racing.notes == (
        "figure2 is left out: figure2 has no world to choose; leave out --env",
        "figure3 is left out: figure3 has no world to choose; leave out --env",
        "figure7 is left out: unknown world of figure7 'car-racing'; allowed: air-hockey",
    )
    assert [*plan(["all"], FigureOptions()).figures] == [*FIGURES]
    assert [*plan(["all"], FigureOptions(pairs=(400,))).figures] == ["figure4", "figure7", "table1"]


def test_all_gives_each_figure_those_of_the_worlds_and_teachers_that_it_has() -> None:
    options = FigureOptions(worlds=("air-hockey", "cartpole"), teachers=("crowd", "gaussian"))
    plans = plan(["all"], options)
    choices = {name: (figure.worlds, figure.teachers) for name, figure in plans.figures.items()}
    whole = (options.worlds, options.teachers)
    assert choices == {
        "figure4": whole, "figure5": (options.worlds, ("gaussian",)), "figure6": whole,
        "figure7": (("air-hockey",), options.teachers), "table1": whole,
    }  # fmt: skip
    assert plans.notes[-2:] == ("figure5 is without crowd", "figure7 is without cartpole")


def test_a_figure_and_all_may_be_asked_for_together() -> None:
    options = FigureOptions(worlds=("cartpole",), teachers=("uniform",))
    plans = plan(["figure5", "all"], options).cells()
    assert {u.name for u in plans} == {u.name for u in plan(["all"], options).cells()}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("figure7 --env intersection",
         "unknown world of figure7 'intersection'; allowed: air-hockey"),
        ("figure5 --noise crowd",
         "unknown noise or teacher of figure5 'crowd'; allowed: uniform, gaussian, epsilon-greedy"),
        ("figure6 --env push-t", "unknown world of figure6 'push-t'; allowed: intersection, "),
        ("figure3 --env intersection", "figure3 has no world to choose; leave out --env"),
        ("figure2 --noise crowd", "figure2 has no noise or teacher to choose; leave out --noise"),
        ("figure5 --pairs 100", "figure5 has no sizes to choose; leave out --pairs, or ask for "
         "one of figure4, figure7, table1"),
        ("all --env cartpole --env moon", "unknown world of figure4 'moon'; allowed: "),
        ("figure4 --pairs 400 --pairs 3", "pairs is 3; it must be 4 or more"),
        ("figure4 --env cartpole --pairs 20001",
         "pairs is 20001; of quick-crowd in cartpole 20000 are recorded, "
         "so ask for 20000 or fewer"),
        ("figure4 --quick --paper-size", "a study is quick or of the paper's size; leave one"),
        ("figure4 --env push-t --noise crowd --data demos.hdf5",
         "push-t is studied with what people recorded; leave out --noise"),
    ],
)  # fmt: skip
def test_what_a_figure_does_not_have_is_refused_in_one_sentence_before_any_work(
    arguments: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "new"
    assert main(["run", *arguments.split(), "--out", str(folder)]) == 1
    error = capsys.readouterr().err
    assert error.startswith(f"error: {message}")
    assert error.count("\n") == 1
    assert not folder.exists()


def test_figures_share_their_common_cells() -> None:
    options = FigureOptions(worlds=("intersection",), teachers=("uniform",))
    one_by_one = [c.name for f in (figure4, figure5, figure6) for c in f(options)]
    assert len(one_by_one) == 25 + 25 + 13
    all_names = [c.name for c in plan(["all"], replace(options, worlds=())).cells()]
    assert len(set(all_names)) == len(all_names)
    # 400 pairs at σ 0.5 belong to all three; the fifth method at Δ 0.4.
    assert len(set(one_by_one)) == 25 + 20 + 8


@pytest.mark.slow
def test_the_longest_cells_of_a_figure_and_world_come_first() -> None:
    names = {c.name for c in figure4(FigureOptions())}
    cells = [c for c in plan(["all"], FigureOptions()).cells() if c.name in names]
    assert [c.about["world"] for c in cells] == ["intersection"] * 100 + ["cartpole"] * 100
    assert (cells[0].about["pairs"], cells[0].about["method"]) == (1600, "bc-rnn")
    assert [c.work for c in cells[:100]] == sorted((c.work for c in cells[:100]), reverse=True)


def test_slow_worlds_are_studied_at_the_size_that_hardware_allows() -> None:
    cells = figure4(FigureOptions(worlds=("car-racing",), teachers=("uniform",)))
    assert {c.about["pairs"] for c in cells} == {400, 1600}
    assert {(c.about["seeds"], c.about["episodes"], c.about["pool"]) for c in cells} == {
        (5, 10, 8000)
    }
    racing = FigureOptions(worlds=("car-racing",), seeds=50)
    assert {c.about["seeds"] for c in figure4(racing)} == {50}
    assert {c.about["sigma"] for c in figure5(racing)} == {0.0, 0.5, 1.0}
    assert {c.about["radius"] for c in figure6(racing)} == {None, 0.0, 0.2, 0.4, 0.8}


def test_one_file_is_of_one_world() -> None:
    plans = FigureOptions(worlds=("push-t", "can"), data=Path("demos.hdf5"))
    with pytest.raises(OptionError, match="one file, of one world; give only one of push-t, can"):
        figure4(plans)
