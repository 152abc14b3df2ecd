"""A study is finished whole, however often it is stopped and by however many processes."""

from __future__ import annotations

import json
import multiprocessing
import random
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from counterbc.errors import OptionError
from counterbc.experiments.cell import Cell
from counterbc.experiments.claims import claim
from counterbc.experiments.simulated_cell import SimulatedCell
from counterbc.experiments.stacks import stacks
from counterbc.experiments.study import Part, Study, _Job
from tests.experiments.cells import GRID, TINY, repeatable


class Elsewhere(SimulatedCell):
    """TINY as another machine computes it."""

    other: dict[str, Any]

    def __init__(self, device: str = "cpu", **config: Any) -> None:
        super().__init__(**{f.name: getattr(TINY, f.name) for f in fields(TINY)})
        object.__setattr__(self, "other", {"device": device, **config})

    def table(self, *arguments: Any) -> pa.Table:
        table = super().table(*arguments)
        contents = json.loads(table.schema.metadata[b"counterbc"])
        contents["config"] |= {k: v for k, v in self.other.items() if k != "torch"}
        contents["config"]["versions"] |= {k: v for k, v in self.other.items() if k == "torch"}
        return table.replace_schema_metadata({"counterbc": json.dumps(contents)})


def compute(cells: Sequence[Cell], folder: Path, **options: Any) -> Study:
    study = Study(cells, folder)
    study.run("cpu", **{"workers": 1} | options)
    return study


def test_finished_cells_are_not_computed_again(tmp_path: Path) -> None:
    study = Study([TINY, TINY], tmp_path)
    with pytest.raises(OptionError, match="1 of 1 cells are not finished"):
        study.table()
    assert study.run("cpu", workers=1) == 1
    written_at = study.path(TINY).stat().st_mtime_ns
    assert study.run("cpu", workers=1) == 0
    assert study.path(TINY).stat().st_mtime_ns == written_at


def test_a_cell_that_another_process_finishes_is_not_computed_here(tmp_path: Path) -> None:
    study, names_done = Study([TINY, replace(TINY, pairs=40)], tmp_path), list[str]()

    def finish_the_other(cell: Cell) -> None:
        names_done.append(cell.name)
        if len(names_done) == 1:
            compute([replace(TINY, pairs=40)], tmp_path)

    assert study.run("cpu", workers=1, on_finished=finish_the_other) == 1
    assert names_done == list(study.cells)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="there are no such locks")
def test_a_cell_that_another_process_computes_is_waited_for(tmp_path: Path) -> None:
    second_cell = replace(TINY, pairs=40)
    study, order = Study([TINY, second_cell], tmp_path), list[str]()
    context = multiprocessing.get_context("spawn")
    is_held = context.Event()
    process = context.Process(target=_hold, args=(tmp_path, TINY.name, is_held, 2.0))
    process.start()
    is_held.wait(60)
    assert study.run("cpu", workers=1, on_finished=lambda cell: order.append(cell.name)) == 2
    process.join()
    assert order == [second_cell.name, TINY.name]  # the free one first


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="there are no such locks")
def test_a_stack_waits_for_each_of_its_cells(tmp_path: Path) -> None:
    cells = [TINY, replace(TINY, teacher="gaussian")]
    context = multiprocessing.get_context("spawn")
    for cell in cells:
        is_held = context.Event()
        process = context.Process(target=_hold, args=(tmp_path, cell.name, is_held, 600.0))
        process.start()
        is_held.wait(60)
        job = _Job(Study(cells, tmp_path), tuple(cells), "cpu", "cpu")
        assert job() is None
        process.kill()
        process.join()
    assert sorted(job() or ()) == sorted(cell.name for cell in cells)


def _hold(folder: Path, name: str, is_held: Any, seconds: float) -> None:
    with claim(folder, name):
        is_held.set()
        time.sleep(seconds)


def test_parts_are_disjoint_and_complete() -> None:
    study = Study(GRID, Path("unused"))
    parts = [list(study.part(Part(i, 5)).cells) for i in range(1, 6)]
    assert sorted(name for part in parts for name in part) == sorted(study.cells)
    assert max(map(len, parts)) - min(map(len, parts)) <= 1
    assert Part.parse("3/8") == Part(3, 8)
    for text in ("0/2", "3/2", "2", "1/0", "x/y"):
        with pytest.raises(OptionError, match="part is"):
            Part.parse(text)


