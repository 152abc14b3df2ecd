"""What was found of a claim, for one way of acting: numbers in, a sentence and a verdict out.

"Better" and "worse" mean p < .05, adjusted over all that a claim takes together, unless the claim
itself states another level. Here: figures 2, 3, 6 and 7, table 1 and Counter-BC above the others.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import pairwise

from reproduction.anova import ALPHA, p_text
from reproduction.numbers import Numbers, Test, against, sign, spanned, told

YES, PARTLY, NO, OPEN = "reproduced", "partly", "not reproduced", "not run"
REVERSED = "contradicted"  # a significant effect the other way round
UNCLEAR = "cannot tell"  # an interval too wide to say
LIKE = 0.05  # of the mean compared with: what equals may differ by
LARGE = 1.0  # half of what actions span: a Δ that is "too large", if any is


@dataclass(frozen=True)
class Finding:
    ours: str
    verdict: str


MISSING = Finding("", OPEN)


def waiting(numbers: Numbers, act: str, command: str) -> Finding:
    """Not run; the command that does."""
    return Finding(f"`counterbc reproduce {command}`" if act == "sample" else "", OPEN)


def weighed(signs: Sequence[int]) -> str:
    """Of comparisons that a claim wants all won: one lost contradicts it, half won is partly."""
    won = signs.count(1)
    if -1 in signs:
        return REVERSED
    return YES if won == len(signs) else PARTLY if 2 * won >= len(signs) else NO


def same(test: Test, mean: float) -> str:
    """Equivalence: the 95 % interval of a difference within ± 5 % of a mean, outside, or neither.

    Not told apart is not the same, so no p counts here, and no adjustment of one.
    """
    low, high, margin = test["difference"]["low"], test["difference"]["high"], LIKE * abs(mean)
    if low is None or high is None:
        return UNCLEAR
    if -margin <= low and high <= margin:
        return YES
    return REVERSED if low > margin or high < -margin else UNCLEAR


def beats(
    numbers: Numbers, act: str, figure: str, chosen: dict[str, str], better: int = 1,
    others: Collection[str] = (), level: float = ALPHA, by_runs: bool = True,
) -> Finding:  # fmt: skip
    """Counter-BC is better than each of these, by default than all, at the level of the claim.

    `by_runs`: nothing is reproduced or contradicted unless runs for cells agree with datasets.
    """
    for test in numbers.tests(figure, act, **chosen):
        own = [t for t in against(test) if not others or t["other"] in others]
        cells = ("p", "p_by_runs") if by_runs else ("p",)
        return Finding(told(test, better, level), _beaten(own, better, level, cells))
    return MISSING


def _beaten(own: Sequence[Test], better: int, level: float, cells: Sequence[str]) -> str:
    """`weighed`, but that the strong verdicts need all cells and the first one the level."""
    signs = [sign(t, better) for t in own]
    if any(all(sign(t, better, cell=cell) == -1 for cell in cells) for t in own):
        return REVERSED
    if all(sign(t, better, level, cell) == 1 for t in own for cell in cells):
        return YES
    return NO if -1 in signs or 2 * signs.count(1) < len(signs) else PARTLY


def at_radius(numbers: Numbers, act: str, world: str, teacher: str) -> list[Test]:
    """Counter-BC against BC, run by run, from the smallest Δ to the largest."""
    own = numbers.tests("figure6", act, of="above_bc", world=world, teacher=teacher)
    return sorted(own, key=lambda t: float(t["radius"]))


def _above_bc(test: Test) -> str:
    p = "" if test["p"] is None else f", {p_text(test['p'])}"
    return f"Δ {test['radius']:g}: {spanned(test)} above BC{p}"


def zero_is_bc(numbers: Numbers, act: str, world: str, teacher: str) -> Finding:
    first = at_radius(numbers, act, world, teacher)[0]
    if first["radius"] != 0:
        return MISSING
    text = f"Δ 0: {spanned(first)} above BC; ± {LIKE * abs(first['bc']):.2f} is the same"
    return Finding(text, same(first, first["bc"]))


def larger_helps(numbers: Numbers, act: str, world: str, teacher: str) -> Finding:
    rest = [t for t in at_radius(numbers, act, world, teacher) if t["radius"] > 0]
    best = max(rest, key=lambda t: float(t["difference"]["mean"]))
    return Finding(f"best at {_above_bc(best)}", weighed([sign(best)]))


def too_large_hurts(numbers: Numbers, act: str, world: str, teacher: str) -> Finding:
    """At the largest Δ that was run; one that is not large cannot deny it."""
    last = at_radius(numbers, act, world, teacher)[-1]
    found = sign(last, better=-1)
    known = found == 1 or last["radius"] >= LARGE
    return Finding(_above_bc(last), weighed([found]) if known else UNCLEAR)


def differs(numbers: Numbers, act: str, measure: str) -> Finding:
    for test in numbers.tests("figure7", act, measure=measure):
        p = test["anova"]["p"]
        return Finding(test["anova"]["text"], YES if p is not None and p < 0.001 else NO)
    return MISSING


def improves(numbers: Numbers, act: str, world: str, baseline: str) -> Finding:
    """Whether our interval has one sign, that of the paper's number, and that number in it."""
    for row in numbers.tests("table1", act, of="improvements", world=world, baseline=baseline):
        paper, low, high = row["paper"], row["low"], row["high"]
        percent, *ends = (f"{row[k]:.0f}".replace("-", "−") for k in ("percent", "low", "high"))
        text = f"{percent} % [{', '.join(ends)}]"
        if low <= 0 <= high:
            return Finding(text, UNCLEAR)
        if low <= paper <= high:
            return Finding(text, YES)
        return Finding(text, PARTLY if low * paper > 0 else REVERSED)
    return MISSING


def ordered(numbers: Numbers, act: str) -> Finding:
    """Figure 2: largest when confident outside, least when confident inside."""
    loss = numbers.said.get("figure2", {}).get("loss")
    if not loss or act != "mean":  # nobody acts
        return MISSING
    text = "; ".join(f"{name} {value:.2f}" for name, value in loss.items()).replace("-", "−")
    right = max(loss, key=loss.get), min(loss, key=loss.get)
    return Finding(text, YES if right == ("confident, outside", "confident, inside") else NO)


def simpler(numbers: Numbers, act: str, measure: str, sign: int) -> Finding:
    """Figure 3: a measure that grows (1) or falls (−1) with Δ, up to a standard error a step."""
    rows = numbers.said.get("figure3", {}).get("by radius")
    if not rows or act != "mean":  # the mean function is what is drawn
        return MISSING
    values = [row[measure]["mean"] for row in rows]
    named = [(row["radius"], value) for row, value in zip(rows, values, strict=True)]
    text = ", ".join(f"{'BC' if r is None else f'Δ {r:g}'} {value:.2f}" for r, value in named)
    errors = [row[measure]["sd"] / row["runs"] ** 0.5 for row in rows]
    steps = [sign * (b - a) > -e for (a, b), e in zip(pairwise(values), errors, strict=False)]
    steps.append(sign * (values[-1] - values[0]) > 0)
    return Finding(text, YES if all(steps) else PARTLY if any(steps) else NO)
