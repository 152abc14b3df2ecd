"""Claims of the paper on rows that are nearer to the paper's than those of its figures.

They are of a crowd that reacts as late as people, and of Car Racing under the paper's conventions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path

from counterbc.experiments.styles import method_style
from reproduction.claims import Claim
from reproduction.conventions import (
    ONE_NOISE,
    ONE_SIZE,
    SCATTERED_NOISE,
    WHOLE_CROWD,
    conventions_of,
)
from reproduction.fair_claims import fair_claims
from reproduction.numbers import Numbers
from reproduction.records import Record, read_rows
from reproduction.studies import car_racing_paper, fair
from reproduction.studies.car_racing_paper_tables import Improvement, improvements
from reproduction.studies.fair_kinds import CROWD, SCATTERED, WHOLE
from reproduction.studies.fair_people import CrowdLine, crowd_lines
from reproduction.verdicts import NO_FINDING, UNCLEAR, Finding

LATE_CROWD = "from a crowd that reacts as late as people, Counter-BC is above each baseline"
PROTOCOL_TEXTS = {SCATTERED: "scattered pairs", WHOLE: "whole episodes"}


def study_claims(results: Path) -> Iterator[Claim]:
    """Yield the claims that have rows in a folder of results."""
    rows = read_rows(results / fair.STUDY)
    yield from fair_claims(rows)
    yield from _late_crowd(rows)
    yield from _car_racing(read_rows(results / car_racing_paper.STUDY))


def _late_crowd(rows: list[Record]) -> Iterator[Claim]:
    groups: dict[tuple[str, str], list[CrowdLine]] = {}
    for line in crowd_lines(rows):
        if line.verdict != "–":
            groups.setdefault((line.world, line.protocol), []).append(line)
    for (world, protocol), lines in groups.items():
        section, text = "6" if world == "air-hockey" else "5.1", PROTOCOL_TEXTS[protocol]
        rule = partial(_by_act, findings={line.act: _crowd_finding(line) for line in lines})
        names = [*conventions_of(world, [CROWD]), ONE_SIZE]
        names += [WHOLE_CROWD] if protocol == WHOLE else []
        yield Claim(
            section, world, f"{LATE_CROWD} ({text})", rule, rows=f"{lines[0].runs} runs",
            differs=tuple(names),
        )  # fmt: skip


def _crowd_finding(line: CrowdLine) -> Finding:
    leads = [f"{method_style(name).label} {text}" for name, text in line.by_baseline.items()]
    return Finding(f"above {', '.join(leads)}", line.verdict)


def _car_racing(rows: list[Record]) -> Iterator[Claim]:
    groups: dict[tuple[str, str], list[Improvement]] = {}
    for cell in improvements(rows):
        groups.setdefault((cell.noise, cell.baseline), []).append(cell)
    for (noise, baseline), cells in groups.items():
        over = f"{cells[0].paper:,.0f} % over {method_style(baseline).label}"
        rule = partial(_by_act, findings={cell.act: _racing_finding(cell) for cell in cells})
        yield Claim(
            "Tab. 1", car_racing_paper.WORLD, f"{over}, by the paper's conventions ({noise} noise)",
            rule, rows=f"{noise} noise, {cells[0].runs} runs",
            differs=(SCATTERED_NOISE, ONE_SIZE, ONE_NOISE),
        )  # fmt: skip


def _racing_finding(cell: Improvement) -> Finding:
    """Return a verdict that stands on one comparison with the adjusted word beside it."""
    note = "" if cell.verdict == UNCLEAR else f"adjusted: {cell.adjusted}"
    return Finding(f"{cell.percent}, {cell.difference} tiles", cell.verdict, note)


def _by_act(numbers: Numbers, act: str, findings: Mapping[str, Finding]) -> Finding:
    """Return the finding of a way of acting, whatever the numbers of the figures are."""
    return findings.get(act, NO_FINDING)