@pytest.mark.parametrize("count", [1, 2, 3])
def test_parts_train_the_stacks_of_the_whole_study(count: int) -> None:
    noises = [replace(TINY, sigma=n / 10, pairs=p) for n in range(1, 7) for p in (20, 40)]
    study = Study([*noises, replace(TINY, pairs=60)], Path("unused"))
    parts = [study.part(Part(i, count), stacked=True) for i in range(1, count + 1)]
    stack_list = [stack for part in parts for stack in stacks([*part.cells.values()])]
    whole = stacks([*study.cells.values()])
    assert sorted(map(len, whole)) == [1, 2, 2, 4, 4]
    assert sorted(stack_list, key=str) == sorted(whole, key=str)


def test_columns_that_are_text_in_some_cells_are_text_in_all(tmp_path: Path) -> None:
    cells = [replace(TINY, method="counter-bc", radius=r) for r in (0.25, (0.5, 0.0))]
    radii = compute(cells, tmp_path).table()["radius"].to_pylist()
    assert radii == ["0.25"] * 4 + ["0.5,0"] * 4


@pytest.mark.slow
def test_worker_processes_give_the_rows_of_this_process(tmp_path: Path) -> None:
    cells = [TINY, replace(TINY, method="counter-bc", radius=0.4)]
    single_process, two_processes = (compute(cells, tmp_path / str(n), workers=n) for n in (1, 2))
    assert repeatable(single_process.table()) == repeatable(two_processes.table())


@pytest.mark.slow
def test_a_stack_has_the_rows_of_its_cells_alone(tmp_path: Path) -> None:
    kind = replace(TINY, world="cartpole", pool=100)
    teachers: list[dict[str, Any]] = [
        {"teacher": "crowd", "sigma": None}, {}, {"teacher": "gaussian"},
    ]  # fmt: skip
    cells = [replace(kind, method=m, **t) for t in teachers for m in ("bcnd", "bc")]
    cells_done: list[Cell] = []
    single = compute(cells, tmp_path / "alone")
    together = compute(cells, tmp_path / "t", on_finished=cells_done.append, stacked=True)
    assert repeatable(together.table()) == repeatable(single.table())
    assert {cell.name for cell in cells_done} == set(together.cells)
    metadata = pq.read_table(together.path(cells[0])).schema.metadata[b"counterbc"]
    config = json.loads(metadata)["config"]
    assert config["stack"] == [cell.name for cell in cells if cell.method == "bcnd"]
    assert len(config["data"]) == cells[0].seeds


def test_only_what_is_missing_of_a_stack_is_written(tmp_path: Path) -> None:
    cells = [TINY, replace(TINY, teacher="gaussian")]
    study = compute(cells, tmp_path, stacked=True)
    rows = repeatable(study.table())
    first, second = (study.path(cell) for cell in cells)
    written_at = second.stat().st_mtime_ns
    first.unlink()
    assert study.run("cpu", workers=1, stacked=True) == 1
    assert second.stat().st_mtime_ns == written_at
    assert repeatable(study.table()) == rows


def test_rows_of_another_device_or_version_are_added_to_only_when_asked(tmp_path: Path) -> None:
    second_cell = replace(TINY, pairs=40)
    study = Study([TINY, second_cell], tmp_path)
    for elsewhere in (Elsewhere("cuda"), Elsewhere(torch="1.0")):
        pq.write_table(elsewhere.rows(), study.path(TINY))
        with pytest.raises(OptionError, match=r"holds rows computed with .*; choose .* --mixed"):
            study.run("cpu", workers=1)
        assert not study.path(second_cell).exists()
    assert study.run("cpu", workers=1, mixed=True) == 1
    assert study.run("cpu", workers=1) == 0  # with nothing to add there is nothing to refuse


