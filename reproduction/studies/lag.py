"""Whether the delay of a teacher can be read from the demonstrations.

Teachers react 0 to 0.25 s late in three worlds, with white noise or the correlated errors of the
teacher `typical`. Each dataset holds whole episodes. The lag is chosen as `counterbc tune` does.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
import torch

from counterbc.acting.device import find_device
from counterbc.data.demonstrations import Demonstrations
from counterbc.demonstrators import Chain, Delay, Teacher, UniformNoise, demonstrate
from counterbc.demonstrators.presets import TYPICAL
from counterbc.envs import WORLDS
from counterbc.experiments.cell import reproducible
from counterbc.experiments.workers import run_all
from counterbc.methods import METHODS
from counterbc.selection.held_out import Training
from counterbc.selection.lag import choose_lags
from counterbc.selection.lag_choice import LagChoice
from counterbc.settings import Settings
from counterbc.training.progress import Quiet
from reproduction.markdown import markdown_table
from reproduction.options import StudyOptions, option
from reproduction.records import Record, Records, read_rows, write_rows

LAG_WORLDS = ("intersection", "cartpole", "air-hockey")
SECONDS = (0.0, 0.05, 0.1, 0.15, 0.2, 0.25)
LAG_NOISES = ("none", "white 0.3", "typical")
SIZES = (400, 1600)
FIRST_SEED = 2900
KEY = ("world", "noise", "pairs", "seconds", "seed")
"""The columns that tell rows apart."""
TOLERANCE = {"intersection": 1.0}
"""Steps by which an answer may be off; elsewhere half a step."""
LONGEST_SHARE = 0.4
"""Delays are at most this share of the median episode."""


@dataclass(frozen=True, kw_only=True)
class LagOptions(StudyOptions):
    """Choose the lag of teachers whose delay is known."""

    seeds: int = option(50, "datasets of each kind")
    first_seed: int = option(FIRST_SEED, "seed of the first dataset")
    worlds: tuple[str, ...] = LAG_WORLDS
    seconds: tuple[float, ...] = option(SECONDS, "delays of the teachers in seconds")
    pairs: tuple[int, ...] = SIZES
    device: str | None = None
    workers: int | None = None


def run(options: LagOptions) -> None:
    """Compute the missing rows and print the table."""
    records = Records(options.out / "lag" / "rows.json", indent=None, device=options.device)
    seeds = range(options.first_seed, options.first_seed + options.seeds)
    jobs = {}
    for world in options.worlds:
        for noise in LAG_NOISES:
            for pairs in options.pairs:
                for seconds in options.seconds:
                    kind = {"world": world, "noise": noise, "pairs": pairs, "seconds": seconds}
                    if not records.has(**kind, seed=seeds[-1]):
                        name = ", ".join(map(str, kind.values()))
                        jobs[name] = partial(
                            choose, world, late_teacher(noise, seconds), pairs, seeds,
                            device=options.device, kind=kind,
                        )  # fmt: skip
    if jobs:
        run_all(jobs, lambda _, rows: records.add(*rows), options.workers, bars=False)
    write_rows(records.rows, options.out / "lag")
    print(markdown(records.rows))


def late_teacher(noise: str, seconds: float) -> Teacher:
    """Return a teacher that reacts this late, with errors of one kind."""
    if noise == "typical":
        return replace(TYPICAL, delay=seconds)
    sigma = 0.0 if noise == "none" else float(noise.split()[1])
    return Chain((Delay(seconds), UniformNoise(sigma)))


def choose(
    world: str, teacher: Teacher, pairs: int, seeds: range, device: str | None, kind: Record
) -> list[Record]:
    """Return a row for each dataset."""
    datasets, choices = lag_choices(world, teacher, pairs, seeds, device)
    median = float(np.median([len(e) for d in datasets for e in d.episodes]))
    return [
        kind | {"seed": seed, "median_length": median} | _row(choice)
        for seed, choice in zip(seeds, choices, strict=True)
    ]


def lag_choices(
    world: str, teacher: Teacher, pairs: int, seeds: range, device: str | None
) -> tuple[list[Demonstrations], list[LagChoice]]:
    """Record a dataset for each seed and choose its lag."""
    torch.set_num_threads(1)
    with reproducible():
        datasets = [demonstrate(world, teacher, pairs, seed) for seed in seeds]
        return datasets, choose_lags(datasets, lag_training(find_device(device)))


def lag_training(device: torch.device) -> Training:
    """Return how the policies of a one-step BC are trained, for which a lag is chosen."""
    settings = Settings(radius=0.0, steps=1, lag="auto", ensemble=1)
    return Training(
        name="bc", method=METHODS["bc"], settings=settings, device=device, progress=Quiet()
    )


def _row(choice: LagChoice) -> Record:
    return {
        "lag": choice.lag[0],
        "verdict": choice.verdict,
        "confident": choice.confident,
        "explained": None if choice.explained is None else asdict(choice.explained)["value"],
    }


def sections(results: Path) -> dict[str, dict[str, str]]:
    """Return the tables of docs/tune.md, and the number of datasets behind them."""
    rows = read_rows(results / "lag")
    return {"tune": {"lag": markdown(rows), "lag-goals": goals(rows), "lag-size": size(rows)}}


@dataclass(frozen=True)
class Tally:
    """What came out for one kind of data: shares of the datasets."""

    datasets: int
    answers: float
    right: float
    """Of the answers."""
    confident_wrong: float
    used: float
    """Share of datasets that are trained with a lag within the tolerance, answer or not."""
    none: float
    """Share of datasets that are trained without a lag."""


def tally(rows: list[Record]) -> Tally:
    """Count answers and errors; rows have one world and one delay."""
    rate = WORLDS[rows[0]["world"]].rate
    answers = np.array([r["verdict"] != "cannot tell" for r in rows])
    tolerance = TOLERANCE.get(rows[0]["world"], 0.5) + 1e-9
    right = np.array([abs(r["lag"] - r["seconds"] * rate) <= tolerance for r in rows])
    sure = np.array([r["confident"] for r in rows])
    return Tally(
        datasets=len(rows),
        answers=float(answers.mean()),
        right=float(right[answers].mean()) if answers.any() else float("nan"),
        confident_wrong=float((answers & sure & ~right).mean()),
        used=float(right.mean()),
        none=float(np.mean([r["lag"] == 0 for r in rows])),
    )


def markdown(rows: list[Record]) -> str:
    """Return answers and errors of each kind of data."""
    lines = []
    for key, t in tallies(rows).items():
        right = "–" if np.isnan(t.right) else f"{t.right:.0%}"
        lines.append([
            *map(str, key[:3]), f"{key[3]:g} s", f"{t.answers:.0%}", right,
            f"{t.confident_wrong:.0%}", f"{t.used:.0%}",
        ])  # fmt: skip
    columns = ("world", "noise", "pairs", "delay", "answers", "right", "wrong and sure", "lag used")
    return markdown_table(columns, lines)


def goals(rows: list[Record]) -> str:
    """Return the least and the largest share over the kinds of data, by world and size."""
    groups: dict[tuple[str, int], list[tuple[float, Tally]]] = {}
    for (world, _, pairs, seconds), t in tallies(rows).items():
        groups.setdefault((world, pairs), []).append((seconds, t))
    lines = []
    for (world, pairs), kinds in sorted(groups.items()):
        shares = (
            ([t.right for _, t in kinds if not np.isnan(t.right)], 0.9, 1.0),
            ([t.answers for _, t in kinds], 0.8, 1.0),
            ([t.none for seconds, t in kinds if seconds == 0], 0.95, 1.0),
            ([t.confident_wrong for _, t in kinds], 0.0, 0.05),
        )
        lines.append([world, str(pairs), *(_reached(*share) for share in shares)])
    columns = (
        "world", "pairs", "right answers (goal: at least 90 %)", "answers (at least 80 %)",
        "no lag where teachers are not late (at least 95 %)", "wrong and sure (at most 5 %)",
    )  # fmt: skip
    return markdown_table(columns, lines)


def _reached(shares: list[float], low: float, high: float) -> str:
    """Return the range of some shares, and how many kinds of data are outside the goal."""
    if not shares:
        return "–"
    least, most = (round(100 * x) for x in (min(shares), max(shares)))
    text = f"{least} %" if least == most else f"{least}–{most} %"
    missed = sum(not low - 1e-9 <= x <= high + 1e-9 for x in shares)
    return f"{text}, missed in {missed} of {len(shares)}" if missed else text


def size(rows: list[Record]) -> str:
    """Return the number of datasets of each kind, by their number of pairs."""
    counts: dict[int, set[int]] = {}
    for (_, _, pairs, _), group in _groups(rows):
        counts.setdefault(pairs, set()).add(len(group))
    texts = [
        f"{'–'.join(map(str, sorted({min(c), max(c)})))} with {pairs} pairs"
        for pairs, c in sorted(counts.items())
    ]
    return f"datasets of each kind: {', '.join(texts) or 'none yet'}"


def tallies(rows: list[Record]) -> dict[tuple[str, str, int, float], Tally]:
    """Return the tally of each kind of data whose delay is not too long for its episodes."""
    return {
        key: tally(group)
        for key, group in _groups(rows)
        if key[3] * WORLDS[key[0]].rate <= LONGEST_SHARE * _median_length(group)
    }


def _median_length(rows: list[Record]) -> float:
    """Return the median length of episodes; a row has that of the run that computed it."""
    return float(np.median([r["median_length"] for r in rows]))


def _groups(rows: list[Record]) -> Iterator[tuple[tuple[str, str, int, float], list[Record]]]:
    groups: dict[tuple[str, str, int, float], list[Record]] = {}
    for r in rows:
        groups.setdefault((r["world"], r["noise"], r["pairs"], r["seconds"]), []).append(r)
    yield from sorted(groups.items())
