"""counterbc demo"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import RenderableType

from counterbc.commands.command import Command, Json, plain_table
from counterbc.json_safe import without_nan

if TYPE_CHECKING:
    from counterbc.experiments.comparison import Outcome


@dataclass(frozen=True)
class Demo(Command):
    """Noisy demonstrations, the paper's five methods, a table and a figure; no downloads."""

    seeds: int = 10
    """End-to-end runs, each with demonstrations of its own."""
    pairs: int = 400
    """State-action pairs that each run learns from."""
    noise: str | None = None
    """How the teacher errs: uniform (the default), gaussian or epsilon-greedy."""
    sigma: float | None = None
    """How much the teacher errs, where actions span [-1, 1]; by default 0.5."""
    teacher: str | None = None
    """Instead of a noise, a model of a human: novice, typical, skilled, or a crowd."""
    episodes: int = 100
    """Test starts of each run."""
    preset: str = "default"
    """default, paper (the paper's text) or authors (their released code)."""
    radius: float | None = None
    """Δ of the counterfactuals; by default the preset's."""
    steps: int | None = None
    """Gradient steps; by default 10,000."""
    device: str | None = None
    """cpu or cuda; by default cuda where there is one."""
    out: Path | None = None
    """A new folder for table, figure and rows; by default counterbc-demo or the next free name."""

    def run(self) -> tuple[Json, list[RenderableType]]:
        from counterbc.demonstrators import find_teacher
        from counterbc.errors import OptionError
        from counterbc.experiments.comparison import Comparison, run
        from counterbc.experiments.method_figures import comparison_figure
        from counterbc.files import aside, check_free

        out = self.out or _free(Path("counterbc-demo"))
        check_free(out)
        if self.seeds < 2:
            raise OptionError(f"seeds is {self.seeds}; an interval needs 2 runs or more")
        given = {"radius": self.radius, "steps": self.steps}
        changes = {k: v for k, v in given.items() if v is not None}
        outcome = run(
            Comparison(
                teacher=find_teacher(self.teacher, self.noise, self.sigma), pairs=self.pairs,
                seeds=self.seeds, episodes=self.episodes, preset=self.preset, device=self.device,
                changes=changes,
            )
        )  # fmt: skip
        with aside(out) as folder:
            folder.mkdir()
            comparison_figure(outcome, folder, "demo")
            outcome.write(folder / "rows.parquet")
            table = json.dumps(without_nan(outcome.table()), indent=2)
            (folder / "table.json").write_text(table + "\n")
        said: Json = {
            "folder": str(out),
            "expert_return": outcome.expert,
            "demonstrated_return": outcome.demonstrated,
            "table": outcome.table(),
        }
        return said, [*_tables(outcome), f"\nFigure, table and rows are in {out}/"]


def _tables(outcome: Outcome) -> list[RenderableType]:
    from counterbc.acting.evaluation import compare

    c = outcome.comparison
    shown: list[RenderableType] = [
        f"Intersection, {c.seeds} runs: {c.pairs} pairs, teacher {c.teacher}, "
        f"{c.episodes} test starts, preset {c.preset}.\n"
        f"Expert {outcome.expert:.2f}, demonstrations {outcome.demonstrated:.2f}."
    ]
    for act in ("mean", "sample"):
        rows = []
        for method in c.methods:
            evaluation = outcome.evaluations[method, act]
            gain = "" if method == "bc" else str(
                compare(evaluation, outcome.evaluations["bc", act]).interval
            )  # fmt: skip
            seconds = f"{outcome.seconds[method]:.0f} s"
            rows.append((method, str(evaluation.interval), gain, seconds))
        columns = ("method", "return [95 %]", "above BC [95 %]", "training")
        shown += [f"\nact={act}", plain_table(columns, rows)]
    return shown


def _free(path: Path) -> Path:
    """The path itself, or with -2, -3, … the first that does not exist."""
    candidate, number = path, 1
    while candidate.exists():
        number += 1
        candidate = path.with_name(f"{path.name}-{number}")
    return candidate
