"""Which lag is found for the teachers that come with the library, beside their reaction time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np

from counterbc.data.demonstrations import Demonstrations
from counterbc.demonstrators import HUMAN_TEACHERS, Crowd, Human, Teacher
from counterbc.envs import WORLDS
from counterbc.experiments.workers import run_all
from counterbc.selection.lag_choice import LagChoice
from reproduction.markdown import markdown_table
from reproduction.options import StudyOptions, option
from reproduction.records import Record, Records, read_rows, write_rows
from reproduction.studies.lag import LAG_WORLDS, SIZES, TOLERANCE, lag_choices

LATE_TEACHERS = ("skilled", "typical", "novice", "crowd")
FIRST_SEED = 2770
KEY = ("world", "teacher", "pairs", "seed")
"""The columns that tell rows apart."""


@dataclass(frozen=True, kw_only=True)
class TeacherLagOptions(StudyOptions):
    """Choose the lag of the library's teachers."""

    seeds: int = option(50, "datasets of each kind")
    first_seed: int = option(FIRST_SEED, "seed of the first dataset")
    worlds: tuple[str, ...] = LAG_WORLDS
    teachers: tuple[str, ...] = LATE_TEACHERS
    pairs: tuple[int, ...] = SIZES
    device: str | None = None
    workers: int | None = None


def run(options: TeacherLagOptions) -> None:
    """Compute the missing rows and print the table."""
    path = options.out / "teacher-lags" / "rows.json"
    records = Records(path, indent=None, device=options.device)
    seeds = range(options.first_seed, options.first_seed + options.seeds)
    jobs = {}
    for world, teacher, pairs in product(options.worlds, options.teachers, options.pairs):
        kind = {"world": world, "teacher": teacher, "pairs": pairs}
        if not records.has(**kind, seed=seeds[-1]):
            name = ", ".join(map(str, kind.values()))
            jobs[name] = partial(choose, kind, seeds, options.device)
    if jobs:
        run_all(jobs, lambda _, rows: records.add(*rows), options.workers, bars=False)
    write_rows(records.rows, options.out / "teacher-lags")
    print(markdown(records.rows))


def choose(kind: Record, seeds: range, device: str | None) -> list[Record]:
    """Return a row for each dataset."""
    teacher = HUMAN_TEACHERS[kind["teacher"]]
    datasets, choices = lag_choices(kind["world"], teacher, kind["pairs"], seeds, device)
    return [
        kind | {"seed": seed} | compare(demos, choice, teacher)
        for seed, demos, choice in zip(seeds, datasets, choices, strict=True)
    ]


def compare(demos: Demonstrations, choice: LagChoice, teacher: Teacher) -> Record:
    """Return the lag used and the true one in steps, as means over the pairs."""
    lengths = [len(e) for e in demos.episodes]
    lag_by_operator = dict(zip(choice.operators, choice.lag, strict=False))
    lags = [lag_by_operator.get(str(e.operator), choice.lag[0]) for e in demos.episodes]
    assert demos.rate is not None
    delays = [demos.rate * reaction_time(teacher, e.operator) for e in demos.episodes]
    return {
        "lag": float(np.average(lags, weights=lengths)),
        "true_lag": float(np.average(delays, weights=lengths)),
        "off": float(np.average(np.abs(np.subtract(lags, delays)), weights=lengths)),
        "longest": choice.lags[-1] if choice.lags else None,
        "median_length": float(np.median(lengths)),
        "verdict": choice.verdict,
        "confident": choice.confident,
        "valley": choice.valley,
    }


def reaction_time(teacher: Teacher, operator: str | None) -> float:
    """Return the seconds from seeing to acting of a teacher, or of an operator of a crowd."""
    person = dict(teacher.operators)[str(operator)] if isinstance(teacher, Crowd) else teacher
    assert isinstance(person, Human)
    return person.delay


def sections(results: Path) -> dict[str, dict[str, str]]:
    """Return the table of docs/tune.md."""
    return {"tune": {"teacher-lags": markdown(read_rows(results / "teacher-lags"))}}


def markdown(rows: list[Record]) -> str:
    """Return the lags found for each kind of data, in seconds."""
    lines = []
    for (world, teacher, pairs), group in _groups(rows):
        rate = WORLDS[world].rate
        lag, truth = (np.array([r[name] for r in group]) for name in ("lag", "true_lag"))
        low, middle, high = np.quantile(lag / rate, (0.1, 0.5, 0.9), method="inverted_cdf")
        right = np.abs(lag - truth) <= TOLERANCE.get(world, 0.5) + 1e-9
        longest = np.median([r["longest"] or 0 for r in group]) / rate
        verdicts = [r["verdict"] for r in group]
        shares = (np.mean([v == w for v in verdicts]) for w in ("late", "not late", "cannot tell"))
        hint = np.mean([
            not r["lag"] and abs(r["valley"] - t) <= 1 for r, t in zip(group, truth, strict=True)
        ])  # fmt: skip
        lines.append([
            world, teacher, str(pairs), f"{truth.mean() / rate:.2g} s", f"{longest:.2g} s",
            f"{middle:.2g} s ({low:.2g}–{high:.2g})", off(group, rate),
            *(f"{s:.0%}" for s in shares),
            f"{right.mean():.0%}", f"{hint:.0%}", str(len(group)),
        ])  # fmt: skip
    columns = (
        "world", "teacher", "pairs", "reacts after", "longest lag tried", "lag used (10–90 %)",
        "off where late", "late", "not late", "cannot tell", "lag right", "right valley named",
        "datasets",
    )  # fmt: skip
    return markdown_table(columns, lines)


def off(rows: list[Record], rate: float) -> str:
    """Return how far the lags of datasets found late are from the true ones, pair by pair."""
    values = [r["off"] for r in rows if r["verdict"] == "late"]
    return f"{np.mean(values) / rate:.2g} s" if values else "–"


def _groups(rows: list[Record]) -> Iterator[tuple[tuple[str, str, int], list[Record]]]:
    groups: dict[tuple[str, str, int], list[Record]] = {}
    for r in rows:
        groups.setdefault((r["world"], r["teacher"], r["pairs"]), []).append(r)
    yield from sorted(groups.items())
