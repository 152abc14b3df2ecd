"""How long the stages of a run took on this machine, kept beside the rows."""

from __future__ import annotations

import json
import platform
import sys
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import torch

from counterbc.acting.device import find_device
from counterbc.data.cores import cores
from counterbc.experiments.cell import Cell
from counterbc.experiments.ray_cluster import On
from counterbc.experiments.study import Study, default_workers
from reproduction.catalog import FIGURES, Plan, by_world, check_worlds
from reproduction.figure_options import FigureOptions, RunOptions
from reproduction.records import write

GPU_CORES = 60.0  # CPU cores that an H200 replaces with stacks of four cells
TIMED_WORLDS = {"", "intersection", "cartpole", "cartpole-hard", "air-hockey"}
"""Worlds in which training takes longer than testing, so that an estimate is possible."""


def estimate(missing_cells: Sequence[Cell], kind: str, workers: int) -> str:
    """Return a sentence on the time needed, right within a factor of two on an idle machine."""
    if not TIMED_WORLDS.issuperset(by_world(missing_cells)):
        return f"{len(missing_cells)} cells to compute; the time is unknown for these worlds"
    used_cores = GPU_CORES if kind == "cuda" else min(workers, len(missing_cells))
    minutes = sum(cell.work for cell in missing_cells) / max(used_cores, 1) / 60
    text = f"{minutes / 60:.1f} hours" if minutes > 90 else f"{max(minutes, 1):.0f} min"
    return f"{len(missing_cells)} cells to compute, about {text} ({kind}, {workers} at a time)"


class Timer:
    """Seconds after which each figure and world was finished, for every call.

    Stages start in turn, so a stage that finishes late took less time than its number says.
    """

    def __init__(
        self,
        stages: Mapping[str, Sequence[str]],
        path: Path,
        kind: str,
        workers: int,
        on: On = "local",
    ) -> None:
        self.stages, self.path = stages, path
        self.kind, self.workers, self.on = kind, workers, on
        self.start, self.seconds = time.perf_counter(), dict[str, float]()
        self.about = {"began": datetime.now(UTC).isoformat(timespec="seconds"), **self._machine()}
        self.earlier_calls = json.loads(path.read_text()) if path.exists() else []

    def _machine(self) -> dict[str, Any]:
        gpu = {"gpu": torch.cuda.get_device_name()} if self.kind == "cuda" else {}
        cpu = {"cpu": cpu_name(), "cores": cores()}
        return {"device": self.kind, **gpu, **cpu, "workers": self.workers, "on": self.on}

    def record(self, cell: Cell) -> None:
        """Note that a cell is written, and write all timings so far."""
        self.seconds[cell.name] = round(time.perf_counter() - self.start, 1)
        write([*self.earlier_calls, self.about | {"stages": self.timings()}], self.path)

    def timings(self) -> dict[str, dict[str, float]]:
        """Return per stage how many cells this call computed, and when the last was finished."""
        timings = {}
        for stage, names in self.stages.items():
            times = [self.seconds[name] for name in names if name in self.seconds]
            if times:
                timings[stage] = {"of": len(names), "computed": len(times), "seconds": max(times)}
        return timings


def stages(figures: Mapping[str, FigureOptions]) -> dict[str, list[str]]:
    """Return the names of the cells of each figure and world."""
    return {
        ", ".join(filter(None, (figure, world))): [cell.name for cell in cells]
        for figure, options in figures.items()
        for world, cells in by_world(FIGURES[figure](options)).items()
        if figure != "table1"  # the same as figure 4's
    }


def cpu_name() -> str:
    """Return the model of this machine's processor, as far as the system names it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:  # not a Linux
        lines = []
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return next(iter(models), "") or platform.processor() or platform.machine()


def run_timed(study: Study, plan: Plan, options: RunOptions) -> int:
    """Compute the missing cells; print an estimate before and keep the timings of all stages."""
    for note in plan.notes:
        print(note, file=sys.stderr)
    placement: dict[str, Any] = {"device": options.device, "on": options.on}
    placement |= {"workers": options.workers, "address": options.address}
    if not (missing_cells := study.missing()):
        return study.run(**placement)  # it still refuses a device that is not there
    check_worlds(missing_cells)
    kind = find_device(options.device).type
    workers = options.workers or default_workers(kind)
    print(estimate(missing_cells, kind, workers), file=sys.stderr)
    path = options.out / "timings.json"
    timer = Timer(stages(plan.figures), path, kind, workers, options.on)
    return study.run(**placement, on_finished=timer.record, mixed=options.mixed)
