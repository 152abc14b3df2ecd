"""How long the parts of a study took on this machine, kept beside their rows."""

from __future__ import annotations

import json
import os
import platform
import sys
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import torch

from counterbc.acting.device import find_device
from counterbc.experiments.cell import Cell
from counterbc.experiments.study import On, Study, default_workers
from counterbc.files import aside
from reproduction.catalog import FIGURES, FigureOptions, Plan, by_world, check_worlds

GPU = 60.0  # cores that an H200 is worth on stacks of four populations

TIMED = {"", "intersection", "cartpole", "cartpole-hard", "air-hockey"}
"""Worlds in which training takes longer than testing, with networks as small as the paper's."""


def estimate(missing: Sequence[Cell], kind: str, workers: int) -> str:
    """How long it takes, in words: right within a factor of two or so on a machine of its own."""
    if not TIMED.issuperset(by_world(missing)):
        return f"{len(missing)} populations to compute; no time is known for these worlds"
    cores = GPU if kind == "cuda" else min(workers, len(missing))
    minutes = sum(cell.work for cell in missing) / max(cores, 1) / 60
    text = f"{minutes / 60:.1f} hours" if minutes > 90 else f"{max(minutes, 1):.0f} min"
    return f"{len(missing)} populations to compute, about {text} ({kind}, {workers} at a time)"


class Pace:
    """Seconds after which each figure and world was finished, in every call that worked on it.

    The figures are begun in turn, so what is finished later took less than its number says.
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
        self.began, self.seconds = time.perf_counter(), dict[str, float]()
        self.about = {"began": datetime.now(UTC).isoformat(timespec="seconds"), **self._machine()}
        self.before = json.loads(path.read_text()) if path.exists() else []

    def _machine(self) -> dict[str, Any]:
        gpu = {"gpu": torch.cuda.get_device_name()} if self.kind == "cuda" else {}
        cpu = {"cpu": cpu_name(), "cores": os.cpu_count()}
        return {"device": self.kind, **gpu, **cpu, "workers": self.workers, "on": self.on}

    def tell(self, cell: Cell) -> None:
        """Called when a cell is written; writes all that is known so far."""
        self.seconds[cell.name] = round(time.perf_counter() - self.began, 1)
        with aside(self.path) as temporary:
            said = json.dumps([*self.before, self.about | {"parts": self.parts()}], indent=1)
            temporary.write_text(said + "\n")

    def parts(self) -> dict[str, dict[str, float]]:
        """Of each stage: how many populations this call computed, and when the last was done."""
        found = {}
        for stage, names in self.stages.items():
            own = [self.seconds[name] for name in names if name in self.seconds]
            if own:
                found[stage] = {"of": len(names), "computed": len(own), "seconds": max(own)}
        return found


def stages(figures: Mapping[str, FigureOptions]) -> dict[str, list[str]]:
    """The names of the cells of each figure and world."""
    return {
        ", ".join(filter(None, (figure, world))): [u.name for u in cells]
        for figure, options in figures.items()
        for world, cells in by_world(FIGURES[figure](options)).items()
        if figure != "table1"  # the same as figure 4's
    }


def cpu_name() -> str:
    """The model of this machine's processor, or whatever is known of it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:  # not a Linux
        lines = []
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return next(iter(models), "") or platform.processor() or platform.machine()


def run_timed(
    study: Study,
    plan: Plan,
    device: str | None,
    on: On,
    workers: int | None,
    address: str | None,
    mixed: bool,
) -> int:
    """Compute what is missing of a study, with its time said before and kept beside its rows."""
    for note in plan.notes:
        print(note, file=sys.stderr)
    if not (missing := study.missing()):
        return study.run(
            device, on=on, workers=workers, address=address
        )  # which refuses what cannot be done
    check_worlds(missing)
    kind = find_device(device).type
    most = workers or default_workers(kind)
    print(estimate(missing, kind, most), file=sys.stderr)
    pace = Pace(stages(plan.figures), study.folder.parent / "seconds.json", kind, most, on)
    return study.run(
        device, on=on, workers=workers, address=address, on_finished=pace.tell, mixed=mixed
    )
