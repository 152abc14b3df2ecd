"""The Parquet file of a finished cell: its rows, its description and what computed it."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from counterbc.acting.run_config import RunConfig
from counterbc.envs import make_vec
from counterbc.errors import FormatError, OptionError
from counterbc.experiments.cell import Cell
from counterbc.files import aside
from counterbc.formats import parquet
from counterbc.kernels.registry import LIBRARIES
from counterbc.training.run import versions


def description(path: Path) -> dict[str, Any]:
    """Return what a file of rows contains beside them: its cell and its configuration."""
    try:
        with path.open("rb") as file:
            metadata = pq.read_schema(file).metadata
        contents = renamed_keys(json.loads(metadata[b"counterbc"]))
        if not {"cell", "config"} <= contents.keys():
            raise ValueError
    except (OSError, ValueError, TypeError, KeyError) as error:  # pyarrow's too
        raise FormatError(
            f"{path} cannot be read as rows of a study ({type(error).__name__}); "
            "delete it, and it is computed again"
        ) from None
    return contents


def renamed_keys(contents: dict[str, Any]) -> dict[str, Any]:
    """Return a description by its present keys; version 0.1 called a cell a population."""
    return {"cell" if key == "population" else key: value for key, value in contents.items()}


def read_rows(path: Path, cell: Cell) -> pa.Table:
    """Return the rows of a finished cell; refuse those of another one."""
    if description(path)["cell"] != json.loads(json.dumps(cell.about)):
        raise FormatError(f"{path} holds rows of another cell; delete it, and it is computed again")
    return parquet.read(path)


def write_rows(path: Path, cell: Cell, table: pa.Table, kind: str | None) -> None:
    """Write the rows of a cell, unless another simulator, device or version computed them.

    `kind` is the kind of device that the study uses; None accepts any device and versions.
    """
    contents = json.loads(table.schema.metadata[b"counterbc"])
    check_simulator(cell, contents)
    maker = made_with(contents["config"])
    if kind is not None and maker != (local := made_here(kind)):
        raise OptionError(
            f"{cell.name} was computed with {maker}, and this study uses {local}; install the same "
            "versions on every machine, or mix them with --mixed"
        )
    with aside(path, replace=True) as temporary:
        parquet.write(table, temporary)


def check_simulator(cell: Cell, contents: dict[str, Any]) -> None:
    """Refuse rows of another simulator of the world than the one installed here."""
    world = cell.about.get("world")
    if world is None:
        return
    backend = contents["config"].get("backend")
    local = backend and simulator(world)
    if backend != local:
        raise OptionError(
            f"{cell.name} was computed in {world} with {backend}, and here it runs with {local}; "
            "the two differ and cannot be mixed: install the same everywhere, or choose another "
            "folder (--out)"
        )


@cache
def simulator(world: str) -> str | None:
    """Return the simulator of a world here; None for a world that has only one."""
    env: Any = make_vec(world, 1)
    backend: str | None = getattr(env.unwrapped, "env_kwargs", {}).get("backend")
    env.close()
    return backend


def made_with(contents: dict[str, Any]) -> str:
    """Return device and versions as text: cpu, counterbc 0.1.0, torch 2.11.0, …, without numba.

    The kernel of a cell follows from the cell and from the kernel library of the device.
    """
    config = RunConfig.from_dict(contents)
    skipped = {"kernel", *(x.name for x in LIBRARIES if x.device != config.device)}
    versions = {n: v for n, v in config.versions.items() if n not in skipped}
    texts = [f"without {n}" if v is None else f"{n} {v}" for n, v in versions.items()]
    return ", ".join([config.device, *texts])


def made_here(kind: str) -> str:
    """Return device and versions of rows that would be computed here."""
    return made_with({"device": kind, "versions": versions()})
