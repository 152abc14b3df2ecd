"""The tables of Car Racing under the paper's conventions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from counterbc.acting.act import ACTS
from counterbc.acting.intervals import mean_interval, paired_difference
from counterbc.data.arrays import Array
from reproduction.anova import ALPHA
from reproduction.improvement import jackknife
from reproduction.markdown import markdown_table
from reproduction.paper import PAPER_IMPROVEMENTS, PAPER_METHODS
from reproduction.plots import TEACHER_LABELS
from reproduction.records import Record, read_rows
from reproduction.studies.car_racing_paper import CURVE, PEDALS, STEPS, STUDY, TUNED, WORLD
from reproduction.studies.fair_comparisons import word
from reproduction.studies.fair_tables import label
from reproduction.verdicts import Finding, under_convention

COMPARED = (*PAPER_METHODS, TUNED)
"""The columns of the comparison: Counter-BC, and the methods that it is compared with."""


def sections(results: Path) -> dict[str, dict[str, str]]:
    """Return the tables of docs/car-racing.md."""
    rows = read_rows(results / STUDY)
    tables = {"paper conventions": comparison(rows), "paper table 1": table1(rows)}
    return {WORLD: tables | {"paper steps": curve(rows), "paper pedals": pedals(rows)}}


def values_of(rows: Sequence[Record], variant: str, name: str = "tiles") -> Array:
    """Return the numbers of a variant by seed."""
    group = sorted((r for r in rows if r["variant"] == variant), key=lambda r: int(r["seed"]))
    return np.array([r[name] for r in group], np.float64)


def parts(rows: Sequence[Record]) -> Iterator[tuple[list[str], list[Record]]]:
    """Yield the rows of each noise and way of acting, with both in words."""
    for noise in dict.fromkeys(r["noise"] for r in rows):
        for act in reversed(ACTS):
            group = [r for r in rows if (r["noise"], r["act"]) == (noise, act)]
            yield [TEACHER_LABELS.get(noise, noise), act], group


def mean_text(values: Array) -> str:
    """Return mean ± standard error."""
    if not len(values):
        return "–"
    interval = mean_interval(values)
    return f"{interval.mean:.1f} ± {interval.se:.1f}".replace("-", "−")


def comparison(rows: list[Record]) -> str:
    """Return tiles visited by every method, and Counter-BC above each in one word."""
    lines = []
    for words, group in parts(rows):
        teacher_return = f"{np.mean([r['shown'] for r in group]):.0f}"
        texts = [_with_word(group, variant) for variant in COMPARED]
        lines.append([*words, str(len({r["seed"] for r in group})), teacher_return, *texts])
    return markdown_table(["noise", "act", "n", "shown", *map(label, COMPARED)], lines)


def _with_word(rows: Sequence[Record], variant: str) -> str:
    counter_runs, rival_runs = values_of(rows, "counter-bc"), values_of(rows, variant)
    text = mean_text(rival_runs)
    if variant == "counter-bc" or not len(rival_runs) or len(counter_runs) != len(rival_runs):
        return text
    return f"{text} ({adjusted_word(counter_runs, rival_runs)})"


def adjusted_word(counter_runs: Array, rival_runs: Array) -> str:
    """Return one word on a difference, adjusted over the methods that Counter-BC is compared with.

    Those are the paper's four baselines and tuned BC.
    """
    level = 1 - ALPHA / (len(COMPARED) - 1)
    difference = paired_difference(counter_runs, rival_runs, level=level).interval
    return word(difference, float(rival_runs.mean()))


@dataclass(frozen=True)
class Improvement:
    """Counter-BC against one baseline: a line of table 1 under the paper's conventions."""

    noise: str
    act: str
    runs: int
    baseline: str
    paper: float
    percent: str
    difference: str
    in_return: str
    verdict: str
    """By the rule of table 1, for this comparison alone."""
    adjusted: str
    """One word on the same difference, adjusted over all comparisons of its line."""


