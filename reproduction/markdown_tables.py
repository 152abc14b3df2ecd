"""The tables of docs/reproduction.md in Markdown, from the numbers in a folder of results."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

from counterbc.envs import WORLDS
from counterbc.experiments.styles import method_styles
from reproduction.claims import Claim, claims
from reproduction.numbers import Numbers
from reproduction.paper import PAPER_IMPROVEMENTS, PAPER_METHODS, PAPER_RETURNS
from reproduction.plots import title
from reproduction.records import read
from reproduction.verdicts import OPEN, Finding, improves

TABLE1 = "Table 1"
LABELS = {method: style.label for method, style in method_styles(PAPER_METHODS).items()}


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table, or that there is none yet."""
    if not rows:
        return "Not run yet."
    lines = [" | ".join(cells) for cells in (head, ["---"] * len(head), *rows)]
    return "\n".join(f"| {line} |" for line in lines)


def claim_findings(numbers: Numbers) -> list[tuple[Claim, Finding, Finding, str]]:
    """Return every claim with the findings by act=sample and by act=mean, and the verdict.

    act=sample is the paper's protocol and decides, where it applies.
    """
    findings = []
    for claim in claims(numbers):
        sample, mean = (claim.rule(numbers, act) for act in ("sample", "mean"))
        verdict = mean.verdict if sample.verdict == OPEN else sample.verdict
        findings.append((claim, sample, mean, verdict))
    return findings


def summary(folder: Path) -> str:
    """Return the count of each verdict; then a line per claim with a column per world."""
    entries = claim_findings(Numbers(folder))
    count = Counter(verdict for *_, verdict in entries)
    counts = ", ".join(f"{n} {verdict}" for verdict, n in count.most_common())
    listed_entries = [row for row in entries if row[0].section != TABLE1]
    places = list(dict.fromkeys(claim.place for claim, *_ in listed_entries))
    lines: dict[tuple[str, str], dict[str, str]] = {}
    for claim, _, mean, verdict in sorted(listed_entries, key=_paper_order):
        differs = "" if mean.verdict in (verdict, OPEN) else f" (mean: {mean.verdict})"
        line = lines.setdefault((claim.section, claim.paper), {})
        line[claim.place] = f"{verdict}{differs}"
    rows = [[*key, *(line.get(p, "") for p in places)] for key, line in lines.items()]
    return f"{len(entries)} claims: {counts}.\n\n" + table(
        ["section", "the paper", *map(title, places)], rows
    )


def _paper_order(row: tuple[Claim, Finding, Finding, str]) -> tuple[bool, str]:
    """Return a sorting key: figures 2 and 3 come before section 5."""
    return not row[0].section.startswith("Fig"), row[0].section


def verdicts(folder: Path) -> str:
    """Return the numbers behind each verdict."""
    rows = [
        [c.section, title(c.place), c.paper, sample.ours or "–", _mean_text(mean, verdict), verdict]
        for c, sample, mean, verdict in claim_findings(Numbers(folder))
        if c.section != TABLE1
    ]
    head = ("section", "where", "the paper", "ours, act=sample", "ours, act=mean", "verdict")
    return table(head, rows)


def _mean_text(finding: Finding, verdict: str) -> str:
    """Return the finding by act=mean, with its verdict where that differs."""
    if finding.verdict in (verdict, OPEN):
        return finding.ours or "–"
    return f"{finding.ours} ({finding.verdict})"


def table1(folder: Path) -> str:
    """Return the paper's cells with ours beside them."""
    numbers, rows = Numbers(folder), []
    for world, cells in PAPER_IMPROVEMENTS.items():
        for baseline, paper in cells.items():
            sample, mean = (improves(numbers, act, world, baseline) for act in ("sample", "mean"))
            texts = [f"{paper:,.0f} %", sample.ours or "–", mean.ours or "–"]
            largest = _largest(numbers, world, baseline)
            rows.append([title(world), LABELS[baseline], *texts, largest, sample.verdict])
    head = ("world", "over", "the paper", "ours, act=sample", "ours, act=mean")
    return table((*head, "at most", "verdict"), rows)


