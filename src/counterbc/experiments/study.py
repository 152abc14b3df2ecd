"""Populations and the folder of their rows: what is finished stays, what is missing is computed."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache, partial
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa
import pyarrow.parquet as pq
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from counterbc.acting.device import find_device
from counterbc.envs import make_vec
from counterbc.errors import FormatError, OptionError
from counterbc.experiments.cell import Cell as Cell
from counterbc.experiments.stacks import compute, stacks
from counterbc.experiments.workers import cores, run_all
from counterbc.files import aside
from counterbc.training.plan import versions

On = Literal["local", "ray"]
Told = Callable[[Cell], None]
GPU_WORKERS = 12  # processes that share a GPU, so that it trains while others test on the CPU


class Study:
    """Some cells in a folder, one Parquet file for each that is finished."""

    def __init__(self, cells: Sequence[Cell], folder: Path) -> None:
        self.cells, self.folder = {u.name: u for u in cells}, folder

    def path(self, cell: Cell) -> Path:
        return self.folder / f"{cell.name}.parquet"

    def missing(self) -> list[Cell]:
        """Those still to be computed."""
        return [u for u in self.cells.values() if not self.path(u).exists()]

    def run(
        self,
        device: str | None = None,
        on: On = "local",
        workers: int | None = None,
        address: str | None = None,
        *,
        told: Told = lambda cell: None,
        stacked: bool | None = None,
        mixed: bool = False,
    ) -> int:
        """Compute what is missing; how many that were. `told(cell)` is called when one is written.

        What stands first among the cells is begun first. `stacked` trains populations together as
        `stacks` says, by default on a GPU. Rows made by another kind of device or by other versions
        are not added to, unless `mixed`.
        """
        kind = find_device(device).type
        if workers is not None and workers < 1:
            raise OptionError(f"workers is {workers}; at least one must work")
        self.folder.mkdir(parents=True, exist_ok=True)
        missing = {u.name: u for u in self.missing()}
        if not missing:
            return 0
        self._check_finished(None if mixed else kind)
        together = kind == "cuda" if stacked is None else stacked
        jobs = {
            stack[0].name: partial(compute, stack, wanted, device or kind)
            for stack in stacks([*self.cells.values()], together)
            if (wanted := [u.name for u in stack if u.name in missing])
        }
        with _progress(self.cells.values(), [*missing.values()]) as advance:

            def done(_: str, tables: dict[str, pa.Table]) -> None:
                for name, table in tables.items():
                    said = json.loads(table.schema.metadata[b"counterbc"])
                    _check_simulator(missing[name], said)
                    if not mixed:
                        _check_maker(name, said, kind)
                    self._write(missing[name], table)
                    advance(missing[name])
                    told(missing[name])

            _run(jobs, done, kind, on, workers, address)
        return len(missing)

    def _check_finished(self, kind: str | None) -> None:
        """Refuse to add to rows of another simulator, or that this kind of device and these
        versions would not have made."""
        here = kind and _here(kind)
        for cell in self.cells.values():
            if not self.path(cell).exists():
                continue
            said = description(self.path(cell))
            _check_simulator(cell, said)
            there = made_with(said["config"])
            if here is not None and there != here:
                raise OptionError(
                    f"{self.folder} holds rows made with {there}, and this run would add rows made "
                    f"with {here}; choose another folder (--out), or mix them with --mixed"
                )

    def _write(self, cell: Cell, table: pa.Table) -> None:
        with aside(self.path(cell)) as temporary:
            pq.write_table(table, temporary)

    def table(self) -> pa.Table:
        """The rows of all cells; every one must be finished."""
        if self.missing():
            raise OptionError(
                f"{len(self.missing())} of {len(self.cells)} populations are not finished in "
                f"{self.folder}; compute them first"
            )
        tables = [_read(self.path(u), u.about) for u in self.cells.values()]
        return pa.concat_tables(tables, promote_options="permissive").replace_schema_metadata(None)


def _here(kind: str) -> str:
    return made_with({"device": kind, "versions": versions()})


def _check_simulator(cell: Cell, said: dict[str, Any]) -> None:
    """Refuse rows of another simulator of a world than is used here: they are never mixed."""
    there = said["config"].get("backend")
    here = there and simulator(cell.about["world"])
    if there != here:
        raise OptionError(
            f"{cell.name} is of {cell.about['world']} by {there}, and here it runs by {here}: they "
            "differ and are never mixed; install the same everywhere, or choose another folder "
            "(--out)"
        )


@cache
def simulator(world: str) -> str | None:
    """Which one a world that has several runs in here."""
    env: Any = make_vec(world, 1)
    backend: str | None = getattr(env.unwrapped, "env_kwargs", {}).get("backend")
    env.close()
    return backend


def _check_maker(name: str, said: dict[str, Any], kind: str) -> None:
    """Refuse rows that came back from a machine with another device or other versions."""
    there, here = made_with(said["config"]), _here(kind)
    if there != here:
        raise OptionError(
            f"{name} was computed with {there}, and this study is of {here}; install the same "
            "versions on every machine, or mix them with --mixed"
        )


def _run(
    jobs: Mapping[str, Callable[[], dict[str, pa.Table]]],
    done: Callable[[str, dict[str, pa.Table]], None],
    kind: str,
    on: On,
    workers: int | None,
    address: str | None,
) -> None:
    if on == "ray":
        from counterbc.experiments.ray_cluster import run_on_ray

        run_on_ray(jobs, done, address, gpus=1 / GPU_WORKERS if kind == "cuda" else 0.0)
        return
    most = workers or usual_workers(kind)
    if most == 1 or len(jobs) == 1:  # a process of its own would only take longer to start
        for name, job in jobs.items():
            done(name, job())
    else:
        run_all(jobs, done, most, bars=False)


def usual_workers(kind: str) -> int:
    """Populations, or stacks of them, at a time."""
    return min(GPU_WORKERS, cores()) if kind == "cuda" else cores()


def made_with(config: dict[str, Any]) -> str:
    """Device and versions in words: cuda, counterbc 0.1.0, torch 2.11.0, …"""
    each = [f"{name} {version}" for name, version in config["versions"].items()]
    return ", ".join([config["device"], *each])


def description(path: Path) -> dict[str, Any]:
    """What a file of rows says of itself."""
    try:
        said: dict[str, Any] = json.loads(pq.read_schema(path).metadata[b"counterbc"])
        if not {"population", "config"} <= said.keys():
            raise ValueError
    except (OSError, ValueError, TypeError, KeyError) as error:  # pyarrow's too
        raise FormatError(
            f"{path} cannot be read as rows of a study ({type(error).__name__}); "
            "delete it, and it is computed again"
        ) from None
    return said


def _read(path: Path, about: dict[str, Any]) -> pa.Table:
    if description(path)["population"] != json.loads(json.dumps(about)):
        raise FormatError(
            f"{path} holds rows of another population; delete it, and it is computed again"
        )
    return pq.read_table(path)


@contextmanager
def _progress(cells: Any, missing: Sequence[Cell]) -> Iterator[Callable[[Cell], None]]:
    """A bar with the time left in a terminal, else a line per population; both on stderr."""
    console, began = Console(stderr=True), time.perf_counter()
    total, work, count = len(list(cells)), sum(u.work for u in missing), len(missing)
    finished: list[Cell] = []
    columns = (TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, disable=not console.is_terminal) as bar:
        task = bar.add_task(f"{total - count} of {total} populations", total=work)

        def advance(cell: Cell) -> None:
            finished.append(cell)
            told = f"{total - count + len(finished)} of {total} populations"
            bar.update(task, advance=cell.work, description=told)
            if not console.is_terminal:
                passed, share = time.perf_counter() - began, sum(u.work for u in finished) / work
                left = passed * (1 / share - 1)
                print(f"{told}, {left / 60:.0f} min left: {cell.name}", file=sys.stderr, flush=True)

        yield advance
