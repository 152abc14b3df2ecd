"""What was found of a claim, for one way of acting: numbers in, a sentence and a verdict out.

"Better" and "worse" mean p < .05, after Bonferroni's adjustment over methods or over radii.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from itertools import pairwise

import pandas as pd

from counterbc.studies.numbers import Numbers, Test, against, signed, told
from counterbc.studies.plots import LABELS
from counterbc.studies.statistics import ALPHA, p_text

YES, PARTLY, NO, OPEN = "reproduced", "partly", "not reproduced", "not run"
LIKE = 0.05  # of the best return: what "roughly equal" may differ by


@dataclass(frozen=True)
class Finding:
    ours: str
    verdict: str


MISSING = Finding("", OPEN)


def waiting(numbers: Numbers, act: str, command: str) -> Finding:
    """Not run; the command that does."""
    return Finding(f"`counterbc reproduce {command}`" if act == "sample" else "", OPEN)


def share(right: int, total: int) -> str:
    """All, none or some."""
    return YES if right == total else PARTLY if right else NO


def beats(
    numbers: Numbers, act: str, figure: str, chosen: dict[str, str], better: int = 1,
    others: Collection[str] = (),
) -> Finding:  # fmt: skip
    """Counter-BC is better than each of these; by default than all."""
    for test in numbers.tests(figure, act, **chosen):
        signs = {k: v for k, v in against(test, better).items() if not others or k in others}
        return Finding(told(test), share(sum(s == 1 for s in signs.values()), len(signs)))
    return MISSING


def occasionally(numbers: Numbers, act: str, world: str) -> Finding:
    """BCND's mean is the higher one at some sizes under ε-greedy."""
    cells = numbers.cells("figure4", act, world=world, teacher="epsilon-greedy")
    if cells.empty:
        return MISSING
    wide = cells.pivot(index="pairs", columns="method", values="mean")
    above = int((wide["bcnd"] > wide["counter-bc"]).sum())
    lead = signed(float((wide["counter-bc"] - wide["bcnd"]).mean()))
    text = (
        f"BCND is higher at {above} of {len(wide)} sizes; Counter-BC above it by {lead} on average"
    )
    return Finding(text, YES if above else NO)


def by_size(numbers: Numbers, act: str, world: str) -> pd.DataFrame:
    """Mean returns, teachers counted alike: sizes × methods."""
    cells = numbers.cells("figure4", act, world=world)
    return cells.pivot_table(index="pairs", columns="method", values="mean", sort=True)


def more_helps(numbers: Numbers, act: str, world: str) -> Finding:
    wide = by_size(numbers, act, world)
    gain = wide.iloc[-1] - wide.iloc[0]
    text = ", ".join(f"{LABELS[str(m)]} {signed(float(g))}" for m, g in gain.items())
    least, most = wide.index[0], wide.index[-1]
    return Finding(f"from {least} to {most} pairs: {text}", share(int((gain > 0).sum()), len(gain)))


def leads(numbers: Numbers, act: str, world: str) -> Finding:
    wide = by_size(numbers, act, world)
    first = wide.idxmax(axis="columns") == "counter-bc"
    lost = ", ".join(f"{LABELS[str(wide.loc[k].idxmax())]} at {k}" for k in wide.index[~first])
    text = f"highest at {int(first.sum())} of {len(first)} sizes" + (f"; {lost}" if lost else "")
    return Finding(text, share(int(first.sum()), len(first)))


def by_noise(numbers: Numbers, act: str, world: str) -> pd.DataFrame:
    """Mean returns: σ × methods."""
    cells = numbers.cells("figure5", act, world=world)
    return cells.pivot(index="sigma", columns="method", values="mean").sort_index()


def alike(numbers: Numbers, act: str, world: str) -> Finding:
    at_0 = by_noise(numbers, act, world).loc[0.0]
    near = at_0 > at_0.max() - LIKE * abs(at_0.max())
    text = ", ".join(f"{LABELS[str(m)]} {v:.1f}" for m, v in at_0.items())
    return Finding(text, share(int(near.sum()) - 1, len(near) - 1))  # the best is near itself


