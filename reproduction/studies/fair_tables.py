"""The tables of the study `fair`: means, and each comparison in one word."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np

from counterbc.acting.act import ACTS
from counterbc.acting.intervals import Interval, mean_interval, paired_difference
from counterbc.experiments.styles import method_style
from reproduction.improvement import jackknife
from reproduction.markdown import markdown_table
from reproduction.paper import PAPER_IMPROVEMENTS, PAPER_METHODS
from reproduction.plots import title
from reproduction.records import Record, read_rows
from reproduction.sizes import PAPER_SIZES
from reproduction.studies.fair import (
    CROWD,
    FAIR_WORLDS,
    FOUR_BC,
    PAPER_VARIANTS,
    SCATTERED,
    STUDY,
    SWEEPS,
    TUNED_VARIANTS,
    WHOLE,
    sweep_name,
)
from reproduction.studies.fair_comparisons import (
    ABOVE,
    BELOW,
    by_run,
    compare,
    relative,
    shared_cells,
    word,
)
from reproduction.studies.fair_sizes import sizes
from reproduction.verdicts import all_won

TUNED = "counter-bc, tuned"
COLUMNS = (*PAPER_VARIANTS, *TUNED_VARIANTS)
CANDIDATES = ("counter-bc", TUNED)
BASELINES = tuple(method for method in PAPER_METHODS if method != "counter-bc")


def sections(results: Path) -> dict[str, dict[str, str]]:
    """Return the tables of docs/reproduction.md."""
    rows = read_rows(results / STUDY)
    tables = {"fair table 1": table1(rows), "fair verdicts": verdicts(rows)}
    tables |= {"fair means": means(rows), "fair choices": choices(rows)}
    tables |= {"fair ensemble": ensemble(rows), "fair knob": knob(rows)}
    tables |= {"fair teachers": by_teacher(rows)}
    tables |= {"fair people": people(rows), "fair sizes": sizes(rows)}
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


def places(rows: Iterable[Record]) -> Iterator[tuple[str, str, list[Record]]]:
    """Yield the rows of figures 4 and 7 of each world and way of taking pairs."""
    main_rows = [row for row in rows if row["sigma"] in (None, 0.5)]
    for world in FAIR_WORLDS:
        for protocol in (SCATTERED, WHOLE):
            group = [r for r in main_rows if (r["world"], r["taken"]) == (world, protocol)]
            if group:
                yield world, protocol, group


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


def at_400(rows: Iterable[Record]) -> Iterator[tuple[list[str], str, str, list[Record]]]:
    """Yield the rows of 400 pairs of each kind of demonstrations and way of acting.

    With the first columns of their line, the teacher and the way of acting.
    """
    for world, protocol, group in places([r for r in rows if r["pairs"] == 400]):
        for teacher in dict.fromkeys(r["teacher"] for r in group):
            for act in reversed(ACTS):
                part = [r for r in group if (r["teacher"], r["act"]) == (teacher, act)]
                yield [title(world, teacher), protocol], teacher, act, part


def by_teacher(rows: list[Record]) -> str:
    """Return where Counter-BC helps: against BC and against tuned BC, by teacher at 400 pairs."""
    pairs = [("counter-bc", "bc"), ("counter-bc", "bc, tuned"), ("bc, tuned", "bc")]
    pairs.append((TUNED, "bc, tuned"))
    lines = []
    for words, _, act, part in at_400(rows):
        texts = [compare(part, *pair, len(pairs)) for pair in pairs]
        if set(texts) != {"–"}:
            lines.append([*words, act, *texts])
    head = [f"{label(candidate)} over {label(rival)}" for candidate, rival in pairs]
    return markdown_table(["world, teacher", "pairs", "act", *head], lines)


def summary(rows: list[Record]) -> str:
    """Return the table of the README: three comparisons of `by_teacher`, act=sample, in short."""
    pairs = [("counter-bc", "bc"), ("counter-bc", "bc, tuned"), (TUNED, "bc, tuned")]
    lines = []
    for words, _, act, part in at_400(rows):
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


def people(rows: list[Record]) -> str:
    """Return Counter-BC against the paper's baselines from the crowd that reacts as late as people.

    Intervals are adjusted over the baselines of the world. The verdict is the one on the claim that
    Counter-BC is above each of them; it needs all of them.
    """
    lines = []
    for words, teacher, act, part in at_400(rows):
        baselines = paper_baselines(part[0]["world"])
        results = [relative(part, "counter-bc", m, len(baselines)) for m in baselines]
        if teacher == CROWD and any(results):
            texts = {m: compare(part, "counter-bc", m, len(baselines)) for m in baselines}
            signs = [(r[1] == ABOVE) - (r[1] == BELOW) for r in results if r]
            verdict = all_won(signs) if all(results) else "–"
            columns = [texts.get(m, "") for m in BASELINES]
            lines.append([*words, act, *columns, verdict])
    head = ["world, teacher", "pairs", "act", *map(label, BASELINES), "above each"]
    return markdown_table(head, lines)


def paper_baselines(world: str) -> list[str]:
    """Return the methods that the paper compares Counter-BC with in a world."""
    return [m for m in BASELINES if world != "air-hockey" or m != "bc-rnn"]


def means(rows: list[Record]) -> str:
    """Return the mean ± standard error of every variant at 400 pairs."""
    variants, lines = present(rows), []
    for words, _, act, part in at_400(rows):
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
    """Return whether BCND differs from four BC networks that learn from the same shards."""
    lines = []
    for world, protocol, group in places(rows):
        for act in reversed(ACTS):
            part = [r for r in group if r["act"] == act]
            if by_run(part, ("bcnd", FOUR_BC, "bc")) is not None:
                texts = [compare(part, *pair, 1) for pair in (("bcnd", "bc"), (FOUR_BC, "bc"))]
                lines.append(
                    [title(world), protocol, act, *texts, compare(part, "bcnd", FOUR_BC, 1)]
                )
    head = ["world", "pairs", "act", "BCND above BC", "four BC above BC", "BCND above four BC"]
    return markdown_table(head, lines)


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
