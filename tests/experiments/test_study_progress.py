"""What a study prints while it runs: cells that are finished and running, and the time left."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from counterbc.experiments.cell import Cell
from counterbc.experiments.study import Study
from counterbc.experiments.study_progress import Forecast, StudyProgress
from tests.experiments.cells import TINY

WORKS = {"a": 1.0, "b": 1.0, "c": 2.0, "d": 2.0, "e": 4.0}


@dataclass
class Stack:
    """A job as a forecast sees it; its cells are named by single letters."""

    name: str

    @property
    def stack(self) -> Sequence[Any]:
        return [SimpleNamespace(name=letter) for letter in self.name]


class Clock:
    """A clock that is set by hand."""

    seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


def begun(workers: int | None, *names: str) -> tuple[Forecast, Clock]:
    clock = Clock()
    forecast = Forecast(WORKS, workers, clock)
    forecast.begin([Stack(name) for name in names])
    return forecast, clock


def test_jobs_run_in_their_order_and_the_time_left_is_that_of_the_slowest_worker() -> None:
    forecast, clock = begun(2, *"abcde")
    assert (forecast.running(), forecast.seconds_left("abcde")) == (["a", "b"], None)
    clock.seconds = 70.0
    forecast.end("a", "a")
    assert forecast.running() == ["b", "c"]
    # 70 s for a work of 1: b has none left, c and d take 140 and e takes 280, by two workers
    assert forecast.seconds_left("bcde") == pytest.approx(280)
    clock.seconds = 100.0
    forecast.end("b", "b")
    clock.seconds = 170.0
    forecast.end("c", "c")
    # 50 s for a work of 1, since c was no worker's first job: d has 30 left, e takes 200
    assert forecast.seconds_left("de") == pytest.approx(200)


def test_short_first_jobs_say_nothing_because_they_import_and_compile() -> None:
    forecast, clock = begun(1, *"abc")
    clock.seconds = 12.0
    forecast.end("a", "a")
    assert forecast.seconds_left("bc") is None
    clock.seconds = 13.0
    forecast.end("b", "b")
    assert forecast.seconds_left("c") == pytest.approx(2)


def test_cells_that_other_processes_compute_are_neither_counted_nor_left() -> None:
    forecast, clock = begun(1, "ab", "c", "d", "e")
    clock.seconds = 100.0
    forecast.end("ab", "b")  # a stack of which only b was missing: 100 s for a work of 1
    clock.seconds = 101.0
    forecast.end("c", "")
    assert forecast.seconds_left("de") == pytest.approx(600)
    assert forecast.seconds_left("d") == pytest.approx(200)
    forecast.begin([Stack("c")])  # is waited for
    clock.seconds = 151.0
    assert forecast.running() == ["c"]
    assert forecast.seconds_left("c") == pytest.approx(150)


def test_a_first_job_that_another_process_holds_passes_its_mark_to_the_next() -> None:
    forecast, clock = begun(1, *"abc")
    clock.seconds = 0.1
    forecast.end("a", "")  # held elsewhere
    clock.seconds = 15.0
    forecast.end("b", "b")  # compiles
    assert forecast.seconds_left("c") is None
    clock.seconds = 17.0
    forecast.end("c", "c")  # 2 s for a work of 2
    assert forecast.seconds_left("ade") == pytest.approx(7)  # 1 + 2 + 4, all elsewhere


def test_jobs_that_end_before_they_are_known_to_run_are_no_sample() -> None:
    forecast, clock = begun(1, *"abc")
    clock.seconds = 1.0
    forecast.end("c", "c")
    assert forecast.samples == []
    assert forecast.running() == ["a"]


def test_on_a_cluster_the_time_left_follows_from_all_that_was_done_so_far() -> None:
    forecast, clock = begun(None, *"abcde")
    clock.seconds = 30.0
    forecast.end("c", "c")
    assert forecast.running() == []
    assert forecast.seconds_left("abde") == pytest.approx(30 * 8 / 2)


def progress_of(study: Study) -> StudyProgress:
    return StudyProgress(len(study.cells), study.missing, 1)


def test_a_line_counts_the_cells_that_any_process_finished(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("counterbc.printing.LINE_EVERY", 0.02)
    cells = [replace(TINY, pairs=pairs) for pairs in (20, 40, 60, 80)]
    study = Study(cells, tmp_path)
    study.path(cells[3]).touch()
    jobs = [SimpleNamespace(name=cell.name, stack=(cell,)) for cell in cells[:3]]
    with progress_of(study) as progress:
        progress.begin(jobs)
        _wait_for(capsys, rf"1 of 4 cells, about .* so far; running: {cells[0].name}\n")
        study.path(cells[2]).touch()
        _wait_for(capsys, "2 of 4 cells, ")
    assert capsys.readouterr().err.endswith("2 of 4 cells\n")


def _wait_for(capsys: pytest.CaptureFixture[str], pattern: str) -> None:
    printed, end = "", time.monotonic() + 30
    while not re.search(pattern, printed):
        assert time.monotonic() < end, f"{pattern!r} is not in {printed[:1000]!r}"
        time.sleep(0.02)
        printed += capsys.readouterr().err


@pytest.mark.parametrize("workers", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_a_study_announces_its_time_and_prints_lines_meanwhile(
    workers: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.setattr("counterbc.printing.LINE_EVERY", 0.01)
    monkeypatch.setattr("counterbc.training.session._WORTH_SAYING", 0.0)
    cells: list[Cell] = [replace(TINY, pairs=20, steps=steps) for steps in range(200, 206)]
    Study(cells, tmp_path).run("cpu", workers=workers)
    printed = capsys.readouterr().err
    announced = r"Estimated time left at the present load: about .*\. Ctrl-C keeps finished cells"
    assert re.search(announced, printed)
    assert re.search(r"\d of 6 cells, about .* left; running: intersection-uniform-0\.5", printed)
    assert printed.endswith("6 of 6 cells\n")


def test_short_studies_announce_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("counterbc.printing.LINE_EVERY", 600.0)
    Study([TINY, replace(TINY, pairs=40)], tmp_path).run("cpu", workers=1)
    assert capsys.readouterr().err == "2 of 2 cells\n"


def test_a_stopped_study_says_how_far_it_came(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("counterbc.printing.LINE_EVERY", 600.0)

    def stop(cell: Cell) -> None:
        raise KeyboardInterrupt

    study = Study([TINY, replace(TINY, pairs=40)], tmp_path)
    with pytest.raises(KeyboardInterrupt):
        study.run("cpu", workers=1, on_finished=stop)
    assert capsys.readouterr().err == "1 of 2 cells\n"