def grows(numbers: Numbers, act: str, world: str) -> Finding:
    """From each σ to the next, over each baseline."""
    wide = by_noise(numbers, act, world)
    lead = -wide.drop(columns="counter-bc").sub(wide["counter-bc"], axis="index")
    text = ", ".join(f"{signed(float(v))} at σ {s:g}" for s, v in lead["bc"].items())
    grown = lead.diff().iloc[1:] > 0  # steps × baselines
    return Finding(f"above BC by {text}", share(int(grown.sum().sum()), grown.size))


def lost(numbers: Numbers, act: str, world: str) -> Finding:
    """At the largest σ a tenth at most is left of the best return without noise."""
    wide = by_noise(numbers, act, world)
    text = ", ".join(f"{LABELS[str(m)]} {v:.1f}" for m, v in wide.iloc[-1].items())
    gone = wide.iloc[-1] <= 0.1 * wide.iloc[0].max()
    return Finding(f"σ {wide.index[-1]:g}: {text}", share(int(gone.sum()), len(gone)))


def at_radius(numbers: Numbers, act: str, world: str, teacher: str) -> list[Test]:
    """Counter-BC against BC, run by run, from the smallest Δ to the largest."""
    every = numbers.said.get("figure6", {}).get("above_bc", [])
    wanted = (act, world, teacher)
    own = [t for t in every if (t["act"], t["world"], t["teacher"]) == wanted]
    return sorted(own, key=lambda t: float(t["radius"]))


def _above_bc(test: Test) -> str:
    low, high = (signed(test["difference"][k]) for k in ("low", "high"))
    p = "" if test["p"] is None else f", {p_text(test['p'])}"
    mean = signed(test["difference"]["mean"])
    return f"Δ {test['radius']:g}: {mean} [{low}, {high}] above BC{p}"


def _found(test: Test, sign: int) -> bool:
    known = test["p"] is not None and test["p"] < ALPHA
    return known and test["difference"]["mean"] * sign > 0


def zero_is_bc(numbers: Numbers, act: str, world: str, teacher: str) -> Finding:
    first = at_radius(numbers, act, world, teacher)[0]
    same = first["radius"] == 0 and not (_found(first, 1) or _found(first, -1))
    return Finding(_above_bc(first), YES if same else NO)


def larger_helps(numbers: Numbers, act: str, world: str, teacher: str) -> Finding:
    rest = [t for t in at_radius(numbers, act, world, teacher) if t["radius"] > 0]
    best = max(rest, key=lambda t: float(t["difference"]["mean"]))
    return Finding(f"best at {_above_bc(best)}", YES if _found(best, 1) else NO)


def too_large_hurts(numbers: Numbers, act: str, world: str, teacher: str) -> Finding:
    last = at_radius(numbers, act, world, teacher)[-1]
    return Finding(_above_bc(last), YES if _found(last, -1) else NO)


def differs(numbers: Numbers, act: str, measure: str) -> Finding:
    for test in numbers.tests("figure7", act, measure=measure):
        p = test["anova"]["p"]
        return Finding(test["anova"]["text"], YES if p is not None and p < 0.001 else NO)
    return MISSING


def improves(numbers: Numbers, act: str, world: str, baseline: str) -> Finding:
    """Within our interval: reproduced; of the same sign: partly."""
    for row in numbers.said.get("table1", {}).get("improvements", []):
        if (row["world"], row["act"], row["baseline"]) == (world, act, baseline):
            paper, three = row["paper"], (row["percent"], row["low"], row["high"])
            percent, low, high = (f"{number:.0f}".replace("-", "−") for number in three)
            text = f"{percent} % [{low}, {high}]"
            within = row["low"] <= paper <= row["high"]
            return Finding(text, YES if within else PARTLY if row["percent"] > 0 else NO)
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
    return Finding(text, share(sum(steps), len(steps)))
