"""Rules for claims along the x-axis of figures 4 and 5; their tests are over runs."""

from __future__ import annotations

import math
from collections.abc import Sequence

from counterbc.experiments.styles import method_style
from reproduction.figure_numbers import Lead, p_text
from reproduction.numbers import Numbers, interval_text, sign, signed_text, where
from reproduction.verdicts import (
    MARGIN,
    NO,
    NO_FINDING,
    OPPOSITE,
    UNCLEAR,
    YES,
    Finding,
    all_won,
    equivalent,
)

CHANCE = 0.1  # share of the best return without noise that remains near chance


def occasionally(numbers: Numbers, act: str, world: str) -> Finding:
    """Return whether BCND is higher at some sizes under ε-greedy, but not at all of them."""
    tests = where(numbers.figure4.epsilon_greedy, act=act, world=world)
    if not tests:
        return NO_FINDING
    signs = [sign(t, better=-1) for t in tests]
    higher = [t.difference.mean < 0 for t in tests]
    text = (
        f"BCND is higher at {sum(higher)} of {len(tests)} sizes, significantly at "
        f"{signs.count(1)}, and lower at {signs.count(-1)}"
    )
    if 0 < signs.count(1) < len(signs):
        return Finding(text, YES)
    if signs.count(-1) == len(signs):
        return Finding(text, OPPOSITE)
    return Finding(text, UNCLEAR if any(higher) and 1 not in signs else NO)


def more_helps(numbers: Numbers, act: str, world: str) -> Finding:
    """Return whether every method gains from the fewest to the most pairs."""
    tests = where(numbers.figure4.gains, act=act, world=world)
    if not tests:
        return NO_FINDING
    text = ", ".join(
        f"{method_style(t.method).label} {signed_text(t.difference.mean)}"
        + (f" ({p_text(t.p)})" if math.isfinite(t.p) else "")
        for t in tests
    )
    ends = f"from {tests[0].start} to {tests[0].at} pairs"
    return Finding(f"{ends}: {text}", all_won([sign(t) for t in tests]))


def leads(numbers: Numbers, act: str, world: str) -> Finding:
    """Return whether Counter-BC is above each baseline at every size."""
    tests = where(numbers.figure4.leads, act=act, world=world)
    if not tests:
        return NO_FINDING
    signs = [sign(t) for t in tests]
    short = {t.at for t, s in zip(tests, signs, strict=True) if s != 1}
    sizes = {t.at for t in tests}
    text = f"above each at {len(sizes - short)} of {len(sizes)} sizes"
    for words, value in (("not different from", 0), ("below", -1)):
        text += _sizes_text(words, [t for t, s in zip(tests, signs, strict=True) if s == value])
    return Finding(text, all_won(signs))


def _sizes_text(words: str, tests: Sequence[Lead]) -> str:
    """Return text such as "; below BC at 800/1600, BCND at 100"."""
    texts: dict[str, list[str]] = {}
    for t in tests:
        texts.setdefault(method_style(t.other).label, []).append(f"{t.at:g}")
    names = ", ".join(f"{name} at {'/'.join(points)}" for name, points in texts.items())
    return f"; {words} {names}" if names else ""


def alike(numbers: Numbers, act: str, world: str) -> Finding:
    """Return whether, without noise, every two methods are equal; one that differs denies it."""
    tests = where(numbers.figure5.alike, act=act, world=world, at=0.0)
    if not tests:
        return NO_FINDING
    mean = tests[0].mean
    verdicts = [equivalent(t, mean) for t in tests]
    over_bc = ", ".join(
        f"{method_style(t.method).label} {interval_text(t.difference)}"
        for t in tests
        if t.other == "bc"
    )
    same, different = verdicts.count(YES), verdicts.count(OPPOSITE)
    text = f"above BC: {over_bc}; {same} of {len(tests)} pairs are the same"
    text += f" (± {MARGIN * abs(mean):.2f}), {different} differ"
    return Finding(text, next(v for v in (OPPOSITE, UNCLEAR, YES) if v in verdicts))


def grows(numbers: Numbers, act: str, world: str) -> Finding:
    """Return whether the lead over each baseline grows from each σ to the next.

    Counter-BC must be above the baseline at the larger σ.
    """
    leads = where(numbers.figure5.leads, act=act, world=world)
    steps = where(numbers.figure5.steps, act=act, world=world)
    if not steps:
        return NO_FINDING
    above = {(t.at, t.other) for t in leads if sign(t) == 1}
    signs = [min(sign(t), int((t.at, t.other) in above)) for t in steps]
    over_bc = [t for t in leads if t.other == "bc"]
    text = ", ".join(f"{signed_text(t.difference.mean)} at σ {t.at:g}" for t in over_bc)
    counts = f"{signs.count(1)} of {len(signs)} steps up, {signs.count(-1)} down"
    return Finding(f"above BC by {text}; over all baselines {counts}", all_won(signs))


def near_chance(numbers: Numbers, act: str, world: str) -> Finding:
    """Return whether at the largest σ at most a tenth of the best noiseless return remains."""
    from scipy import stats

    cells = where(numbers.figure5.cells, act=act, world=world)
    sigmas = [cell.sigma for cell in cells if cell.sigma is not None]
    last, first = (where(cells, sigma=edge(sigmas)) for edge in (max, min))
    remainder = CHANCE * max(cell.mean for cell in first)
    halves = [float(stats.t.ppf(0.975, cell.count - 1)) * cell.sem for cell in last]  # 95 %
    methods = list(zip(last, halves, strict=True))
    text = ", ".join(f"{method_style(c.method).label} {c.mean:.1f} ± {h:.1f}" for c, h in methods)
    if any(cell.mean - half > remainder for cell, half in methods):
        verdict = OPPOSITE
    else:
        is_near = all(cell.mean + half <= remainder for cell, half in methods)
        verdict = YES if is_near else UNCLEAR
    return Finding(f"σ {max(sigmas):g}: {text}; a tenth is {remainder:.1f}", verdict)