@pytest.mark.slow
def test_rows_by_numba_and_by_torch_are_mixed_only_when_asked(tmp_path: Path) -> None:
    pytest.importorskip("numba", reason="without it, all rows are by torch")
    script = (
        "import sys; sys.modules['numba'] = None\n"
        "from pathlib import Path\n"
        "from counterbc.experiments.study import Study\n"
        "from tests.experiments.cells import TINY\n"
        f"Study([TINY], Path({str(tmp_path)!r})).run('cpu', workers=1)\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)
    second_cell = replace(TINY, pairs=40)
    study = Study([TINY, second_cell], tmp_path)
    with pytest.raises(OptionError, match=r"with cpu, .* without numba, .* with cpu, .* numba \d"):
        study.run("cpu", workers=1)
    assert not study.path(second_cell).exists()
    assert study.run("cpu", workers=1, mixed=True) == 1
    assert study.table()["kernel"].unique().to_pylist() == ["torch", "numba"]


def test_rows_without_versions_of_kernel_libraries_can_be_read(tmp_path: Path) -> None:
    study, table = Study([TINY], tmp_path), TINY.rows("cpu")
    table = table.select([n for n in table.column_names if n not in ("numba", "triton")])
    contents = json.loads(table.schema.metadata[b"counterbc"])
    del contents["config"]["versions"]["numba"], contents["config"]["versions"]["triton"]
    old = table.replace_schema_metadata({"counterbc": json.dumps(contents)})
    pq.write_table(old, study.path(TINY))
    assert study.run("cpu", workers=1) == 0
    assert study.table().to_pylist() == old.to_pylist()


def test_rows_that_come_from_a_machine_of_other_versions_are_not_written(tmp_path: Path) -> None:
    study = Study([replace(TINY, pairs=40), Elsewhere(torch="1.0")], tmp_path)
    with pytest.raises(OptionError, match=rf"{TINY.name} was computed with cpu, .*torch 1\.0"):
        study.run("cpu", workers=1)
    assert [cell.name for cell in study.missing()] == [TINY.name]  # what came before is kept
    assert study.run("cpu", workers=1, mixed=True) == 1


def test_rows_of_two_simulators_are_never_mixed(tmp_path: Path) -> None:
    second_cell, elsewhere = replace(TINY, pairs=40), Elsewhere(backend="envpool")
    message = f"{TINY.name} was computed in intersection with envpool, and here it runs with None"
    with pytest.raises(OptionError, match=message):
        Study([elsewhere], tmp_path).run("cpu", workers=1, mixed=True)
    assert not list(tmp_path.glob("*.parquet"))
    study = Study([TINY, second_cell], tmp_path)
    pq.write_table(elsewhere.rows(), study.path(TINY))
    with pytest.raises(OptionError, match=message):
        study.run("cpu", workers=1, mixed=True)
    assert not study.path(second_cell).exists()


def start(study: Study, workers: int) -> Any:
    """Run the study in a process, which starts its own workers."""
    context = multiprocessing.get_context("forkserver")
    modules = ["counterbc.experiments.study", "counterbc.experiments.simulated_cell"]
    context.set_forkserver_preload(modules)
    process = context.Process(target=study.run, args=("cpu",), kwargs={"workers": workers})
    process.start()
    return process


def killed(process: Any, moment: float) -> bool:
    """Kill the process after a moment; return False if it had finished before."""
    process.join(moment)
    process.kill()
    process.join()
    assert process.exitcode in (0, -signal.SIGKILL)
    return bool(process.exitcode)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
@pytest.mark.parametrize(("workers", "kills"), [(1, 4), (2, 2)])
def test_a_study_killed_at_random_moments_has_the_rows_of_an_uninterrupted_one(
    workers: int, kills: int, tmp_path: Path
) -> None:
    moments, studies, halfway = random.Random(0), [Study(GRID, tmp_path / "0")], 0
    while kills > 0:  # a study that finishes first is checked, and another one starts
        study = studies[-1]
        before, process = len(study.missing()), start(study, workers)
        while kills % 2 and process.is_alive() and len(study.missing()) == before:
            time.sleep(0.01)  # every other one is killed between its rows, not while it starts
        was_stopped = killed(process, moments.uniform(0, 0.5 if kills % 2 else 3))
        assert was_stopped or not study.missing()
        kills -= was_stopped
        halfway += 0 < len(study.missing()) < before
        if not study.missing():
            studies.append(Study(GRID, tmp_path / str(len(studies))))
    assert halfway > 0
    studies[-1].run("cpu", workers=1)
    rows = repeatable(compute(GRID, tmp_path / "uninterrupted").table())
    assert all(repeatable(study.table()) == rows for study in studies)
