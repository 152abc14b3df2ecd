"""The tables of the study `fair`: means, and each comparison in one word."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from counterbc.acting.act import ACTS
from counterbc.acting.intervals import Interval, mean_interval, paired_difference
from counterbc.demonstrators import NOISES
from counterbc.experiments.styles import method_style
from reproduction.improvement import jackknife
from reproduction.markdown import markdown_table
from reproduction.paper import PAPER_IMPROVEMENTS
from reproduction.plots import title
from reproduction.records import Record, read_rows
from reproduction.sizes import PAPER_SIZES
from reproduction.studies.fair import (
    FAIR_WORLDS,
    FOUR_BC,
    PAPER_VARIANTS,
    STUDY,
    SWEEPS,
    TUNED_VARIANTS,
    sweep_name,
)
from reproduction.studies.fair_comparisons import (
    at_size,
    by_run,
    compare,
    places,
    relative,
    shared_cells,
    word,
)
from reproduction.studies.fair_kinds import CROWD
from reproduction.studies.fair_others import AGAIN, OTHERS, others
from reproduction.studies.fair_people import people
from reproduction.studies.fair_sizes import not_run, sizes

TUNED = "counter-bc, tuned"
COLUMNS = (*PAPER_VARIANTS, *TUNED_VARIANTS)
CANDIDATES = ("counter-bc", TUNED)


def sections(results: Path) -> dict[str, dict[str, str]]:
    """Return the tables of docs/reproduction.md."""
    rows = read_rows(results / STUDY)
    tables = {"fair table 1": table1(rows), "fair verdicts": verdicts(rows)}
    tables |= {"fair means": means(rows), "fair choices": choices(rows)}
    tables |= {"fair ensemble": ensemble(rows), "fair knob": knob(rows)}
    tables |= {"fair teachers": by_teacher(rows)}
    tables |= {f"fair teachers {size}": by_teacher(rows, size) for size in (100, 1600)}
    tables |= {"fair people": people(rows), "fair sizes": sizes(rows)}
    again_rows = read_rows(results / AGAIN / STUDY)
    tables |= {"fair others": others(rows, *OTHERS), "fair again": others(again_rows, OTHERS[0])}
    tables |= {"fair along pairs": along(rows, "pairs")}
    tables |= {"fair along noise": along(rows, "sigma")}
    tables |= {"fair not run": not_run(rows)}
    return {"reproduction": tables, "README": {"fair summary": summary(rows)}}


def label(variant: str) -> str:
    """Return the name of a variant in tables and figures."""
    if variant == FOUR_BC:
        return "four BC"
    name, _, rest = variant.partition(", ")
    return f"{method_style(name).label}, {rest}" if rest else method_style(name).label


def present(rows: Iterable[Record]) -> list[str]:
    """Return the variants that have rows, in the order of the tables."""
    variants = {row["variant"] for row in rows}
    return [variant for variant in COLUMNS if variant in variants]


def verdicts(rows: list[Record]) -> str:
    """Return Counter-BC, as in the paper and tuned, against every other variant."""
    variants, lines = present(rows), []
    for world, protocol, group in places(rows):
        for act, candidate in ((act, c) for act in ACTS for c in CANDIDATES):
            part = [r for r in group if r["act"] == act]
            rivals = [v for v in present(part) if v != candidate]
            cells = {v: compare(part, candidate, v, len(rivals)) for v in rivals}
            if set(cells.values()) <= {"–"}:
                continue
            texts = ["" if v == candidate else cells.get(v, "–") for v in variants]
            lines.append([title(world), protocol, act, label(candidate), *texts])
    return markdown_table(["world", "pairs", "act", "Counter-BC", *map(label, variants)], lines)


def table1(rows: list[Record]) -> str:
    """Return table 1 with the same baseline at 10,000 steps and tuned."""
    lines = []
    for world, protocol, group in places(rows):
        for baseline, paper in PAPER_IMPROVEMENTS.get(world, {}).items():
            pairs = ("counter-bc", baseline), ("counter-bc", f"{baseline}, tuned")
            for act in reversed(ACTS):
                part = [r for r in group if r["act"] == act]
                texts = [_percent(part, *pair) for pair in (*pairs, (TUNED, pairs[1][1]))]
                lines.append([
                    title(world), protocol, method_style(baseline).label, act, f"{paper:g} %",
                    *texts, _word(part, TUNED, pairs[1][1]),
                ])  # fmt: skip
    head = ["world", "pairs", "over", "act", "the paper", "as in the paper"]
    return markdown_table([*head, "baseline tuned", "both tuned", "tuned alike"], lines)


def _percent(rows: Sequence[Record], candidate: str, baseline: str) -> str:
    """Return 100 · (C − B) / |B| with its jackknife-t interval, as in table 1."""
    runs = by_run(rows, (candidate, baseline))
    if runs is None or len(runs) < 2:
        return "–"
    counter_runs, rival_runs = runs.mean(axis=0)
    low, high = jackknife(runs)
    percent = 100 * (counter_runs - rival_runs) / abs(rival_runs)
    digits = 1 if abs(percent) < 10 else 0
    text = f"{percent:.{digits}f} % [{low:.{digits}f}, {high:.{digits}f}]"
    return text.replace("-0.0", "0.0").replace("-", "−") + _coverage(rows, candidate, baseline)


def _coverage(rows: Sequence[Record], candidate: str, baseline: str) -> str:
    """Return how many of the kinds of demonstrations both variants have, where it is not all."""
    count = len(shared_cells(rows, (candidate, baseline)))
    total = len(shared_cells(rows, ()))
    return "" if count == total else f" ({count} of {total} kinds)"


def _word(rows: Sequence[Record], candidate: str, rival: str) -> str:
    runs = by_run(rows, (candidate, rival))
    if runs is None:
        return "not run"
    return word(paired_difference(*runs.T).interval, float(runs[:, 1].mean()))


def by_teacher(rows: list[Record], size: int = 400) -> str:
    """Return where Counter-BC helps: against BC and against tuned BC, by teacher at one size."""
    pairs = [("counter-bc", "bc"), ("counter-bc", "bc, tuned"), ("bc, tuned", "bc")]
    pairs.append((TUNED, "bc, tuned"))
    lines = []
    for words, _, act, part in at_size(rows, size):
        texts = [compare(part, *pair, len(pairs)) for pair in pairs]
        if set(texts) != {"–"}:
            lines.append([*words, act, *texts])
    head = [f"{label(candidate)} over {label(rival)}" for candidate, rival in pairs]
    return markdown_table(["world, teacher", "pairs", "act", *head], lines)


def summary(rows: list[Record]) -> str:
    """Return the table of the README: three comparisons of `by_teacher`, act=sample, in short."""
    pairs = [("counter-bc", "bc"), ("counter-bc", "bc, tuned"), (TUNED, "bc, tuned")]
    lines = []
    for words, _, act, part in at_size(rows):
        results = [relative(part, *pair, 4) for pair in pairs]  # adjusted as in `by_teacher`
        if act == "sample" and any(results):
            lines.append([*words, *map(_short, results)])
    head = ["Counter-BC over BC, both 10,000 steps", "Counter-BC over tuned BC", "both tuned"]
    return markdown_table(["world, teacher", "pairs", *head], lines)


def _short(result: tuple[Interval, str] | None) -> str:
    if result is None:
        return "not run"
    mean = f"{result[0].mean:+.1f}"
    return f"{'0.0' if mean[1:] == '0.0' else mean.replace('-', '−')} {result[1]}"


def means(rows: list[Record]) -> str:
    """Return the mean ± standard error of every variant at 400 pairs."""
    variants, lines = present(rows), []
    for words, _, act, part in at_size(rows):
        teacher_return = f"{np.mean([r['shown'] for r in part]):.1f}"
        texts = [_mean(part, variant) for variant in variants]
        lines.append([*words, act, str(len({r["seed"] for r in part})), teacher_return, *texts])
    head = ["world, teacher", "pairs", "act", "n", "shown", *map(label, variants)]
    return markdown_table(head, lines)


def _mean(rows: Iterable[Record], variant: str) -> str:
    values = np.array([r["return"] for r in rows if r["variant"] == variant], np.float64)
    if not len(values):
        return "–"
    interval = mean_interval(values)
    return f"{interval.mean:.2f} ± {interval.se:.2f}".replace("-", "−")


def along(rows: list[Record], column: str) -> str:
    """Return the means of BC and Counter-BC, fixed and tuned, at each size or σ.

    A cell has the four means in this order; a dash stands for what was not run.
    """
    if column == "sigma":
        rows = [r for r in rows if r["pairs"] == 400 and r["teacher"] == "uniform"]
    else:
        rows = [r for r in rows if r["sigma"] in (None, 0.5)]
    variants = ("bc", "counter-bc", "bc, tuned", TUNED)
    values: dict[tuple[str, ...], dict[Any, dict[str, list[float]]]] = {}
    for r in rows:
        if r["variant"] in variants and r["return"] is not None:
            line = r["world"], r["taken"], r["teacher"], r["act"]
            cell = values.setdefault(line, {}).setdefault(r[column], {})
            cell.setdefault(r["variant"], []).append(r["return"])
    values = {line: cells for line, cells in values.items() if len(cells) > 1}
    x = sorted({value for cells in values.values() for value in cells})
    lines = [
        [title(world, teacher), protocol, act]
        + [" / ".join(_short_mean(cells.get(v, {}).get(name)) for name in variants) for v in x]
        for (world, protocol, teacher, act), cells in sorted(values.items(), key=_line_order)
    ]
    name = "σ" if column == "sigma" else "pairs"
    head = ["world, teacher", "pairs taken", "act", *(f"{v:g} {name}" for v in x)]
    return markdown_table(head, lines)


def _line_order(item: tuple[tuple[str, ...], object]) -> tuple[int, str, int, str]:
    (world, protocol, teacher, act), _ = item
    return FAIR_WORLDS.index(world), protocol, [*NOISES, CROWD].index(teacher), act


def _short_mean(values: list[float] | None) -> str:
    mean = np.mean(values) if values else None
    return "–" if mean is None else f"{mean:.1f}"


def choices(rows: list[Record]) -> str:
    """Return what the search chose at 400 pairs: medians of lag, Δ and steps."""
    lines = []
    for world, protocol, group in places([r for r in rows if r["pairs"] == 400]):
        for teacher in dict.fromkeys(r["teacher"] for r in group):
            for variant in ("bc, tuned", TUNED):
                part = [r for r in group if (r["teacher"], r["variant"]) == (teacher, variant)]
                if part:
                    lag, radius, steps = (
                        np.median([r[name] for r in part]) for name in ("lag", "radius", "steps")
                    )
                    texts = [f"{lag:.3g}", f"{radius:g}", f"{steps:,.0f}"]
                    lines.append([title(world, teacher), protocol, label(variant), *texts])
    return markdown_table(["world, teacher", "pairs", "variant", "lag, steps", "Δ", "steps"], lines)


def ensemble(rows: list[Record]) -> str:
    """Return whether BCND differs from four BC networks that learn from the same shards.

    The noises together come first, then every teacher alone: the crowd has another answer.
    """
    pairs, lines = (("bcnd", "bc"), (FOUR_BC, "bc"), ("bcnd", FOUR_BC)), []
    for world, protocol, group in places(rows):
        for teachers in _noises_then_each(group):
            for act in reversed(ACTS):
                part = [r for r in group if r["act"] == act and r["teacher"] in teachers]
                texts = [compare(part, *pair, 1) for pair in pairs]
                if "–" not in texts:
                    name = title("", teachers[0]) if len(teachers) == 1 else "all noises"
                    lines.append([title(world), protocol, name, act, *texts])
    head = ["BCND over BC", "four BC over BC", "BCND over four BC"]
    return markdown_table(["world", "pairs", "teacher", "act", *head], lines)


def _noises_then_each(rows: Iterable[Record]) -> list[tuple[str, ...]]:
    """Return the teachers of the rows: the noises together if there are several, then each."""
    teachers = tuple(dict.fromkeys(r["teacher"] for r in rows))
    noises = tuple(teacher for teacher in teachers if teacher != CROWD)
    return [*([noises] if len(noises) > 1 else []), *((teacher,) for teacher in teachers)]


def knob(rows: list[Record]) -> str:
    """Return the mean return by Δ and number of steps under uniform noise; Δ 0 is BC."""
    lines = []
    for world, protocol, group in places([r for r in rows if r["pairs"] == 400]):
        for act in reversed(ACTS):
            part = [r for r in group if (r["teacher"], r["act"]) == ("uniform", act)]
            for steps in sorted(SWEEPS.values()):
                texts = [_mean(part, sweep_name(r, steps)) for r in PAPER_SIZES.radii]
                if any(text != "–" for text in texts):
                    lines.append([title(world), protocol, act, f"{steps:,}", *texts])
    head = ["world", "pairs", "act", "steps", *(f"Δ {r:g}" for r in PAPER_SIZES.radii)]
    return markdown_table(head, lines)
