"""What was found of claims along the x-axis of figures 4 and 5; tests have the run as the cell."""

from __future__ import annotations

from collections.abc import Sequence

from counterbc.experiments.plots import LABELS
from reproduction.anova import p_text
from reproduction.numbers import Numbers, Test, sign, signed, spanned
from reproduction.verdicts import LIKE, MISSING, NO, REVERSED, UNCLEAR, YES, Finding, same, weighed

GONE = 0.1  # of the best return without noise: what is left near chance


def occasionally(numbers: Numbers, act: str, world: str) -> Finding:
    """BCND is higher at some sizes under ε-greedy, not at all of them."""
    every = numbers.tests("figure4", act, of="epsilon_greedy", world=world)
    if not every:
        return MISSING
    signs = [sign(t, better=-1) for t in every]
    higher = [t["difference"]["mean"] < 0 for t in every]
    text = (
        f"BCND is higher at {sum(higher)} of {len(every)} sizes, significantly at "
        f"{signs.count(1)}, and lower at {signs.count(-1)}"
    )
    if 0 < signs.count(1) < len(signs):
        return Finding(text, YES)
    if signs.count(-1) == len(signs):
        return Finding(text, REVERSED)
    return Finding(text, UNCLEAR if any(higher) and 1 not in signs else NO)


def more_helps(numbers: Numbers, act: str, world: str) -> Finding:
    every = numbers.tests("figure4", act, of="gains", world=world)
    if not every:
        return MISSING
    text = ", ".join(
        f"{LABELS[t['method']]} {signed(t['difference']['mean'])}"
        + ("" if t["p"] is None else f" ({p_text(t['p'])})")
        for t in every
    )
    ends = f"from {every[0]['from']} to {every[0]['at']} pairs"
    return Finding(f"{ends}: {text}", weighed([sign(t) for t in every]))


def leads(numbers: Numbers, act: str, world: str) -> Finding:
    """Counter-BC is above each baseline at every size."""
    every = numbers.tests("figure4", act, of="leads", world=world)
    if not every:
        return MISSING
    signs = [sign(t) for t in every]
    short = {t["at"] for t, s in zip(every, signs, strict=True) if s != 1}
    sizes = {t["at"] for t in every}
    text = f"above each at {len(sizes - short)} of {len(sizes)} sizes"
    for said, value in (("not told from", 0), ("below", -1)):
        text += _named(said, [t for t, s in zip(every, signs, strict=True) if s == value])
    return Finding(text, weighed(signs))


def _named(said: str, tests: Sequence[Test]) -> str:
    """; below BC at 800/1600, BCND at 100."""
    each: dict[str, list[str]] = {}
    for t in tests:
        each.setdefault(LABELS[t["other"]], []).append(f"{t['at']:g}")
    names = ", ".join(f"{name} at {'/'.join(points)}" for name, points in each.items())
    return f"; {said} {names}" if names else ""


def alike(numbers: Numbers, act: str, world: str) -> Finding:
    """Without noise, every method is the same as the best; one that is not contradicts it."""
    every = numbers.tests("figure5", act, of="alike", world=world, at=0.0)
    if not every:
        return MISSING
    best, mean = LABELS[every[0]["best"]], every[0]["mean_of_best"]
    each = ", ".join(f"{LABELS[t['method']]} {spanned(t)}" for t in every)
    text = f"best {best} {mean:.1f}, above it {each}; ± {LIKE * abs(mean):.2f} is the same"
    found = {same(t, mean) for t in every}
    return Finding(text, next(v for v in (REVERSED, UNCLEAR, YES) if v in found))


def grows(numbers: Numbers, act: str, world: str) -> Finding:
    """From each σ to the next, over each baseline; Counter-BC must be above it at the latter."""
    leads = numbers.tests("figure5", act, of="leads", world=world)
    steps = numbers.tests("figure5", act, of="steps", world=world)
    if not steps:
        return MISSING
    above = {(t["at"], t["other"]) for t in leads if sign(t) == 1}
    signs = [min(sign(t), int((t["at"], t["other"]) in above)) for t in steps]
    over_bc = [t for t in leads if t["other"] == "bc"]
    text = ", ".join(f"{signed(t['difference']['mean'])} at σ {t['at']:g}" for t in over_bc)
    counts = f"{signs.count(1)} of {len(signs)} steps up, {signs.count(-1)} down"
    return Finding(f"above BC by {text}; over all baselines {counts}", weighed(signs))


def lost(numbers: Numbers, act: str, world: str) -> Finding:
    """At the largest σ a tenth at most is left of the best return without noise."""
    from scipy import stats

    cells = numbers.cells("figure5", act, world=world)
    last, first = (cells[cells["sigma"] == edge(cells["sigma"])] for edge in (max, min))
    left = GONE * first["mean"].max()
    half = stats.t.ppf(0.975, last["count"] - 1) * last["sem"]  # of 95 %
    text = ", ".join(
        f"{LABELS[m]} {mean:.1f} ± {h:.1f}"
        for m, mean, h in zip(last["method"], last["mean"], half, strict=True)
    )
    if (last["mean"] - half > left).any():
        verdict = REVERSED
    else:
        verdict = YES if (last["mean"] + half <= left).all() else UNCLEAR
    return Finding(f"σ {last['sigma'].iloc[0]:g}: {text}; a tenth is {left:.1f}", verdict)
