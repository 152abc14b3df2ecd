"""Computes the rows of the paper's figures, and nothing else.

It needs neither pingouin nor tyro, so that it works on a GPU machine with few libraries. A run
that was stopped resumes when it is started again.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from reproduction.catalog import FIGURES, Plan, plan
from reproduction.figure_options import RunOptions
from reproduction.rows import keep, open_study
from reproduction.timings import run_timed

ROWS_OF = {"table1": "figure4"}
"""Figures that are made from the rows of another one."""


def run(names: Sequence[str], options: RunOptions) -> int:
    """Compute the missing rows of these figures; return how many cells were computed."""
    planned = plan(names, options)
    folders = study_folders(planned, options.study)
    study = open_study(planned.cells(), options.out, *folders.values())
    if options.left:
        print(f"{len(study.missing())} of {len(study.cells)} cells are left")
        return 0
    _print_resolution(planned, options)
    count = run_timed(study, planned, options)
    for figure, folder in folders.items():
        if cells := FIGURES[figure](planned.figures[figure]):
            keep(open_study(cells, options.out), options.out, folder)
    print(f"{count} cells computed, {len(study.cells)} finished, in {options.out}/")
    return count


def study_folders(planned: Plan, study: str | None) -> dict[str, str]:
    """Return the folder of each figure's rows."""
    return {figure: study or ROWS_OF.get(figure, figure) for figure in planned.figures}


def _print_resolution(planned: Plan, options: RunOptions) -> None:
    """Print which differences the runs can resolve, where the extra [paper] is installed."""
    try:
        import pingouin  # noqa: F401, whether it is there
    except ModuleNotFoundError:
        return
    from reproduction.resolution import resolution

    for name, figure_options in planned.figures.items():
        if text := resolution(name, figure_options, options.sd):
            print(text, file=sys.stderr)
