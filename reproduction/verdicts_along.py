"""Rules for claims along the x-axis of figures 4 and 5; their tests are over runs."""

from __future__ import annotations

from collections.abc import Sequence

from counterbc.experiments.styles import method_style
from reproduction.anova import p_text
from reproduction.numbers import Numbers, Test, interval_text, sign, signed_text
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
    tests = numbers.tests("figure4", act, of="epsilon_greedy", world=world)
    if not tests:
        return NO_FINDING
    signs = [sign(t, better=-1) for t in tests]
    higher = [t["difference"]["mean"] < 0 for t in tests]
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
    tests = numbers.tests("figure4", act, of="gains", world=world)
    if not tests:
        return NO_FINDING
    text = ", ".join(
        f"{method_style(t['method']).label} {signed_text(t['difference']['mean'])}"
        + ("" if t["p"] is None else f" ({p_text(t['p'])})")
        for t in tests
    )
    ends = f"from {tests[0]['from']} to {tests[0]['at']} pairs"
    return Finding(f"{ends}: {text}", all_won([sign(t) for t in tests]))


def leads(numbers: Numbers, act: str, world: str) -> Finding:
    """Return whether Counter-BC is above each baseline at every size."""
    tests = numbers.tests("figure4", act, of="leads", world=world)
    if not tests:
        return NO_FINDING
    signs = [sign(t) for t in tests]
    short = {t["at"] for t, s in zip(tests, signs, strict=True) if s != 1}
    sizes = {t["at"] for t in tests}
    text = f"above each at {len(sizes - short)} of {len(sizes)} sizes"
    for words, value in (("not different from", 0), ("below", -1)):
        text += _sizes_text(words, [t for t, s in zip(tests, signs, strict=True) if s == value])
    return Finding(text, all_won(signs))


def _sizes_text(words: str, tests: Sequence[Test]) -> str:
    """Return text such as "; below BC at 800/1600, BCND at 100"."""
    texts: dict[str, list[str]] = {}
    for t in tests:
        texts.setdefault(method_style(t["other"]).label, []).append(f"{t['at']:g}")
    names = ", ".join(f"{name} at {'/'.join(points)}" for name, points in texts.items())
    return f"; {words} {names}" if names else ""


def alike(numbers: Numbers, act: str, world: str) -> Finding:
    """Return whether, without noise, every method equals the best; one that differs denies it."""
    tests = numbers.tests("figure5", act, of="alike", world=world, at=0.0)
    if not tests:
        return NO_FINDING
    best, mean = method_style(tests[0]["best"]).label, tests[0]["mean_of_best"]
    texts = ", ".join(f"{method_style(t['method']).label} {interval_text(t)}" for t in tests)
    text = f"best {best} {mean:.1f}, above it {texts}; ± {MARGIN * abs(mean):.2f} is the same"
    verdicts = {equivalent(t, mean) for t in tests}
    return Finding(text, next(v for v in (OPPOSITE, UNCLEAR, YES) if v in verdicts))


def grows(numbers: Numbers, act: str, world: str) -> Finding:
    """Return whether the lead over each baseline grows from each σ to the next.

    Counter-BC must be above the baseline at the larger σ.
    """
    leads = numbers.tests("figure5", act, of="leads", world=world)
    steps = numbers.tests("figure5", act, of="steps", world=world)
    if not steps:
        return NO_FINDING
    above = {(t["at"], t["other"]) for t in leads if sign(t) == 1}
    signs = [min(sign(t), int((t["at"], t["other"]) in above)) for t in steps]
    over_bc = [t for t in leads if t["other"] == "bc"]
    text = ", ".join(f"{signed_text(t['difference']['mean'])} at σ {t['at']:g}" for t in over_bc)
    counts = f"{signs.count(1)} of {len(signs)} steps up, {signs.count(-1)} down"
    return Finding(f"above BC by {text}; over all baselines {counts}", all_won(signs))


def near_chance(numbers: Numbers, act: str, world: str) -> Finding:
    """Return whether at the largest σ at most a tenth of the best noiseless return remains."""
    from scipy import stats

    cells = numbers.cells("figure5", act, world=world)
    last, first = (cells[cells["sigma"] == edge(cells["sigma"])] for edge in (max, min))
    remainder = CHANCE * first["mean"].max()
    half = stats.t.ppf(0.975, last["count"] - 1) * last["sem"]  # half a 95 % interval
    text = ", ".join(
        f"{method_style(m).label} {mean:.1f} ± {h:.1f}"
        for m, mean, h in zip(last["method"], last["mean"], half, strict=True)
    )
    if (last["mean"] - half > remainder).any():
        verdict = OPPOSITE
    else:
        verdict = YES if (last["mean"] + half <= remainder).all() else UNCLEAR
    return Finding(f"σ {last['sigma'].iloc[0]:g}: {text}; a tenth is {remainder:.1f}", verdict)
