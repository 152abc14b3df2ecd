"""Where the assumption behind the choice of Δ fails: errors that are biased, late or correlated.

Intersection, whole episodes. The intended actions of synthetic teachers are known, so the policies
that choose Δ by the demonstrated actions can also be compared with the intended ones.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

import counterbc as cb
from counterbc.acting.intervals import mean_interval
from counterbc.demonstrators import (
    Bias,
    Chain,
    Delay,
    MotorNoise,
    Teacher,
    UniformNoise,
    demonstrate,
    record,
)
from counterbc.experiments.cell import reproducible
from counterbc.methods import find_method
from counterbc.selection.error_curve import best_radius
from counterbc.selection.folds import split_folds
from counterbc.selection.held_out import Candidate, Training, held_out_errors
from counterbc.settings import settings_for
from counterbc.training.progress import Bar
from reproduction.markdown import markdown_table
from reproduction.options import StudyOptions
from reproduction.records import Record, Records, read

WORLD, SEARCH = "intersection", cb.RadiusSearch(radii=(0.0, 0.2, 0.4, 0.6, 0.8))
ERRING_TEACHERS: dict[str, Callable[[int], Teacher]] = {
    "uniform σ 0.4": lambda run: UniformNoise(0.4),
    "the same, off by up to 0.4": lambda run: Chain((Bias(0.4, run), UniformNoise(0.4))),
    "the same, 1 step late": lambda run: Chain((Delay(steps=1), UniformNoise(0.4))),
    "1 step late, no noise": lambda run: Delay(steps=1),
    "Gaussian, sd 0.25": lambda run: MotorNoise(0, 0.25, memory=0),
    "the same, correlated (memory 0.9)": lambda run: MotorNoise(0, 0.25, memory=0.9),
}


@dataclass(frozen=True, kw_only=True)
class RadiusErrorsOptions(StudyOptions):
    """Choose Δ for teachers whose errors break its assumption."""

    seeds: int = 10
    pairs: int = 100


def run(options: RadiusErrorsOptions) -> None:
    """Compute the missing teachers and print the table."""
    records = Records(options.numbers("radius-errors"), indent=None, device="cpu")
    with reproducible():
        for teacher in ERRING_TEACHERS:
            if not records.has(teacher=teacher, pairs=options.pairs, seeds=options.seeds):
                records.add(measure(teacher, options.pairs, options.seeds))
    print(markdown(records.rows))


def sections(results: Path) -> dict[str, dict[str, str]]:
    """Return the table of docs/radius.md."""
    rows = read(results / "radius-errors" / "numbers.json")
    return {"radius": {"errors": markdown(rows)}}


def measure(name: str, pairs: int, runs: int) -> Record:
    """Return the chosen Δ of each run, and the error of each radius to the intended action."""
    teacher, numbers = ERRING_TEACHERS[name], range(runs)
    demos = [demonstrate(WORLD, teacher(run), pairs, run) for run in numbers]
    folds = [[split_folds(d, SEARCH.folds, 0)] for d in demos]
    default = settings_for("default")
    settings = replace(default, steps=min(SEARCH.steps_for(pairs), default.steps))
    training = Training(
        name="counter-bc",
        method=find_method("counter-bc")[1],
        settings=settings,
        device=torch.device("cpu"),
        progress=Bar(name),
    )
    candidates = [[Candidate(r) for r in SEARCH.radii]] * len(demos)
    (fits,) = held_out_errors(demos, folds, candidates, training)
    radii, errors = [], []
    for run, (data, fit) in enumerate(zip(demos, fits, strict=True)):
        takes = record(WORLD, teacher(run), len(data), run)
        intended_actions = np.concatenate([take.intended for take in takes])[:pairs]
        residual = fit.residual[0] - (
            data.action - intended_actions
        )  # (G, n, A): actions span ±1 here
        errors.append((residual**2).sum(-1).mean(-1).round(6).tolist())  # (G,)
        radii.append(best_radius(SEARCH.radii, fit.by_fold().sum(-1)))
    return {"teacher": name, "pairs": pairs, "seeds": runs, "chosen": radii, "meant": errors}


def markdown(rows: list[Record]) -> str:
    """Return mean ± standard error over runs; errors are RMS distances to the intended action."""
    head = ("teacher", "chosen Δ", "best Δ", "error: BC", "Δ 0.4", "chosen", "best")
    lines = []
    radii = SEARCH.radii
    for row in rows:
        rms = np.sqrt(row["meant"])  # (runs, G)
        at = [np.interp(r, radii, e) for r, e in zip(row["chosen"], rms, strict=True)]
        best = [radii[int(e.argmin())] for e in rms]
        columns = (row["chosen"], best, rms[:, 0], rms[:, radii.index(0.4)], at, rms.min(1))
        texts = [_text(np.array(c), 2 if i < 2 else 3) for i, c in enumerate(columns)]
        lines.append([row["teacher"], *texts])
    return markdown_table(head, lines)


def _text(values: Any, digits: int) -> str:
    interval = mean_interval(values)
    return f"{interval.mean:.{digits}f} ± {interval.se:.{digits}f}"
