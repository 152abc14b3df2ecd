"""Counter-BC at other radii than 0.4, and how much the teachers err: why an ordering may change.

The data of the study `methods` with 400 pairs, act=mean, 100 starts per run. The error is the
demonstrated minus the intended action, with actions scaled to [−1, 1].
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from counterbc.acting.intervals import mean_interval, paired_difference
from counterbc.demonstrators import Demonstrator, record
from counterbc.experiments.comparison import select_runs
from reproduction.markdown import markdown_table
from reproduction.options import StudyOptions
from reproduction.records import Record, Records
from reproduction.studies.methods import STUDY_TEACHERS, cell

RADII = (0.0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.6)


@dataclass(frozen=True, kw_only=True)
class FixedRadiiOptions(StudyOptions):
    """Train Counter-BC at several radii and measure the teachers' errors."""

    seeds: int = 10
    worlds: tuple[str, ...] = ("cartpole", "cartpole-hard", "air-hockey")


def run(options: FixedRadiiOptions) -> None:
    """Compute the missing worlds and teachers and print the table."""
    records = Records(options.numbers("fixed-radii"))
    for world in options.worlds:
        for teacher in STUDY_TEACHERS:
            if not records.has(world=world, teacher=teacher, seeds=options.seeds):
                records.add(measure(world, teacher, options.seeds))
    print(markdown(records.rows))


def errors(world: str, teacher: Demonstrator) -> dict[str, float]:
    """Return the RMS of intended actions and of errors, and the slope of one against the other."""
    takes = record(world, teacher, 50, seed=0)
    intended_actions = np.concatenate([take.intended for take in takes]).ravel()
    error = np.concatenate([take.episode.action for take in takes]).ravel() - intended_actions
    slope = float((intended_actions * error).mean() / (intended_actions**2).mean())
    rms = {"rms meant": float(np.sqrt((intended_actions**2).mean()))}
    return rms | {"rms error": float(np.sqrt((error**2).mean())), "slope": slope}


def measure(world: str, name: str, seeds: int) -> Record:
    """Return the mean return of each radius and its difference to radius 0."""
    cells = [cell(world, name, 400, seeds, radius=r, acts=("mean",)) for r in RADII]
    tables = [c.rows() for c in cells]
    by_radius = [select_runs(table, "mean") for table in tables]
    row: Record = {"world": world, "teacher": name, "seeds": seeds}
    row["kernel"] = tables[0]["kernel"][0].as_py()  # that of all radii, as all have one size
    row |= errors(world, cells[0].demonstrator())
    for radius, runs in zip(RADII, by_radius, strict=True):
        interval = mean_interval(runs)
        above = paired_difference(runs, by_radius[0]).interval
        row[f"{radius:g}"] = {"mean": interval.mean, "se": interval.se}
        row[f"{radius:g}"] |= {"above 0": [above.mean, above.low, above.high]}
    return row


def markdown(rows: list[Record]) -> str:
    """Return mean ± standard error over runs by Δ."""
    radii = [f"{r:g}" for r in RADII]
    heads = ["world", "teacher", "RMS meant", "RMS error", "slope", *(f"Δ {r}" for r in radii)]
    lines = []
    for row in rows:
        numbers = [f"{row[k]:.2f}".replace("-", "−") for k in ("rms meant", "rms error", "slope")]
        cells = [f"{row[r]['mean']:.1f} ± {row[r]['se']:.1f}" for r in radii]
        lines.append([row["world"], row["teacher"], *numbers, *cells])
    return markdown_table(heads, lines)
