"""counterbc reproduce"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import tyro
from rich.console import RenderableType
from tyro.conf import Positional, UseAppendAction

from counterbc.commands.command import Command, Json


@dataclass(frozen=True)
class Reproduce(Command):
    """Reproduce a figure or the table of the paper; stopped, it goes on where it was."""

    what: Annotated[Positional[str], tyro.conf.arg(help="figure2 … figure7, table1 or all")]
    quick: bool = False
    """Few seeds, steps and points: minutes instead of hours, and too small to judge by."""
    env: UseAppendAction[tuple[str, ...]] = ()
    """Only this world, one --env each; by default the figure's."""
    noise: UseAppendAction[tuple[str, ...]] = ()
    """Only this teacher, one --noise each: uniform, gaussian, epsilon-greedy, crowd, …"""
    seeds: int | None = None
    """End-to-end runs per point; by default the paper's 50, 10 in figure7, fewer in slow worlds."""
    steps: int | None = None
    """Gradient steps; by default the preset's."""
    episodes: int | None = None
    """Test starts per run; by default 100."""
    preset: str = "default"
    """default, paper (the paper's text) or authors (their released code)."""
    data: Path | None = None
    """What people recorded, for figure4 --env push-t or can: any demonstration file."""
    sd: float | None = None
    """Standard deviation of differences between methods, to say what the runs can resolve."""
    device: str | None = None
    """cpu or cuda; by default cuda where there is one."""
    on: Literal["local", "ray"] = "local"
    """This machine, or a Ray cluster."""
    address: str | None = None
    """Of the Ray cluster; by default RAY_ADDRESS, or one of this machine."""
    workers: int | None = None
    """Populations at a time on this machine; by default one per core, at most 12 on a GPU."""
    mixed: bool = False
    """Add to rows that another kind of device or other versions made."""
    out: Path = Path("reproduction")
    """The folder of rows, figures and numbers; finished rows in it are kept."""

    def run(self) -> tuple[Json, list[RenderableType]]:
        import sys

        from counterbc.studies.catalog import Options, check_worlds, parts, units
        from counterbc.studies.pace import estimate
        from counterbc.studies.reproduction import draw, resolution, sentences
        from counterbc.studies.study import Study, usual_workers
        from counterbc.training.device import find_device

        options = Options(
            self.quick,
            self.env,
            self.noise,
            self.seeds,
            self.steps,
            self.episodes,
            self.preset,
            self.data,
        )
        names, study = parts(self.what), Study(units(self.what, options), self.out / "rows")
        for name in names:
            if text := resolution(name, options, self.out, self.sd):
                print(text, file=sys.stderr)
        if missing := study.missing():
            check_worlds(missing)
            kind = find_device(self.device).type
            print(estimate(missing, kind, self.workers or usual_workers(kind)), file=sys.stderr)
        computed = study.run(self.device, self.on, self.workers, self.address, mixed=self.mixed)
        said: Json = {
            "folder": str(self.out),
            "computed": computed,
            "populations": len(study.units),
        }
        shown: list[RenderableType] = []
        for name in names:
            numbers, files = draw(name, options, self.out)
            said[name] = numbers | {"files": [str(f) for f in files]}
            shown += [f"\n{name}", *sentences(name, numbers)]
        text = f"\nRows, figures and numbers are in {self.out}/"
        if self.quick:
            text += "; this was a quick look, too small to judge the paper by"
        return said, [*shown, text]
