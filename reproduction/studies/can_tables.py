"""The tables of docs/can.md from the rows of the study `can`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from reproduction.markdown import markdown_table
from reproduction.studies.can import BC_SUBSETS, NETWORKS, ROWS, SUBSETS, WORLD
from reproduction.tables import ComparisonLine, archived_rows, compare_methods

HEAD = ("method", "Δ", "success [95 %]", "above BC, by seed [95 %]", "steps")


def sections(results: Path) -> dict[str, dict[str, str]]:
    """Return the tables of docs/can.md."""
    return {"can": {"results": tables(results / WORLD, "default")}}


def tables(folder: Path, network: str) -> str:
    """Return a Markdown table for each subset of the data."""
    rows = archived_rows(folder)
    names = {_label(row, network): name for name, row in ROWS.items()}
    order = {name: i for i, name in enumerate(ROWS)}
    rows = rows[rows.label.isin(names)].assign(label=lambda r: r.label.map(names))
    blocks = []
    for name, subset in (SUBSETS | BC_SUBSETS).items():
        part = rows[rows.subset == str(subset)].sort_values("label", key=lambda c: c.map(order))
        if len(part):
            steps = part.groupby("label").length.mean()
            method_lines = compare_methods(part, "success", base="BC")
            lines = [_cells(line, steps[line.label]) for line in method_lines]
            head = f"**{name.capitalize()}**, {round(part.pairs.mean())} pairs"
            blocks.append("\n".join([f"{head}\n", markdown_table(HEAD, lines), *_gripper(part)]))
    return "\n" + "\n\n".join(blocks) + "\n"


def _label(row: dict[str, Any], network: str) -> str:
    """Return the label of a row in the archive."""
    radius = row.get("radius")
    numbers = radius if isinstance(radius, tuple) else (radius,)
    text = ",".join(n if isinstance(n, str) else f"{n:g}" for n in numbers if n is not None)
    kind = [f"{k}-{','.join(map(str, v))}" for k, v in NETWORKS[network].items()]
    return "-".join(x for x in (row["method"], text, *kind) if x)


def _gripper(part: Any) -> list[str]:
    """Return what a radius for the gripper adds, where both are finished."""
    without, with_it = "Counter-BC, Δ 0.4", "Counter-BC, Δ 0.4, gripper too"
    pair = part[part.label.isin([without, with_it])]
    if pair.label.nunique() < 2:
        return []
    (line,) = (x for x in compare_methods(pair, "success", base=without) if x.label == with_it)
    return [f"\nThe gripper's radius adds {_above(line)} points, by seed."]


def _above(line: ComparisonLine) -> str:
    """Return how many points a line is above its base, by seed."""
    if line.above is None:
        return ""
    i = line.above.interval
    mean, low, high = (100 * share for share in (i.mean, i.low, i.high))
    return f"{mean:+.1f} [{low:+.1f}, {high:+.1f}]".replace("-", "−")


def _cells(line: ComparisonLine, steps: float) -> list[str]:
    """Return a line with Wilson's interval over all episodes, and the difference paired by seed."""
    radii = sorted({round(r, 2) for r in line.radius}) if "Counter" in line.label else []
    rate, low, high = (100 * share for share in line.rate)
    cells = [line.label, " … ".join(f"{r:g}" for r in radii)]
    return [*cells, f"{rate:.1f} % [{low:.1f}, {high:.1f}]", _above(line), f"{steps:.0f}"]
