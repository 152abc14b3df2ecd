"""Rules that turn the numbers of one way of acting into a sentence and a verdict on a claim.

"Better" and "worse" mean p < .05, adjusted over all tests of a claim, unless the claim states
another level. This file has the rules of figures 2, 3, 6 and 7, of table 1, and of Counter-BC
above the other methods; `verdicts_along` has those along the x-axis of figures 4 and 5.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from reproduction.anova import ALPHA
from reproduction.figure_numbers import AboveBC, Improvement, PairedTest, PostHoc, Spread, p_text
from reproduction.numbers import (
    Numbers,
    against,
    interval_text,
    lead_text,
    sign,
    sign_by_runs,
    where,
)

YES, PARTLY, NO, OPEN = "reproduced", "partly", "not reproduced", "not run"
OPPOSITE = "contradicted"  # a significant effect the other way round
UNCLEAR = "cannot tell"  # an interval too wide to say
UNTESTED = "not tested as in the paper"  # it fails, under another convention than the paper's
MARGIN = 0.05  # share of a mean by which equal numbers may differ
LARGE = 1.0  # a Δ of half the action range: "too large", if any is


@dataclass(frozen=True)
class Finding:
    """A sentence with our numbers, and the verdict on the claim."""

    ours: str
    verdict: str
    note: str = ""
    """What is added in brackets to the verdict."""

    @property
    def text(self) -> str:
        """Return the verdict with its note."""
        return f"{self.verdict} ({self.note})" if self.note else self.verdict


NO_FINDING = Finding("", OPEN)


def under_convention(finding: Finding, is_as_in_paper: bool) -> Finding:
    """Return a finding whose verdict says no more than the convention of its rows allows.

    Rows that were made in another way than the paper's can support a claim. They do not refute it,
    and the verdict says what happened here.
    """
    if finding.verdict not in (NO, OPPOSITE) or is_as_in_paper:
        return finding
    note = f"; {finding.note}" if finding.note else ""
    return replace(finding, verdict=f"{UNTESTED} ({finding.verdict} here{note})", note="")


def not_run(numbers: Numbers, act: str, command: str) -> Finding:
    """Return that a claim was not tested, with the command that computes its rows."""
    return Finding(f"`python -m reproduction run {command}`" if act == "sample" else "", OPEN)


def all_won(signs: Sequence[int]) -> str:
    """Return the verdict on a claim that needs every comparison won.

    One lost comparison contradicts it; half of them won is partly.
    """
    win_count = signs.count(1)
    if -1 in signs:
        return OPPOSITE
    return YES if win_count == len(signs) else PARTLY if 2 * win_count >= len(signs) else NO


def equivalent(test: PairedTest, mean: float) -> str:
    """Return whether the 95 % interval of a difference lies within ± 5 % of a mean.

    This is a test of equivalence: a p-value cannot show that two numbers are equal.
    """
    low, high, margin = test.difference.low, test.difference.high, MARGIN * abs(mean)
    if -margin <= low and high <= margin:
        return YES
    return OPPOSITE if low > margin or high < -margin else UNCLEAR


def beats(
    numbers: Numbers, act: str, figure: str, chosen: dict[str, str], better: int = 1,
    others: Collection[str] = (), level: float = ALPHA, by_runs: bool = True,
) -> Finding:  # fmt: skip
    """Return whether Counter-BC is better than each of `others`, by default than all.

    With `by_runs`, tests over runs must agree with tests over datasets for a clear verdict.
    """
    for test in where(numbers.statistics(figure), act=act, **chosen):
        return lead_finding(against(test), better, others, level, by_runs)
    return NO_FINDING


def lead_finding(
    leads: Sequence[PostHoc], better: int = 1, others: Collection[str] = (), level: float = ALPHA,
    by_runs: bool = True,
) -> Finding:  # fmt: skip
    """Return whether every comparison with `others`, by default with all, is won."""
    claim_leads = [t for t in leads if not others or t.other in others]
    signs = (sign, sign_by_runs) if by_runs else (sign,)
    return Finding(lead_text(leads, better, level), _beaten(claim_leads, better, level, signs))


def _beaten(
    leads: Sequence[PostHoc],
    better: int,
    level: float,
    signs: Sequence[Callable[[PostHoc, int, float], int]],
) -> str:
    """Return a verdict like `all_won`, where a clear verdict needs the sign of every test."""
    if any(all(sign_of(t, better, ALPHA) == -1 for sign_of in signs) for t in leads):
        return OPPOSITE
    if all(sign_of(t, better, level) == 1 for t in leads for sign_of in signs):
        return YES
    by_datasets = [sign(t, better) for t in leads]
    is_no = -1 in by_datasets or 2 * by_datasets.count(1) < len(by_datasets)
    return NO if is_no else PARTLY


def at_radius(numbers: Numbers, act: str, world: str, teacher: str) -> list[AboveBC]:
    """Return the tests of Counter-BC against BC, from the smallest Δ to the largest."""
    tests = where(numbers.figure6.above_bc, act=act, world=world, teacher=teacher)
    return sorted(tests, key=lambda t: t.radius)


def _above_bc(test: AboveBC) -> str:
    p = f", {p_text(test.p)}" if math.isfinite(test.p) else ""
    return f"Δ {test.radius:g}: {interval_text(test.difference)} above BC{p}"


def zero_is_bc(numbers: Numbers, act: str, world: str, teacher: str) -> Finding:
    """Return whether Counter-BC at Δ 0 equals BC."""
    first = at_radius(numbers, act, world, teacher)[0]
    if first.radius != 0:
        return NO_FINDING
    above, margin = interval_text(first.difference), MARGIN * abs(first.bc)
    text = f"Δ 0: {above} above BC; ± {margin:.2f} is the same"
    return Finding(text, equivalent(first, first.bc))


def larger_helps(numbers: Numbers, act: str, world: str, teacher: str) -> Finding:
    """Return whether the best Δ above 0 is above BC."""
    rest = [t for t in at_radius(numbers, act, world, teacher) if t.radius > 0]
    best = max(rest, key=lambda t: t.difference.mean)
    return Finding(f"best at {_above_bc(best)}", all_won([sign(best)]))


def too_large_hurts(numbers: Numbers, act: str, world: str, teacher: str) -> Finding:
    """Return whether the largest Δ is below BC; a Δ that is not large cannot deny the claim."""
    last = at_radius(numbers, act, world, teacher)[-1]
    direction = sign(last, better=-1)
    is_decided = direction == 1 or last.radius >= LARGE
    return Finding(_above_bc(last), all_won([direction]) if is_decided else UNCLEAR)


def differs(numbers: Numbers, act: str, measure: str) -> Finding:
    """Return whether methods differ in a measure of air hockey, p < .001."""
    for test in where(numbers.figure7.statistics, act=act, measure=measure):
        return Finding(test.anova.text, YES if test.anova.p < 0.001 else NO)
    return NO_FINDING


def improves(numbers: Numbers, act: str, world: str, baseline: str) -> Finding:
    """Return whether our interval has the sign of the paper's number and contains it."""
    for row in where(numbers.table1.improvements, act=act, world=world, baseline=baseline):
        return improvement_finding(row)
    return NO_FINDING


