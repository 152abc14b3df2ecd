"""Writes what came of the studies into a page, so that no number in it is copied by hand.

python -m counterbc.studies.page results docs/reproduction.md
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

from counterbc.errors import CounterBCError, FormatError
from counterbc.files import aside
from counterbc.studies.claims import claims
from counterbc.studies.judges import OPEN, Finding
from counterbc.studies.numbers import Numbers
from counterbc.studies.plots import LABELS


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """In Markdown."""
    if not rows:
        return "Not run yet."
    lines = [" | ".join(cells) for cells in (head, ["---"] * len(head), *rows)]
    return "\n".join(f"| {line} |" for line in lines)


def verdicts(folder: Path) -> str:
    """A line per claim and world, and how many there are of each verdict.

    act=sample is the paper's protocol and decides, where it applies.
    """
    numbers, rows = Numbers(folder), []
    for claim in claims(numbers):
        sample, mean = (claim.judge(numbers, act) for act in ("sample", "mean"))
        verdict = mean.verdict if sample.verdict == OPEN else sample.verdict
        found = [sample.ours or "–", _aside(mean, verdict), verdict]
        rows.append([claim.section, claim.where, claim.paper, *found])
    count = Counter(row[-1] for row in rows)
    said = ", ".join(f"{n} {verdict}" for verdict, n in count.most_common())
    head = ("section", "where", "the paper", "ours, act=sample", "ours, act=mean", "verdict")
    return f"{len(rows)} claims: {said}.\n\n{table(head, rows)}"


def _aside(finding: Finding, verdict: str) -> str:
    """With its own verdict where that is another one."""
    if finding.verdict in (verdict, OPEN):
        return finding.ours or "–"
    return f"{finding.ours} ({finding.verdict})"


def rewards(folder: Path) -> str:
    """Figure 4's means at 400 pairs, or at the size nearest to it."""
    numbers, rows = Numbers(folder), []
    methods = [m for m in LABELS if m in set(_column(numbers, "method"))]
    for act in ("sample", "mean"):
        cells = numbers.cells("figure4", act) if numbers.worlds("figure4") else None
        if cells is None:
            continue
        size = min(cells["pairs"].unique(), key=lambda k: abs(k - 400))
        for (world, teacher), own in cells[cells["pairs"] == size].groupby(
            ["world", "teacher"], sort=False
        ):
            by = own.set_index("method")
            texts = [f"{by.loc[m, 'mean']:.2f} ± {by.loc[m, 'sem']:.2f}" for m in methods]
            rows.append([str(world), str(teacher), act, *texts])
    return table(["world", "teacher", "act", *(LABELS[m] for m in methods)], rows)


def _column(numbers: Numbers, name: str) -> list[str]:
    return [cell[name] for cell in numbers.said.get("figure4", {}).get("cells", [])]


def seconds(folder: Path) -> str:
    """After how many seconds of a call each part was finished."""
    path, rows = folder / "seconds.json", []
    for call in json.loads(path.read_text(encoding="utf-8")) if path.exists() else []:
        where = f"{call.get('gpu', call['device'])}, {call['cores']} cores"
        for part, found in call["parts"].items():
            count = f"{found['computed']} of {found['of']}"
            rows.append([where, part, count, f"{found['seconds']:.0f}"])
    return table(("machine", "part", "populations", "finished after, s"), rows)


SECTIONS: dict[str, Callable[[Path], str]] = {
    "verdicts": verdicts,
    "rewards": rewards,
    "seconds": seconds,
}


def fill(page: str, folder: Path) -> str:
    """The page with each section between its two marks written anew."""
    for name, write in SECTIONS.items():
        begin, end = f"<!-- {name} -->", f"<!-- end of {name} -->"
        before, found, rest = page.partition(begin)
        _, closed, after = rest.partition(end)
        if not found or not closed:
            raise FormatError(f"the page has no {begin} … {end}; put both where the table belongs")
        page = f"{before}{begin}\n{write(folder)}\n{end}{after}"
    return page


def main(arguments: Sequence[str]) -> int:
    """0, or 1 for an error that was explained."""
    try:
        folder, path = map(Path, arguments)
        text = fill(path.read_text(encoding="utf-8"), folder)
        with aside(path) as temporary:
            temporary.write_text(text, encoding="utf-8")
    except ValueError:
        print("error: give the folder of numbers and the page", file=sys.stderr)
        return 1
    except CounterBCError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
