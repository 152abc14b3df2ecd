"""The tables of docs/reproduction.md in Markdown, from the numbers in a folder of results."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

from counterbc.envs import WORLDS
from counterbc.experiments.styles import method_styles
from reproduction.claims import TABLE1, Claim, claims, pooled_teachers
from reproduction.conventions import CONVENTIONS, convention_text, conventions_of
from reproduction.fair_claims import fair_improvements
from reproduction.figure_numbers import Improvement
from reproduction.markdown import markdown_table
from reproduction.numbers import Numbers, interval_text, read_numbers, where
from reproduction.paper import (
    PAPER_IMPROVEMENTS,
    PAPER_METHODS,
    PAPER_RETURNS,
    STAND_IN,
)
from reproduction.plots import title
from reproduction.records import read, read_rows
from reproduction.studies import fair
from reproduction.study_claims import study_claims
from reproduction.verdicts import (
    NO_FINDING,
    OPEN,
    PARTLY,
    YES,
    Finding,
    improvement_finding,
    under_convention,
)

LABELS = {method: style.label for method, style in method_styles(PAPER_METHODS).items()}


def claim_findings(folder: Path) -> list[tuple[Claim, Finding, Finding, str]]:
    """Return every claim with the findings by act=sample and by act=mean, and the verdict.

    act=sample is the paper's protocol and decides, where it applies.
    """
    numbers, findings = read_numbers(folder), []
    for claim in (*claims(numbers), *study_claims(folder)):
        sample, mean = (claim.rule(numbers, act) for act in ("sample", "mean"))
        deciding = mean if sample.verdict == OPEN else sample
        verdict = under_convention(deciding, claim.is_as_in_paper).text
        findings.append((claim, sample, mean, verdict))
    return findings


def summary(folder: Path) -> str:
    """Return the count of each verdict; then a line per claim with a column per world."""
    entries = claim_findings(folder)
    count = Counter(verdict.split(" (")[0] for *_, verdict in entries)
    counts = ", ".join(f"{n} {verdict}" for verdict, n in count.most_common())
    listed_entries = [row for row in entries if row[0].section != TABLE1]
    places = list(dict.fromkeys(claim.place for claim, *_ in listed_entries))
    lines: dict[tuple[str, str], dict[str, str]] = {}
    for claim, _, mean, verdict in sorted(listed_entries, key=_paper_order):
        differs = "" if _is_said(mean, verdict) else f" (mean: {_mean_verdict(claim, mean)})"
        line = lines.setdefault((claim.section, claim.paper), {})
        line[claim.place] = f"{verdict}{differs}"
    rows = [[*key, *(line.get(p, "") for p in places)] for key, line in lines.items()]
    head = f"{len(entries)} verdicts: {counts}. {_elsewhere(entries)}"
    return f"{head}\n\n" + markdown_table(["section", "the paper", *map(title, places)], rows)


def _elsewhere(entries: list[tuple[Claim, Finding, Finding, str]]) -> str:
    """Return how many supported claims have rows that were made in another way than the paper's."""
    count = Counter(verdict for claim, *_, verdict in entries if not claim.is_as_in_paper)
    return (
        f"Of these, {count[YES]} reproduced and {count[PARTLY]} partly rest on rows that were made "
        "in another way than the paper's."
    )


def _paper_order(row: tuple[Claim, Finding, Finding, str]) -> tuple[bool, str]:
    """Return a sorting key: figures 2 and 3 come before section 5."""
    return not row[0].section.startswith("Fig"), row[0].section


def verdicts(folder: Path) -> str:
    """Return the numbers behind each verdict, with their convention and number of runs."""
    numbers = read_numbers(folder)
    rows = [
        [
            c.section, title(c.place), c.paper, _protocol(numbers, c), sample.ours or "–",
            _mean_text(c, mean, verdict), verdict,
        ]
        for c, sample, mean, verdict in claim_findings(folder)
        if c.section != TABLE1
    ]  # fmt: skip
    head = ("section", "where", "the paper", "convention, n", "ours, act=sample", "ours, act=mean")
    return markdown_table((*head, "verdict"), rows)


