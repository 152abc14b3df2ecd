"""counterbc reproduce"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import tyro
from rich.console import RenderableType
from tyro.conf import Positional, UseAppendAction

from counterbc.commands.command import Command, Json

if TYPE_CHECKING:
    from reproduction.catalog import FigureOptions


@dataclass(frozen=True)
class Reproduce(Command):
    """Reproduce a figure or the table of the paper; stopped, it goes on where it was."""

    what: Annotated[Positional[str], tyro.conf.arg(help="figure2 … figure7, table1 or all")]
    quick: bool = False
    """Few seeds, steps and points: minutes instead of hours, and too small to judge by."""
    paper_size: bool = False
    """The paper's size in every world, slow ones too: 50 runs, 100 starts, every point."""
    env: UseAppendAction[tuple[str, ...]] = ()
    """Only this world, one --env each; by default the figure's."""
    noise: UseAppendAction[tuple[str, ...]] = ()
    """Only this teacher, one --noise each: uniform, gaussian, epsilon-greedy, crowd, …"""
    pairs: UseAppendAction[tuple[int, ...]] = ()
    """Only this number of pairs, one --pairs each, for figure4, figure7 and table1."""
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

        from counterbc.experiments.study import Study
        from reproduction.catalog import plan
        from reproduction.draw import draw, resolution, sentences
        from reproduction.timings import run_timed

        asked = plan([self.what], self._options())
        study = Study(asked.cells(), self.out / "rows")
        for name, own in asked.figures.items():
            if text := resolution(name, own, self.out, self.sd):
                print(text, file=sys.stderr)
        where = (self.device, self.on, self.workers, self.address)
        computed = run_timed(study, asked, *where, self.mixed)
        said: Json = {
            "folder": str(self.out),
            "computed": computed,
            "populations": len(study.cells),
            "notes": list(asked.notes),
        }
        shown: list[RenderableType] = []
        for name, own in asked.figures.items():
            numbers, files = draw(name, own, self.out)
            said[name] = numbers | {"files": [str(f) for f in files]}
            shown += [f"\n{name}", *sentences(name, numbers)]
        text = f"\nRows, figures and numbers are in {self.out}/"
        if self.quick:
            text += "; this was a quick look, too small to judge the paper by"
        return said, [*shown, text]

    def _options(self) -> FigureOptions:
        from reproduction.catalog import FigureOptions

        return FigureOptions(
            self.quick, self.env, self.noise, self.seeds, self.steps, self.episodes, self.preset,
            self.data, self.pairs, self.paper_size,
        )  # fmt: skip
