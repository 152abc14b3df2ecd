"""What the numbers of a figure say, as a paper would print it."""

from __future__ import annotations

import math
from collections.abc import Iterable

from reproduction.figure_numbers import (
    Figure2,
    Figure3,
    Figure6,
    FigureCell,
    FigureNumbers,
    Improvement,
    PostHoc,
    RecoveryRow,
    Table1,
    p_text,
)
from reproduction.numbers import against


def sentences(numbers: FigureNumbers) -> list[str]:
    """Return the sentences of a figure."""
    if isinstance(numbers, Figure2):
        return [f"{policy}: loss {loss:.2f}" for policy, loss in numbers.loss.items()]
    if isinstance(numbers, Figure3):
        return [_recovery_text(row) for row in numbers.by_radius]
    if isinstance(numbers, Table1):
        return [_improvement_text(i) for i in numbers.improvements]
    if isinstance(numbers, Figure6):
        return _best_radii(numbers.cells)
    lines = []
    for test in numbers.statistics:
        about = filter(None, (test.world, test.teacher, test.measure))
        lines.append(f"{', '.join(about)}, act={test.act}: {test.anova.text}")
        lines += [_comparison_text(t) for t in against(test)]
    return lines


def _best_radii(cells: Iterable[FigureCell]) -> list[str]:
    """Return the radius of the highest mean return, panel by panel."""
    panels: dict[tuple[str, ...], dict[float, float]] = {}
    for cell in (c for c in cells if c.method == "counter-bc"):
        panel = panels.setdefault((cell.world, cell.teacher, cell.act), {})
        panel[cell.radius or 0.0] = cell.mean
    return [
        f"{world}, {teacher}, act={act}: best Δ {best:g} with {means[best]:.2f}; "
        f"Δ 0 {means[0.0]:.2f}"
        for (world, teacher, act), means in panels.items()
        for best in [max(means, key=means.__getitem__)]
    ]


def _recovery_text(row: RecoveryRow) -> str:
    label = "BC" if row.radius is None else f"Δ = {row.radius:g}"
    return (
        f"{label}: variation {row.variation.mean:.3f}, to the examples {row.to_examples.mean:.3f}, "
        f"to |s| − 0.5 {row.to_meant.mean:.3f}"
    )


def _improvement_text(row: Improvement) -> str:
    paper = "" if row.paper is None else f"; the paper {row.paper:.0f} %"
    return (
        f"{row.world}, act={row.act}, over {row.baseline}: {row.percent:.0f} % "
        f"[{row.low:.0f}, {row.high:.0f}]{paper}"
    )


def _comparison_text(test: PostHoc) -> str:
    effect = f", d = {test.effect:.2f}" if math.isfinite(test.effect) else ""
    d = test.difference
    return (
        f"  above {test.other} by {d.mean:.2f} [{d.low:.2f}, {d.high:.2f}], "
        f"{p_text(test.p)}{effect}"
    )
