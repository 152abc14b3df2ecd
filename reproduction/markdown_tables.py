"""The tables of the page on the reproduction, in Markdown, from the numbers of a folder."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from counterbc.experiments.plots import LABELS, TEACHERS, title
from reproduction.claims import Claim, claims
from reproduction.improvement import MOST, PAPER
from reproduction.numbers import Numbers
from reproduction.verdicts import OPEN, Finding, improves

TABLE1 = "Table 1"
SHOWN = {"intersection": (12.3, 13.1), "cartpole": (30.3, 26.6)}
"""The paper's mean returns of demonstrations: of people, of its synthetic teachers."""


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    if not rows:
        return "Not run yet."
    lines = [" | ".join(cells) for cells in (head, ["---"] * len(head), *rows)]
    return "\n".join(f"| {line} |" for line in lines)


def judged(numbers: Numbers) -> list[tuple[Claim, Finding, Finding, str]]:
    """Every claim with what was found by act=sample and by act=mean, and the verdict.

    act=sample is the paper's protocol and decides, where it applies.
    """
    found = []
    for claim in claims(numbers):
        sample, mean = (claim.judge(numbers, act) for act in ("sample", "mean"))
        verdict = mean.verdict if sample.verdict == OPEN else sample.verdict
        found.append((claim, sample, mean, verdict))
    return found


def summary(folder: Path) -> str:
    """How many there are of each verdict; then a line per claim, a column per world."""
    every = judged(Numbers(folder))
    count = Counter(verdict for *_, verdict in every)
    said = ", ".join(f"{n} {verdict}" for verdict, n in count.most_common())
    shown = [row for row in every if row[0].section != TABLE1]
    places = list(dict.fromkeys(claim.where for claim, *_ in shown))
    lines: dict[tuple[str, str], dict[str, str]] = {}
    for claim, _, mean, verdict in sorted(shown, key=_place):
        differs = "" if mean.verdict in (verdict, OPEN) else f" (mean: {mean.verdict})"
        line = lines.setdefault((claim.section, claim.paper), {})
        line[claim.where] = f"{verdict}{differs}"
    rows = [[*key, *(line.get(p, "") for p in places)] for key, line in lines.items()]
    return f"{len(every)} claims: {said}.\n\n" + table(
        ["section", "the paper", *map(title, places)], rows
    )


def _place(row: tuple[Claim, Finding, Finding, str]) -> tuple[bool, str]:
    """In the paper's order: figures 2 and 3 come before section 5."""
    return not row[0].section.startswith("Fig"), row[0].section


def verdicts(folder: Path) -> str:
    """The numbers behind each verdict."""
    rows = [
        [c.section, title(c.where), c.paper, sample.ours or "–", _aside(mean, verdict), verdict]
        for c, sample, mean, verdict in judged(Numbers(folder))
        if c.section != TABLE1
    ]
    head = ("section", "where", "the paper", "ours, act=sample", "ours, act=mean", "verdict")
    return table(head, rows)


def _aside(finding: Finding, verdict: str) -> str:
    """With its own verdict where that is another one."""
    if finding.verdict in (verdict, OPEN):
        return finding.ours or "–"
    return f"{finding.ours} ({finding.verdict})"


def table1(folder: Path) -> str:
    """The paper's cells, ours beside them; what was not run stands open."""
    numbers, rows = Numbers(folder), []
    for world, cells in PAPER.items():
        for baseline, paper in cells.items():
            sample, mean = (improves(numbers, act, world, baseline) for act in ("sample", "mean"))
            texts = [f"{paper:,.0f} %", sample.ours or "–", mean.ours or "–"]
            most = _most(numbers, world, baseline)
            rows.append([title(world), LABELS[baseline], *texts, most, sample.verdict])
    head = (
        "world",
        "over",
        "the paper",
        "ours, act=sample",
        "ours, act=mean",
        "at most",
        "verdict",
    )
    return table(head, rows)


def _most(numbers: Numbers, world: str, baseline: str) -> str:
    """What a policy that never fails would improve by, act=sample."""
    for row in numbers.said.get("table1", {}).get("improvements", []):
        if (row["world"], row["act"], row["baseline"]) == (world, "sample", baseline):
            most = MOST.get(world)
            return f"{100 * (most / row['other'] - 1):.0f} %" if most else "–"
    return "–"


def rewards(folder: Path) -> str:
    """Figure 4's means at 400 pairs, or at the size nearest to it."""
    numbers, rows = Numbers(folder), []
    every = numbers.said.get("figure4", {}).get("cells", [])
    methods = [m for m in LABELS if m in {cell["method"] for cell in every}]
    for act in ("sample", "mean") if every else ():
        cells = numbers.cells("figure4", act)
        size = min(cells["pairs"].unique(), key=lambda k: abs(k - 400))
        for (world, teacher), own in cells[cells["pairs"] == size].groupby(
            ["world", "teacher"], sort=False
        ):
            by = own.set_index("method")
            texts = [f"{by.loc[m, 'mean']:.2f} ± {by.loc[m, 'sem']:.2f}" for m in methods]
            rows.append([title(str(world), str(teacher)), act, *texts])
    return table(["world, teacher", "act", *(LABELS[m] for m in methods)], rows)


def statistics(folder: Path) -> str:
    """The sentence of every ANOVA, figure by figure."""
    numbers, lines = Numbers(folder), []
    for figure in ("figure4", "figure5", "figure7"):
        for test in numbers.said.get(figure, {}).get("statistics", []):
            where = title(test.get("world", "air-hockey"), test.get("teacher", ""))
            measure = f", {test['measure'].replace('_', ' ')}" if "measure" in test else ""
            found = test["anova"]
            lines.append(
                f"- Figure {figure[-1]}, {where}{measure}, act={test['act']}: {found['text']}, "
                f"η² = {found['effect']:.2f}, {found['subjects']} datasets."
            )
    return "\n".join(lines) or "Not run yet."


def shown(folder: Path) -> str:
    """How well the demonstrators do themselves."""
    rows = []
    for row in Numbers(folder).said.get("figure4", {}).get("shown", []):
        people, synthetic = SHOWN.get(row["world"], (None, None))
        paper = people if row["teacher"] in ("crowd", "people") else synthetic
        ours = f"{row['mean']:.1f} ± {row['std']:.1f}"
        name = TEACHERS.get(row["teacher"], row["teacher"])
        rows.append([title(row["world"]), name, "–" if paper is None else f"{paper}", ours])
    return table(("world", "teacher", "the paper", "ours (± sd over datasets)"), rows)


def hardware(folder: Path) -> str:
    """Device and versions of each figure's rows."""
    every = Numbers(folder).said.items()
    return table(
        ("figure", "rows made with"),
        [[name, "; ".join(dict.fromkeys(said["made"]))] for name, said in every if "made" in said],
    )


def seconds(folder: Path) -> str:
    """After how many seconds of a call each part was finished, on the device of the rows here."""
    numbers, rows = Numbers(folder), []
    files = [folder / "seconds.json", *sorted(folder.glob("*/seconds.json"))]
    texts = [file.read_text(encoding="utf-8") for file in files if file.exists()]
    for call in (call for text in texts for call in json.loads(text)):
        where = f"{call.get('gpu', call['device'])}, {call['cores']} cores"
        for part, found in call["parts"].items():
            made = numbers.said.get(part.split(",")[0], {}).get("made", [])
            if any(text.startswith(f"{call['device']},") for text in made):
                count = f"{found['computed']} of {found['of']}"
                rows.append([where, part, count, f"{found['seconds']:.0f}"])
    return table(("machine", "part", "populations", "finished after, s"), rows)
