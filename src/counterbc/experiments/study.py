"""A study: cells and the folder of their rows. Finished cells stay, missing ones are computed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TypeVar

import pyarrow as pa

from counterbc.acting.device import find_device
from counterbc.data.cores import cores
from counterbc.errors import OptionError
from counterbc.experiments.cell import Cell, compute_rows
from counterbc.experiments.cell_files import (
    check_simulator,
    description,
    made_here,
    made_with,
    read_rows,
    write_rows,
)
from counterbc.experiments.claims import claim
from counterbc.experiments.ray_cluster import On, run_on_ray
from counterbc.experiments.stacks import stacks
from counterbc.experiments.study_progress import StudyProgress
from counterbc.experiments.workers import run_all
from counterbc.files import make_folder

OnFinished = Callable[[Cell], None]
Result = TypeVar("Result")
GPU_WORKERS = 12  # processes that share a GPU, so that it trains while others test on the CPU


@dataclass(frozen=True)
class Part:
    """The `index`-th of `count` disjoint parts of a study, counted from 1."""

    index: int = 1
    count: int = 1

    def __post_init__(self) -> None:
        if not 1 <= self.index <= self.count:
            raise OptionError(f"part is {self.index}/{self.count}; it must be 1/{self.count} to "
                              f"{self.count}/{self.count}")  # fmt: skip

    @staticmethod
    def parse(text: str) -> Part:
        """Return the part that a text such as "3/8" names."""
        index, slash, count = text.partition("/")
        if not (slash and index.isdecimal() and count.isdecimal()):
            raise OptionError(f"part is {text!r}; give it as I/N, such as 1/4")
        return Part(int(index), int(count))


class Study:
    """Cells in a folder, with one Parquet file for each finished cell.

    Several processes may work in the same folder at once.
    """

    def __init__(self, cells: Sequence[Cell], folder: Path) -> None:
        self.cells, self.folder = {cell.name: cell for cell in cells}, folder

    def path(self, cell: Cell) -> Path:
        return self.folder / f"{cell.name}.parquet"

    def missing(self) -> list[Cell]:
        """Return the cells that are not finished."""
        return [cell for cell in self.cells.values() if not self.path(cell).exists()]

    def part(self, part: Part, stacked: bool = False) -> Study:
        """Return a study of one part of the cells, in the same folder.

        With `stacked`, a part has whole stacks, so that it trains the same ones as the whole study.
        """
        chosen = stacks([*self.cells.values()], stacked)[part.index - 1 :: part.count]
        return Study([cell for stack in chosen for cell in stack], self.folder)

    def run(
        self,
        device: str | None = None,
        *,
        on: On = "local",
        workers: int | None = None,
        address: str | None = None,
        on_finished: OnFinished = lambda cell: None,
        stacked: bool | None = None,
        mixed: bool = False,
    ) -> int:
        """Compute the missing cells and return how many this call computed.

        The first cells are started first. `on_finished(cell)` is called after a cell is written,
        also by another process. `stacked` trains cells together as in `stacks`, by default on a
        GPU. Unless `mixed`, a folder with rows of another kind of device or of other versions is
        refused.
        """
        kind = find_device(device).type
        if workers is not None and workers < 1:
            raise OptionError(f"workers is {workers}; it must be 1 or more")
        make_folder(self.folder)
        missing_cells = {cell.name: cell for cell in self.missing()}
        if not missing_cells:
            return 0
        row_kind = None if mixed else kind
        self._check_finished(row_kind)
        together = stacked_by_default(device) if stacked is None else stacked
        jobs = [
            _Job(self, stack, device or kind, row_kind)
            for stack in stacks([*self.cells.values()], together)
            if any(cell.name in missing_cells for cell in stack)
        ]
        if on == "ray":
            with StudyProgress(len(self.cells), self.missing, None) as progress:
                return _run_on_ray(jobs, progress, on_finished, address, kind)
        workers = min(workers or default_workers(kind), len(jobs))
        with StudyProgress(len(self.cells), self.missing, workers) as progress:
            return _run_here(jobs, progress, on_finished, workers)

    def _check_finished(self, kind: str | None) -> None:
        """Refuse a folder whose rows come from another simulator, device or version."""
        local = kind and made_here(kind)
        for cell in self.cells.values():
            if not self.path(cell).exists():
                continue
            contents = description(self.path(cell))
            check_simulator(cell, contents)
            maker = made_with(contents["config"])
            if local is not None and maker != local:
                raise OptionError(
                    f"{self.folder} holds rows computed with {maker}, and this run would add rows "
                    f"computed with {local}; choose another folder (--out), or use --mixed"
                )

    def table(self) -> pa.Table:
        """Return the rows of all cells; every cell must be finished."""
        if cells := self.missing():
            raise OptionError(
                f"{len(cells)} of {len(self.cells)} cells are not finished in {self.folder}; "
                "compute them first"
            )
        tables = [read_rows(self.path(cell), cell) for cell in self.cells.values()]
        tables = _with_equal_types(tables)
        return pa.concat_tables(tables, promote_options="permissive").replace_schema_metadata(None)


@dataclass(frozen=True)
class _Job:
    """The missing cells of one stack, computed and written in a worker process."""

    study: Study
    stack: tuple[Cell, ...]
    device: str
    row_kind: str | None
    """The kind of device whose rows are written; None for any."""
    wait: bool = False

    @property
    def name(self) -> str:
        return self.stack[0].name

    def missing_names(self) -> list[str]:
        return [cell.name for cell in Study(self.stack, self.study.folder).missing()]

    def __call__(self) -> list[str] | None:
        """Return the names of the cells computed here; None if another process computes them."""
        with ExitStack() as claims:
            for name in sorted(cell.name for cell in self.stack):  # one order: no deadlocks
                if not claims.enter_context(claim(self.study.folder, name, wait=self.wait)):
                    return None
            names = self.missing_names()
            self.write(compute_rows(self.stack, self.device, names) if names else {})
        return names

    def write(self, tables: Mapping[str, pa.Table]) -> None:
        for cell in self.stack:
            if cell.name in tables:
                path = self.study.path(cell)
                write_rows(path, cell, tables[cell.name], self.row_kind)


def _run_here(
    jobs: Sequence[_Job], progress: StudyProgress, on_finished: OnFinished, workers: int
) -> int:
    """Run jobs in processes of this machine; then wait for those that other processes run."""
    count, busy = 0, list[_Job]()
    pending = {job.name: {c.name for c in job.stack} & set(job.missing_names()) for job in jobs}

    def on_result(job: _Job, names: list[str] | None) -> None:
        nonlocal count
        progress.end(job.name, names or ())
        if names is None:
            busy.append(replace(job, wait=True))
            return
        count += len(names)
        for cell in job.stack:
            if cell.name in pending[job.name]:
                on_finished(cell)

    progress.begin(jobs)
    _run_jobs(jobs, on_result, workers)
    busy_jobs = busy.copy()
    progress.begin(busy_jobs)
    _run_jobs(busy_jobs, on_result, workers)
    return count


def _run_jobs(
    jobs: Sequence[_Job], on_result: Callable[[_Job, list[str] | None], None], workers: int
) -> None:
    if workers == 1 or len(jobs) == 1:  # a new process would only take longer to start
        for job in jobs:
            on_result(job, job())
    elif jobs:
        by_name = {job.name: job for job in jobs}
        run_all(by_name, lambda name, names: on_result(by_name[name], names), workers, bars=False)


def _run_on_ray(
    jobs: Sequence[_Job], progress: StudyProgress, on_finished: OnFinished, address: str | None,
    kind: str,
) -> int:  # fmt: skip
    """Compute jobs on a cluster, which need not see the folder, and write their rows here."""
    by_name, count = {job.name: job for job in jobs}, 0

    def on_result(name: str, tables: dict[str, pa.Table]) -> None:
        nonlocal count
        job = by_name[name]
        job.write(tables)
        count += len(tables)
        progress.end(name, list(tables))
        for cell in job.stack:
            if cell.name in tables:
                on_finished(cell)

    progress.begin(jobs)
    remote = {
        job.name: partial(compute_rows, job.stack, job.device, job.missing_names()) for job in jobs
    }
    run_on_ray(remote, on_result, address, gpus=1 / GPU_WORKERS if kind == "cuda" else 0.0)
    return count


def stacked_by_default(device: str | None) -> bool:
    """Return whether cells are trained as stacks, which pays on a GPU."""
    return find_device(device).type == "cuda"


def default_workers(kind: str) -> int:
    """Return how many cells or stacks are computed at a time."""
    return min(GPU_WORKERS, cores()) if kind == "cuda" else cores()


def _with_equal_types(tables: Sequence[pa.Table]) -> list[pa.Table]:
    """Return the tables with text in columns that hold numbers in some and text in others."""
    types: dict[str, set[bool]] = {}
    for table in tables:
        for column in table.schema:
            if not pa.types.is_null(column.type):
                types.setdefault(column.name, set()).add(pa.types.is_string(column.type))
    text_columns = [name for name, kinds in types.items() if len(kinds) > 1]
    return [_as_text(table, text_columns) for table in tables]


def _as_text(table: pa.Table, names: Sequence[str]) -> pa.Table:
    for name in (n for n in names if n in table.column_names):
        i = table.column_names.index(name)
        table = table.set_column(i, name, table[name].cast(pa.string()))
    return table
