"""The horizon, gradient steps and temperature of a flow on Push-T, chosen on some seeds.

One training per horizon is tested at several steps on its way, at each temperature. The choice has
the best mean of score and success over the seeds of the first phase; ties take fewer steps, then
the smaller horizon, then the lower temperature. The report trains it on new seeds and tests it from
new starts, beside the defaults that flows had before, paired by seed.

    python -m reproduction run flow-horizon --data pusht_human_206.hdf5

The trainings run side by side, on a GPU if there is one; then worker processes share the tests. A
stopped study keeps its rows and trains again only what has tests left.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import torch

from counterbc.acting.evaluation import evaluate
from counterbc.acting.intervals import mean_interval, paired_difference
from counterbc.acting.policies import Policies
from counterbc.data.arrays import Array
from counterbc.experiments.cell import reproducible
from counterbc.experiments.workers import run_all
from reproduction.markdown import markdown_table
from reproduction.options import StudyOptions, option
from reproduction.records import Record, Records, read_rows, write_rows
from reproduction.studies.flow import SUCCESS, TEMPERATURES, WORLD, interval_text
from reproduction.studies.flow_steps import load_people, train_along

HORIZONS = (8, 16, 24, 32)
"""Numbers of predicted actions; half of them are executed."""
STEPS = (5_000, 10_000, 15_000, 20_000)
SEEDS = {"choose": 1085, "report": 3110}
"""The first seed of each phase, also of its starts."""
BEFORE: Record = {"horizon": 16, "steps": 10_000, "temperature": 0.5}
"""The defaults of flows when the study was planned."""


@dataclass(frozen=True, kw_only=True)
class FlowHorizonOptions(StudyOptions):
    """Choose how far a flow predicts, how long it trains and from how much noise it starts."""

    data: Path | None = option(None, "file of demonstrations, pusht_human_206.hdf5")
    seeds: int = 5
    episodes: int = 50
    device: str | None = None
    workers: int | None = None
    horizons: tuple[int, ...] = option(HORIZONS, "numbers of predicted actions")
    steps: tuple[int, ...] = option(STEPS, "gradient steps after which a flow is tested")


def run(options: FlowHorizonOptions) -> None:
    """Compute the missing rows of both phases and print the tables."""
    records = Records(
        options.out / "flow-horizon" / "rows.json", indent=None, device=options.device
    )
    settings = grid(options.horizons, options.steps)
    _compute("choose", settings, options, records)
    best = chosen(records.rows)
    assert best is not None
    _compute("report", [best] if best == BEFORE else [best, BEFORE], options, records)
    write_rows(records.rows, options.out / "flow-horizon")
    print(markdown(records.rows), report(records.rows), sep="\n\n")


def grid(horizons: Iterable[int], steps: Iterable[int]) -> list[Record]:
    """Return the candidates in the order in which ties are decided."""
    return [
        {"horizon": h, "steps": s, "temperature": t}
        for s, h, t in product(sorted(steps), sorted(horizons), TEMPERATURES)
    ]


def _compute(
    phase: str, settings: list[Record], options: FlowHorizonOptions, records: Records
) -> None:
    """Train what has tests left, one training per horizon, and test it."""
    seeds = [SEEDS[phase] + k for k in range(options.seeds)]
    abouts: list[Record] = [
        {"phase": phase} | s | {"seed": seed} for s in settings for seed in seeds
    ]
    left = [about for about in abouts if not records.has(**about)]
    if not left:
        return
    steps = sorted({s["steps"] for s in settings})
    with TemporaryDirectory() as folder:  # tensors would take a file descriptor each on their way
        trainings = {
            str(h): partial(_train, phase, h, steps, options, Path(folder))
            for h in sorted({about["horizon"] for about in left})
        }
        run_all(trainings, lambda *_: None, options.workers, bars=False)
        tests = {
            str(about): partial(_test, _path(Path(folder), about), about, options) for about in left
        }
        run_all(tests, lambda _, row: records.add(row), options.workers, bars=False)


def _path(folder: Path, about: Record) -> Path:
    return folder / f"horizon-{about['horizon']}-steps-{about['steps']}"


def _train(
    phase: str, horizon: int, steps: list[int], options: FlowHorizonOptions, folder: Path
) -> None:
    """Save the flows of a horizon after each of these numbers of steps."""
    torch.set_num_threads(1)
    seeds = [SEEDS[phase] + k for k in range(options.seeds)]
    with reproducible():
        flows = train_along(
            [load_people(options.data)], seeds, steps, options.device, horizon=horizon
        )
    for s, policies in zip(steps, flows, strict=True):
        policies.save(_path(folder, {"horizon": horizon, "steps": s}))


def _test(folder: Path, about: Record, options: FlowHorizonOptions) -> Record:
    """Return the row of one member, tested from the starts of its phase."""
    torch.set_num_threads(1)
    first = SEEDS[about["phase"]]
    member = Policies.load(folder)[about["seed"] - first]
    member = member.acting_with(temperature=about["temperature"])
    e = evaluate(member, WORLD, episodes=options.episodes, seed=first, progress=False)
    score = np.minimum(e.measures["best_coverage"] / SUCCESS, 1)
    success = e.measures["success"]
    return about | {"score": float(score.mean()), "success": float(success.mean())}


def chosen(rows: list[Record]) -> Record | None:
    """Return the setting with the best mean of score and success in the first phase."""
    rows = [row for row in rows if row["phase"] == "choose"]
    settings = grid({r["horizon"] for r in rows}, {r["steps"] for r in rows})
    if not settings:
        return None
    return max(settings, key=lambda s: round(_merit(rows, s), 9))  # the first of equal ones


def _merit(rows: list[Record], setting: Record) -> float:
    score, success = measured(rows, {"phase": "choose"} | setting)
    return float((score + success).mean() / 2)


def measured(rows: list[Record], about: Record) -> tuple[Array, Array]:
    """Return score and success of each seed."""
    hits = [row for row in rows if about.items() <= row.items()]
    hits.sort(key=lambda row: int(row["seed"]))
    return np.array([r["score"] for r in hits]), np.array([r["success"] for r in hits])


def markdown(rows: list[Record]) -> str:
    """Return score and success of every candidate in the first phase; the choice is bold."""
    best = chosen(rows)
    rows = [row for row in rows if row["phase"] == "choose"]
    steps = sorted({int(r["steps"]) for r in rows})
    lines = []
    for horizon, t in product(sorted({int(r["horizon"]) for r in rows}), TEMPERATURES):
        cells = []
        for s in steps:
            setting = {"horizon": horizon, "steps": s, "temperature": t}
            score, success = measured(rows, setting)
            text = f"{score.mean():.3f}, {100 * success.mean():.0f} %"
            cells.append(f"**{text}**" if setting == best else text)
        lines.append([str(horizon), f"{t:g}", *cells])
    return markdown_table(("horizon", "T", *(f"{s:,} steps" for s in steps)), lines)


def report(rows: list[Record]) -> str:
    """Return what the choice and the earlier defaults reached on the seeds of the report."""
    best, lines = chosen(rows), []
    earlier = measured(rows, {"phase": "report"} | BEFORE)
    for setting in [] if best is None else [best] if best == BEFORE else [best, BEFORE]:
        score, success = values = measured(rows, {"phase": "report"} | setting)
        if not len(score):
            continue
        gaps = ["", ""]
        if setting != BEFORE and len(earlier[0]) == len(score):
            pairs = zip(values, earlier, strict=True)
            gaps = [interval_text(paired_difference(a, b).interval, sign="+") for a, b in pairs]
        lines.append([
            str(setting["horizon"]), f"{setting['steps']:,}", f"{setting['temperature']:g}",
            interval_text(mean_interval(score)), interval_text(mean_interval(success)), *gaps,
        ])  # fmt: skip
    columns = (
        "horizon", "steps", "T", "score", "success", "score, difference to the earlier defaults",
        "success, difference",
    )  # fmt: skip
    return markdown_table(columns, lines)


def sections(results: Path) -> dict[str, dict[str, str]]:
    """Return the tables of the docs."""
    rows = read_rows(results / "flow-horizon")
    tables = {"flow-horizon": markdown(rows), "flow-horizon-report": report(rows)}
    return {"policies/flow": tables}