def _protocol(numbers: Numbers, claim: Claim) -> str:
    """Return whose convention the rows of a claim follow, and how many runs or datasets it has."""
    convention = convention_text(claim.differs)
    if claim.rows:
        return f"{convention}, {claim.rows}"
    cells = [*numbers.figure4.cells, *numbers.figure5.cells, *numbers.figure6.cells]
    runs = [cell.count for cell in where(cells, world=claim.place)]
    if claim.section == "6":
        subjects = max((t.anova.subjects for t in numbers.figure7.statistics), default=0)
        return f"{convention}, {subjects} datasets"
    if claim.section == "Fig. 3":
        runs = [row.runs for row in numbers.figure3.by_radius]
    return f"{convention}, {max(runs)} runs" if runs else "–"


def _is_said(finding: Finding, verdict: str) -> bool:
    """Return whether a verdict, or what its brackets say happened here, is that of a finding."""
    is_same = finding.verdict in (verdict.split(" (")[0], OPEN)
    return is_same or f"({finding.verdict} here" in verdict


def _mean_verdict(claim: Claim, finding: Finding) -> str:
    """Return the verdict by act=mean in short; "here" where the rows cannot refute the claim."""
    is_final = under_convention(finding, claim.is_as_in_paper) == finding
    return finding.verdict if is_final else f"{finding.verdict} here"


def _mean_text(claim: Claim, finding: Finding, verdict: str) -> str:
    """Return the finding by act=mean, with its verdict where that differs."""
    if _is_said(finding, verdict):
        return finding.ours or "–"
    return f"{finding.ours} ({_mean_verdict(claim, finding)})"


def table1(folder: Path) -> str:
    """Return the paper's cells with ours beside them, as differences too.

    A percentage of a return near zero is large whatever the difference is.
    """
    numbers, rows = read_numbers(folder), []
    fair_rows = read_rows(folder / fair.STUDY)
    for world, baselines in PAPER_IMPROVEMENTS.items():
        names = conventions_of(world, pooled_teachers(numbers, world))
        for baseline, paper in baselines.items():
            of_cell = where(numbers.table1.improvements, world=world, baseline=baseline)
            rows.append(_table1_line(world, baseline, paper, of_cell, names))
        for differs, by_act in fair_improvements(fair_rows, world):
            of_cell, baseline = [*by_act.values()], by_act["sample"].baseline
            line = _table1_line(world, baseline, baselines[baseline], of_cell, differs)
            rows.append(line)
    head = ("world", "over", "convention, n", "the paper", "ours, act=sample", "ours, act=mean")
    return markdown_table((*head, "difference, act=sample", "at most", "verdict"), rows)


def _table1_line(
    world: str, baseline: str, paper: float, cells: list[Improvement], names: Sequence[str]
) -> list[str]:
    """Return a line of table 1 from the improvements by each way of acting."""
    by_act = {cell.act: improvement_finding(cell) for cell in cells}
    sample, mean = (by_act.get(act, NO_FINDING) for act in ("sample", "mean"))
    protocol = f"{convention_text(names)}, {cells[0].runs} runs" if cells else "–"
    line = [title(world), LABELS[baseline], protocol, f"{paper:,.0f} %"]
    line += [sample.ours or "–", mean.ours or "–"]
    sample_cells = [cell for cell in cells if cell.act == "sample"]
    line += [f"{interval_text(c.difference)} of {c.other:.1f}" for c in sample_cells] or ["–"]
    largest = WORLDS[world].best_return  # of a policy that never fails
    line += [
        f"{100 * (largest / c.other - 1):.0f} %" if largest else "–" for c in sample_cells
    ] or ["–"]
    return [*line, under_convention(sample, not names).text]


def conventions(folder: Path) -> str:
    """Return how the rows of claims were made, where that is not the paper's way."""
    places: dict[str, dict[str, str]] = {}
    for claim, *_ in claim_findings(folder):
        for name in claim.differs:
            places.setdefault(name, {})[claim.place] = title(claim.place)
    rows = [
        [name, ", ".join(places[name].values()), text]
        for name, text in CONVENTIONS.items()
        if name in places
    ]
    return markdown_table(("convention", "worlds", "what differs from the paper"), rows)


