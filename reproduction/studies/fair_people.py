"""The crowd that reacts as late as people, in the place of the paper's people."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from counterbc.experiments.styles import method_style
from reproduction.markdown import markdown_table
from reproduction.paper import PAPER_METHODS
from reproduction.records import Record
from reproduction.studies.fair import NOT_IN_PAPER
from reproduction.studies.fair_comparisons import (
    ABOVE,
    BELOW,
    at_size,
    comparison_text,
    relative,
)
from reproduction.studies.fair_kinds import CROWD
from reproduction.verdicts import Finding, all_won, under_convention

BASELINES = tuple(method for method in PAPER_METHODS if method != "counter-bc")


@dataclass(frozen=True)
class CrowdLine:
    """Counter-BC against the paper's baselines from the crowd that reacts as late as people."""

    words: list[str]
    world: str
    protocol: str
    act: str
    runs: int
    by_baseline: dict[str, str]
    verdict: str
    """On the claim that Counter-BC is above each baseline; a dash where one was not run."""


def crowd_lines(rows: list[Record]) -> Iterator[CrowdLine]:
    """Yield the comparisons from the late crowd; intervals are adjusted over the baselines."""
    for words, teacher, act, part in at_size(rows):
        baselines = paper_baselines(part[0]["world"])
        results = {m: relative(part, "counter-bc", m, len(baselines)) for m in baselines}
        if teacher == CROWD and any(results.values()):
            signs = [(r[1] == ABOVE) - (r[1] == BELOW) for r in results.values() if r]
            yield CrowdLine(
                words, part[0]["world"], part[0]["taken"], act, len({r["seed"] for r in part}),
                by_baseline={m: comparison_text(result) for m, result in results.items()},
                verdict=all_won(signs) if all(results.values()) else "–",
            )  # fmt: skip


def people(rows: list[Record]) -> str:
    """Return Counter-BC against the paper's baselines from the late crowd, and the verdict."""
    lines = [
        [
            *line.words, line.act, *(line.by_baseline.get(m, "") for m in BASELINES),
            under_convention(Finding("", line.verdict), is_as_in_paper=False).text,
        ]
        for line in crowd_lines(rows)
    ]  # fmt: skip
    labels = [method_style(m).label for m in BASELINES]
    head = ["world, teacher", "pairs", "act", *labels, "above each"]
    return markdown_table(head, lines)


def paper_baselines(world: str) -> list[str]:
    """Return the methods that the paper compares Counter-BC with in a world."""
    return [m for m in BASELINES if (world, m) not in NOT_IN_PAPER]
