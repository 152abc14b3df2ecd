"""Claims of figure 4 and table 1 on the rows of the study `fair`, by the rules of these figures.

They have a crowd that reacts as late as people, and pairs of whole episodes beside scattered ones.
Rows of the figures have one way of taking the pairs of a teacher. A claim is about the paper's five
sizes where every method and teacher has them all, and about 400 pairs elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import pandas as pd

from counterbc.demonstrators import NOISES
from reproduction.anova import ALPHA, by_subject, post_hoc
from reproduction.claims import SINGLE_CLAIMS, Claim
from reproduction.conventions import (
    LATE_CROWD,
    ONE_SIZE,
    SCATTERED_NOISE,
    WHOLE_CROWD,
    is_noise_scattered,
)
from reproduction.figure_numbers import Improvement
from reproduction.improvement import improvements
from reproduction.numbers import Numbers
from reproduction.paper import PAPER_METHODS
from reproduction.records import Record
from reproduction.sizes import PAPER_SIZES
from reproduction.studies.fair_kinds import CROWD, SCATTERED, WHOLE
from reproduction.verdicts import NO_FINDING, Finding, lead_finding

FAIR_LEAD = (
    "all teachers together, with a crowd that reacts as late as people, Counter-BC is above each "
    "baseline (p < .01; {})"
)
WORLDS = ("intersection", "cartpole")
"""Worlds with noise and people in the paper and in these rows."""


@dataclass(frozen=True)
class Taking:
    """How the pairs of each teacher are taken."""

    text: str
    noise: str
    crowd: str | None
    """None where only the noise counts."""

    def differs(self, sizes: int) -> tuple[str, ...]:
        """Return the names of what differs from the paper's way with this number of sizes."""
        names = [] if self.crowd is None else [LATE_CROWD]
        names += [ONE_SIZE] if sizes == 1 else []
        names += [SCATTERED_NOISE] if self.noise == SCATTERED else []
        return (*names, *([WHOLE_CROWD] if self.crowd == WHOLE else []))

    def of_all(self) -> dict[str, str]:
        """Return how the pairs of all teachers together are taken."""
        return {**dict.fromkeys(NOISES, self.noise), CROWD: self.crowd or self.noise}


TAKINGS = (
    Taking("scattered pairs", SCATTERED, SCATTERED),
    Taking("whole episodes", WHOLE, WHOLE),
    Taking("noise whole, crowd scattered, as in the paper", WHOLE, SCATTERED),
)


def fair_claims(rows: Sequence[Record]) -> Iterator[Claim]:
    """Yield the claims of figure 4 that have rows of every method and teacher."""
    for world in WORLDS:
        for taking in TAKINGS:
            if tables := _tables(rows, world, taking.of_all()):
                text = FAIR_LEAD.format(taking.text)
                yield _lead_claim(world, text, tables, 0.01, taking)
        for teacher, text in SINGLE_CLAIMS.items():
            tables = _tables(rows, world, {teacher: WHOLE})
            if teacher in NOISES and is_noise_scattered(world) and tables:
                taking = Taking(text, WHOLE, None)
                yield _lead_claim(world, f"{text} (whole episodes)", tables, ALPHA, taking)


def fair_improvements(
    rows: Sequence[Record], world: str
) -> Iterator[tuple[tuple[str, ...], dict[str, Improvement]]]:
    """Yield further lines of table 1, each by way of acting, where the figures scatter noise.

    The first of a pair names what differs from the paper's way. They are no claims of their own: a
    number of the paper would count several times.
    """
    for taking in TAKINGS if is_noise_scattered(world) else ():
        if tables := _tables(rows, world, taking.of_all()):
            of_world = improvements(pd.concat(tables.values()))
            differs = taking.differs(_sizes(tables))
            for baseline in PAPER_METHODS[:-1]:
                yield differs, {r.act: r for r in of_world if r.baseline == baseline}


def _lead_claim(
    world: str, text: str, tables: Mapping[str, pd.DataFrame], level: float, taking: Taking
) -> Claim:
    """Return a claim with figure 4's tests: over datasets and runs, all pairs adjusted."""
    findings = {}
    for act, table in tables.items():
        tests = post_hoc(
            by_subject(table, "return", ("teacher", "pairs", "seed")), has_effects=False
        )
        leads = [t for t in tests if t.method == "counter-bc"]
        findings[act] = lead_finding(leads, level=level)
    runs = max(table["seed"].nunique() for table in tables.values())
    rule, differs = partial(_by_act, findings=findings), taking.differs(_sizes(tables))
    return Claim("5.1", world, text, rule, f"{runs} runs", differs)


def _sizes(tables: Mapping[str, pd.DataFrame]) -> int:
    """Return how many numbers of pairs the tables have."""
    return max(int(table["pairs"].nunique()) for table in tables.values())


def _tables(rows: Sequence[Record], world: str, ways: Mapping[str, str]) -> dict[str, pd.DataFrame]:
    """Return a table for each way of acting; none where a method or a teacher has no rows.

    They have all sizes of the paper if none lacks a method or a teacher, and else 400 pairs alone.
    The crowd stands for the paper's people, who alone are pooled with the noises.
    """
    table_rows = [
        {
            "world": world, "act": r["act"], "pairs": r["pairs"], "method": r["variant"],
            "teacher": "people" if r["teacher"] == CROWD else r["teacher"],
            "seed": r["seed"], "return": r["return"],
        }
        for r in rows
        if r["world"] == world and r["sigma"] in (None, 0.5)
        if r["variant"] in PAPER_METHODS and ways.get(r["teacher"]) == r["taken"]
    ]  # fmt: skip
    parts: dict[int, set[tuple[str, str]]] = {}
    for r in table_rows:
        parts.setdefault(r["pairs"], set()).add((r["method"], r["teacher"]))
    whole = {n for n, part in parts.items() if len(part) == len(PAPER_METHODS) * len(ways)}
    if 400 not in whole:
        return {}
    sizes = set(PAPER_SIZES.pairs) if set(PAPER_SIZES.pairs) <= whole else {400}
    table_rows = [r for r in table_rows if r["pairs"] in sizes]
    table = pd.DataFrame(table_rows)
    order = {name: k for k, name in enumerate(PAPER_METHODS)}
    table = table.sort_values("method", key=lambda column: column.map(order), kind="stable")
    return {act: part for act, part in table.groupby("act")}


def _by_act(numbers: Numbers, act: str, findings: Mapping[str, Finding]) -> Finding:
    """Return the finding of a way of acting, whatever the numbers of the figures are."""
    return findings.get(act, NO_FINDING)
