"""Figures, statistics and sentences from the rows of the paper's figures."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pandas as pd

from counterbc.envs import WORLDS
from counterbc.experiments.cell import Cell
from counterbc.experiments.cell_files import made_with
from reproduction.catalog import FIGURES, plan
from reproduction.figure_json import to_json
from reproduction.figure_numbers import Figure2, FigureNumbers, Table1
from reproduction.figure_options import FigureOptions
from reproduction.improvement import improvements
from reproduction.options import StudyOptions, option
from reproduction.records import update
from reproduction.resolution import resolved
from reproduction.rows import open_study
from reproduction.run import study_folders
from reproduction.sentences import sentences

PEOPLE = "people"


@dataclass(frozen=True, kw_only=True)
class DrawOptions(FigureOptions, StudyOptions):
    """Draw figures from finished rows, and write their numbers."""

    study: str | None = option(None, "folder of rows and figures; by default the figure's name")


def draw_all(names: Sequence[str], options: DrawOptions) -> dict[str, FigureNumbers]:
    """Draw these figures into OUT/STUDY, print what they show, and return their numbers."""
    planned = plan(names, options)
    for note in planned.notes:
        print(note)
    numbers: dict[str, FigureNumbers] = {}
    for name, rows_folder in study_folders(planned, options.study).items():
        rows = rows_of(name, planned.figures[name], options.out, rows_folder)
        target = options.out / (options.study or name)
        numbers[name] = draw(name, rows, target)
        print("\n".join(["", name, *sentences(numbers[name]), *resolved(name, rows)]))
    print(f"\nFigures and numbers are in {options.out}/")
    if options.quick:
        print("This was a quick look, too small for verdicts on the paper.")
    return numbers


def draw(name: str, rows: pd.DataFrame, folder: Path) -> FigureNumbers:
    """Draw one figure from its rows, write its numbers beside it, and return them."""
    from reproduction.figures import air_hockey, loss_plane, recovered, rewards

    folder.mkdir(parents=True, exist_ok=True)
    numbers: FigureNumbers
    if name == "figure2":
        numbers = loss_plane.draw(folder)
    elif name == "figure3":
        numbers = recovered.draw(rows, folder)
    elif name == "figure7":
        numbers = air_hockey.draw(rows, folder)
    elif name == "table1":
        numbers = Table1(improvements=tuple(improvements(rows)))
    else:
        numbers = rewards.draw(name, rows, folder)
    if not isinstance(numbers, Figure2):
        numbers = replace(numbers, made=makers(rows))
    update(folder / "numbers.json", **{name: to_json(numbers)})
    return numbers


def rows_of(name: str, options: FigureOptions, out: Path, folder: str) -> pd.DataFrame:
    """Return the finished rows of a figure, with the world's measure as the return.

    Rows of recorded demonstrations get "people" as their teacher.
    """
    kinds: dict[type, list[Cell]] = {}
    for cell in FIGURES[name](options):
        kinds.setdefault(type(cell), []).append(cell)
    studies = [open_study(cells, out, folder) for cells in kinds.values()]
    tables = [study.table().to_pandas() for study in studies]
    rows = [row for table in tables for row in _with_teacher(table).to_dict("records")]
    for row in rows:
        measure = WORLDS[row["world"]].measure if "world" in row else None
        row |= {"return": row[measure]} if measure else {}
    return pd.DataFrame(rows)


def _with_teacher(table: pd.DataFrame) -> pd.DataFrame:
    if "teacher" in table or "world" not in table:  # recovery has neither
        return table
    radius = pd.to_numeric(table["radius"], errors="coerce")
    return table.assign(teacher=PEOPLE, sigma=math.nan, radius=radius)


def makers(rows: pd.DataFrame) -> tuple[str, ...]:
    """Return devices and versions that computed the rows, in words; usually one."""
    libraries = [name for name in ("numba", "triton") if name in rows]  # older rows have neither
    names = ["counterbc", "torch", "numpy", "python", *libraries]
    records = rows[["device", *names]].drop_duplicates().to_dict("records")
    return tuple(
        made_with({
            "device": r["device"], "versions": {n: None if pd.isna(r[n]) else r[n] for n in names},
        })
        for r in records
    )  # fmt: skip
