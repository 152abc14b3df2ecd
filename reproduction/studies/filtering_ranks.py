"""Does `counterbc score` rank the datasets of the study `filtering` by the present rules?

Stored returns name what the tool excluded when they were computed. Rules that refuse data changed
since then. So their two causes are measured for the same datasets once more, without training any
policy that is tested: whether the data can tell a good demonstration from a bad one, and which of
speed and length the ranking follows. Held-out policies are those of `score` with Δ 0.4 and one
repeat, which cost a small part of the default search.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import counterbc as cb
from counterbc.diagnosis.exclusion import followed_measures
from reproduction.datasets import DatasetOptions, compute_rows
from reproduction.markdown import markdown_table
from reproduction.records import Record, read_rows
from reproduction.studies.filtering_rules import Case

RADIUS = 0.4
FOLDER = "filtering/ranks"


@dataclass(frozen=True)
class Ranks:
    """What decides whether the episodes of a dataset are ranked."""

    make_case: Callable[[str, str, int], Case]

    def measure(self, about: Record, device: str | None) -> Record:
        """Return what is explained of one dataset, and which measures its ranking follows."""
        case = self.make_case(about["world"], about["kind"], about["seed"])
        held_out = cb.HeldOut(repeats=1, seed=case.seed)
        if case.quick:
            held_out = cb.HeldOut(repeats=1, seed=case.seed, rounds=1, steps=100)
        estimate = cb.meaning(
            case.demos, radius=RADIUS, held_out=held_out, lag=0.0, offsets="none", device=device,
            progress=False, **case.reads,
        )  # fmt: skip
        explained, past = estimate.explained, estimate.explained.past
        row: Record = {"can_tell": explained.tells, "may_only_repeat": explained.may_only_repeat}
        row |= {"present": explained.present.value, "present_low": explained.present.low}
        row["quick_present"] = None if past is None else past.present.value
        return row | {"follows": ", ".join(followed_measures(estimate.episodes))}


def compute_ranks(
    worlds: Sequence[str], kinds: Sequence[str], ranks: Ranks, options: DatasetOptions
) -> str:
    """Compute the missing rows, in the order of seeds, and return the table."""
    about = (
        {"world": world, "kind": kind, "seed": seed}
        for seed in options.seed_range
        for world in worlds
        for kind in kinds
    )
    return markdown(compute_rows(FOLDER, about, ranks.measure, options))


def table(results: Path) -> str:
    """Return the table of the rows on file; empty if there are none."""
    rows = read_rows(results / FOLDER)
    return markdown(rows) if rows else ""


def markdown(rows: Sequence[Record]) -> str:
    """Return how many datasets of each world and kind can tell, and what their ranking follows."""
    lines = []
    for world, kind in sorted({(r["world"], r["kind"]) for r in rows}):
        part = [r for r in rows if (r["world"], r["kind"]) == (world, kind)]
        able = [r for r in part if r["can_tell"]]
        counts = [sum(name in r["follows"] for r in able) for name in ("speed", "length")]
        ranked = sum(not r["follows"] for r in able)
        seeds = f"{min(r['seed'] for r in part)}–{max(r['seed'] for r in part)}"
        lines.append([
            world, kind, seeds, *(f"{n} of {len(part)}" for n in (len(able), *counts, ranked)),
        ])  # fmt: skip
    return markdown_table(
        ["world", "data", "seeds", "can tell", "… and follows speed", "… and follows length",
         "ranked without either"],
        lines,
    )  # fmt: skip