def improvement_finding(row: Improvement) -> Finding:
    """Return the verdict on a number of table 1."""
    text = f"{row.percent:.0f} % [{row.low:.0f}, {row.high:.0f}]".replace("-", "−")
    if row.low <= 0 <= row.high or row.paper is None:
        return Finding(text, UNCLEAR)
    if row.low <= row.paper <= row.high:
        return Finding(text, YES)
    return Finding(text, PARTLY if row.low * row.paper > 0 else OPPOSITE)


def loss_is_ordered(numbers: Numbers, act: str) -> Finding:
    """Return whether figure 2's loss is largest when confident outside, least when inside."""
    loss = numbers.figure2.loss
    if not loss or act != "mean":  # nobody acts
        return NO_FINDING
    text = "; ".join(f"{name} {value:.2f}" for name, value in loss.items()).replace("-", "−")
    right = max(loss, key=loss.__getitem__), min(loss, key=loss.__getitem__)
    return Finding(text, YES if right == ("confident, outside", "confident, inside") else NO)


def simpler(numbers: Numbers, act: str, measure: str, sign: int) -> Finding:
    """Return whether a measure of figure 3 grows (1) or falls (−1) with Δ.

    A step may go the other way by less than a standard error.
    """
    rows = numbers.figure3.by_radius
    if not rows or act != "mean":  # the mean function is what is drawn
        return NO_FINDING
    spreads: list[Spread] = [getattr(row, measure) for row in rows]
    values = [spread.mean for spread in spreads]
    names = ["BC" if row.radius is None else f"Δ {row.radius:g}" for row in rows]
    text = ", ".join(f"{name} {value:.2f}" for name, value in zip(names, values, strict=True))
    errors = [s.sd / row.runs**0.5 for s, row in zip(spreads, rows, strict=True)]
    steps = [sign * (b - a) > -e for (a, b), e in zip(pairwise(values), errors, strict=False)]
    steps.append(sign * (values[-1] - values[0]) > 0)
    return Finding(text, YES if all(steps) else PARTLY if any(steps) else NO)