def _largest(numbers: Numbers, world: str, baseline: str) -> str:
    """Return the improvement of a policy that never fails, act=sample."""
    largest = WORLDS[world].best_return
    for row in numbers.tests("table1", "sample", of="improvements", world=world, baseline=baseline):
        return f"{100 * (largest / row['other'] - 1):.0f} %" if largest else "–"
    return "–"


def rewards(folder: Path) -> str:
    """Return figure 4's means at 400 pairs, or at the nearest size."""
    numbers, rows = Numbers(folder), []
    entries = numbers.figures.get("figure4", {}).get("cells", [])
    methods = [m for m in LABELS if m in {cell["method"] for cell in entries}]
    for act in ("sample", "mean") if entries else ():
        cells = numbers.cells("figure4", act)
        size = min(cells["pairs"].unique(), key=lambda k: abs(k - 400))
        for (world, teacher), part in cells[cells["pairs"] == size].groupby(
            ["world", "teacher"], sort=False
        ):
            by = part.set_index("method")
            texts = [f"{by.loc[m, 'mean']:.2f} ± {by.loc[m, 'sem']:.2f}" for m in methods]
            rows.append([title(str(world), str(teacher)), act, *texts])
    return table(["world, teacher", "act", *(LABELS[m] for m in methods)], rows)


def statistics(folder: Path) -> str:
    """Return the sentence of every ANOVA, figure by figure."""
    numbers, lines = Numbers(folder), []
    for figure in ("figure4", "figure5", "figure7"):
        for test in numbers.figures.get(figure, {}).get("statistics", []):
            place = title(test.get("world", "air-hockey"), test.get("teacher", ""))
            measure = f", {test['measure'].replace('_', ' ')}" if "measure" in test else ""
            anova = test["anova"]
            lines.append(
                f"- Figure {figure[-1]}, {place}{measure}, act={test['act']}: {anova['text']}, "
                f"η² = {anova['effect']:.2f}, {anova['subjects']} datasets."
            )
    return "\n".join(lines) or "Not run yet."


def demonstrated_returns(folder: Path) -> str:
    """Return the returns of the demonstrations themselves."""
    rows = []
    for row in Numbers(folder).figures.get("figure4", {}).get("shown", []):
        people, synthetic = PAPER_RETURNS.get(row["world"], (None, None))
        paper = people if row["teacher"] in ("crowd", "people") else synthetic
        our_text = f"{row['mean']:.1f} ± {row['std']:.1f}"
        teacher = title("", row["teacher"])
        rows.append([title(row["world"]), teacher, "–" if paper is None else f"{paper}", our_text])
    return table(("world", "teacher", "the paper", "ours (± sd over datasets)"), rows)


def hardware(folder: Path) -> str:
    """Return device and versions of each figure's rows."""
    return table(
        ("figure", "rows made with"),
        [
            [name, "; ".join(dict.fromkeys(numbers["made"]))]
            for name, numbers in Numbers(folder).figures.items()
            if "made" in numbers
        ],
    )


def seconds(folder: Path) -> str:
    """Return when each stage of a call was finished, for the device of the rows on file."""
    numbers, rows = Numbers(folder), []
    path = folder / "timings.json"
    for call in read(path) if path.exists() else []:
        place = f"{call.get('gpu', call['device'])}, {call['cores']} cores"
        for stage, timing in call["stages"].items():
            makers = numbers.figures.get(stage.split(",")[0], {}).get("made", [])
            if any(text.startswith(f"{call['device']},") for text in makers):
                count = f"{timing['computed']} of {timing['of']}"
                rows.append([place, stage, count, f"{timing['seconds']:.0f}"])
    return table(("machine", "part", "populations", "finished after, s"), rows)


SECTIONS: dict[str, Callable[[Path], str]] = {
    "summary": summary,
    "table 1": table1,
    "verdicts": verdicts,
    "rewards": rewards,
    "shown": demonstrated_returns,
    "statistics": statistics,
    "hardware": hardware,
    "seconds": seconds,
}
"""Each table by its mark in docs/reproduction.md."""