def rewards(folder: Path) -> str:
    """Return figure 4's means at 400 pairs, or at the nearest size."""
    cells, rows = read_numbers(folder).figure4.cells, []
    methods = [m for m in LABELS if m in {cell.method for cell in cells}]
    size = min((c.pairs for c in cells if c.pairs), key=lambda k: abs(k - 400), default=400)
    for act in ("sample", "mean"):
        texts: dict[tuple[str, str], dict[str, str]] = {}
        for c in where(cells, act=act, pairs=size):
            texts.setdefault((c.world, c.teacher), {})[c.method] = f"{c.mean:.2f} ± {c.sem:.2f}"
        for place, by_method in texts.items():
            rows.append([title(*place), act, *(by_method.get(m, "–") for m in methods)])
    return markdown_table(["world, teacher", "act", *(LABELS[m] for m in methods)], rows)


def statistics(folder: Path) -> str:
    """Return the sentence of every ANOVA, figure by figure."""
    numbers, lines = read_numbers(folder), []
    for figure in ("figure4", "figure5", "figure7"):
        for test in numbers.statistics(figure):
            place = title(test.world or "air-hockey", test.teacher or "")
            measure = f", {test.measure.replace('_', ' ')}" if test.measure else ""
            anova = test.anova
            lines.append(
                f"- Figure {figure[-1]}, {place}{measure}, act={test.act}: {anova.text}, "
                f"η² = {anova.effect:.2f}, {anova.subjects} datasets."
            )
    return "\n".join(lines) or "Not run yet."


def demonstrated_returns(folder: Path) -> str:
    """Return the returns of the demonstrations themselves."""
    rows = []
    for row in read_numbers(folder).figure4.shown:
        people, synthetic = PAPER_RETURNS.get(row.world, (None, None))
        paper = people if row.teacher in (STAND_IN, "crowd", "people") else synthetic
        paper_text = "–" if paper is None else f"{paper}"
        our_text = f"{row.mean:.1f} ± {row.std:.1f}"
        rows.append([title(row.world), title("", row.teacher), paper_text, our_text])
    return markdown_table(("world", "teacher", "the paper", "ours (± sd over datasets)"), rows)


def hardware(folder: Path) -> str:
    """Return device and versions of each figure's rows."""
    return markdown_table(
        ("figure", "rows made with"),
        [
            [name, "; ".join(dict.fromkeys(texts))]
            for name, texts in read_numbers(folder).makers().items()
        ],
    )


def seconds(folder: Path) -> str:
    """Return when each stage of a call was finished, for the device of the rows on file."""
    makers, rows = read_numbers(folder).makers(), []
    path = folder / "timings.json"
    for call in read(path) if path.exists() else []:
        place = f"{call.get('gpu', call['device'])}, {call['cores']} cores"
        for stage, timing in call["stages"].items():
            texts = makers.get(stage.split(",")[0], ())
            if any(text.startswith(f"{call['device']},") for text in texts):
                count = f"{timing['computed']} of {timing['of']}"
                rows.append([place, stage, count, f"{timing['seconds']:.0f}"])
    return markdown_table(("machine", "part", "cells", "finished after, s"), rows)


def improvements_in_short(folder: Path) -> str:
    """Return the README's table 1: the paper's percentages above ours, by world."""
    numbers, rows = read_numbers(folder), []
    for world in dict.fromkeys(row.world for row in numbers.table1.improvements):
        paper = PAPER_IMPROVEMENTS.get(world, {})
        lines = {"the paper": paper} if paper else {}
        for act in ("sample", "mean"):
            cells = where(numbers.table1.improvements, world=world, act=act)
            lines[f"ours, act={act}"] = {cell.baseline: cell.percent for cell in cells}
        for k, (name, percents) in enumerate(lines.items() if paper else ()):
            texts = [f"{percents[m]:.0f} %" if m in percents else "–" for m in paper]
            texts = [text.replace("-", "−") for text in texts]
            rows.append(["" if k else title(world), name, *texts])
    return markdown_table(["world", "", *(f"over {LABELS[m]}" for m in PAPER_METHODS[:-1])], rows)


SECTIONS: dict[str, Callable[[Path], str]] = {
    "summary": summary,
    "conventions": conventions,
    "table 1": table1,
    "verdicts": verdicts,
    "rewards": rewards,
    "shown": demonstrated_returns,
    "statistics": statistics,
    "hardware": hardware,
    "seconds": seconds,
}
"""Each table by its mark in docs/reproduction.md."""