def improvements(rows: Sequence[Record]) -> Iterator[Improvement]:
    """Yield the improvement over each baseline in per cent of tiles, beside the paper's.

    The same in per cent of the game's return shows what a baseline near 0 does to a percentage.
    """
    for (noise, act), group in parts(rows):
        for baseline, paper in PAPER_IMPROVEMENTS[WORLD].items():
            counter_runs, rival_runs = (values_of(group, name) for name in ("counter-bc", baseline))
            if len(counter_runs) == len(rival_runs) > 1:
                percent, difference, verdict = _improvement(counter_runs, rival_runs, paper)
                returns = [values_of(group, name, "return") for name in ("counter-bc", baseline)]
                text = f"{_percent(*returns):,.0f} % of {returns[1].mean():.0f}"
                yield Improvement(
                    noise, act, len(rival_runs), baseline, paper,
                    percent=percent, difference=difference, in_return=text.replace("-", "−"),
                    verdict=verdict, adjusted=adjusted_word(counter_runs, rival_runs),
                )  # fmt: skip


def table1(rows: list[Record]) -> str:
    """Return table 1 under the paper's conventions, with the adjusted word beside each verdict."""
    lines = [
        [
            x.noise, x.act, label(x.baseline), f"{x.paper:,.0f} %", x.percent, x.difference,
            x.in_return, under_convention(Finding("", x.verdict), False).text, x.adjusted,
        ]
        for x in improvements(rows)
    ]  # fmt: skip
    head = ["noise", "act", "over", "the paper", "ours, in tiles", "difference in tiles"]
    return markdown_table([*head, "the same in return", "verdict, unadjusted", "adjusted"], lines)


def _percent(counter_runs: Array, rival_runs: Array) -> float:
    return float(100 * (counter_runs.mean() - rival_runs.mean()) / abs(rival_runs.mean()))


def _improvement(counter_runs: Array, rival_runs: Array, paper: float) -> list[str]:
    """Return per cent with its interval, the difference, and the verdict of table 1."""
    low, high = jackknife(np.stack([counter_runs, rival_runs], axis=1))
    difference = paired_difference(counter_runs, rival_runs).interval
    verdict = "contradicted" if high < 0 else "partly"
    if low <= 0 <= high:
        verdict = "cannot tell"
    elif low <= paper <= high:
        verdict = "reproduced"
    texts = [
        f"{_percent(counter_runs, rival_runs):.0f} % [{low:.0f}, {high:.0f}]",
        f"{difference.mean:+.1f} [{difference.low:+.1f}, {difference.high:+.1f}]",
    ]
    return [*(text.replace("-", "−") for text in texts), verdict]


def curve(rows: list[Record]) -> str:
    """Return tiles visited after each number of steps."""
    counts, lines = [*CURVE, STEPS], []
    for words, group in parts(rows):
        for name in ("bc", "counter-bc"):
            names = [f"{name}, {n} steps" for n in CURVE] + [name]
            texts = [mean_text(values_of(group, variant)) for variant in names]
            if any(text != "–" for text in texts[:-1]):
                lines.append([*words, label(name), *texts])
    return markdown_table(["noise", "act", "method", *(f"{n:,}" for n in counts)], lines)


def pedals(rows: list[Record]) -> str:
    """Return tiles visited by what BC and Counter-BC learn from."""
    lines = []
    for words, group in parts(rows):
        if not any(r["variant"].endswith(PEDALS) for r in group):
            continue
        for way in ("", *PEDALS):
            names = [f"{name}, {way}" if way else name for name in ("bc", "counter-bc")]
            base, counter_runs = (values_of(group, name) for name in names)
            if len(base) == len(counter_runs) > 1:
                difference = paired_difference(counter_runs, base).interval
                text = f"{difference.mean:+.1f} [{difference.low:+.1f}, {difference.high:+.1f}]"
                verdict = word(difference, float(base.mean()))
                means = [mean_text(base), mean_text(counter_runs)]
                lines.append([*words, way or "asked for", *means, text.replace("-", "−"), verdict])
    head = ["noise", "act", "learned from actions", "BC", "Counter-BC", "above BC", "verdict"]
    return markdown_table(head, lines)
