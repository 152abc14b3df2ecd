"""What the numbers of a figure say, as a paper would print it."""

from __future__ import annotations

from typing import Any

from reproduction.anova import p_text

FigureNumbers = dict[str, Any]


def sentences(name: str, numbers: FigureNumbers) -> list[str]:
    """Return the sentences of a figure."""
    if name == "figure2":
        return [f"{policy}: loss {loss:.2f}" for policy, loss in numbers["loss"].items()]
    if name == "figure3":
        return [_recovery_text(row) for row in numbers["by radius"]]
    if name == "table1":
        return [_improvement_text(i) for i in numbers["improvements"]]
    if name == "figure6":
        return _best_radii(numbers["cells"])
    lines = []
    for test in numbers["statistics"]:
        about = [test[k] for k in ("world", "teacher", "measure") if k in test]
        lines.append(f"{', '.join(about)}, act={test['act']}: {test['anova']['text']}")
        lines += [_comparison_text(t) for t in test["post_hoc"] if t["method"] == "counter-bc"]
    return lines


def _best_radii(cells: list[FigureNumbers]) -> list[str]:
    """Return the radius of the highest mean return, panel by panel."""
    panels: dict[tuple[str, ...], dict[float, float]] = {}
    for cell in (c for c in cells if c["method"] == "counter-bc"):
        panel = panels.setdefault((cell["world"], cell["teacher"], cell["act"]), {})
        panel[cell["radius"]] = cell["mean"]
    return [
        f"{world}, {teacher}, act={act}: best Δ {best:g} with {means[best]:.2f}; "
        f"Δ 0 {means[0.0]:.2f}"
        for (world, teacher, act), means in panels.items()
        for best in [max(means, key=means.__getitem__)]
    ]


def _recovery_text(row: FigureNumbers) -> str:
    label = "BC" if row["radius"] is None else f"Δ = {row['radius']:g}"
    keys = {"variation": "variation", "to_examples": "to the examples", "to_meant": "to |s| − 0.5"}
    return f"{label}: " + ", ".join(
        f"{label} {row[key]['mean']:.3f}" for key, label in keys.items()
    )


def _improvement_text(row: FigureNumbers) -> str:
    paper = "" if row["paper"] is None else f"; the paper {row['paper']:.0f} %"
    return (
        f"{row['world']}, act={row['act']}, over {row['baseline']}: {row['percent']:.0f} % "
        f"[{row['low']:.0f}, {row['high']:.0f}]{paper}"
    )


def _comparison_text(test: FigureNumbers) -> str:
    d, p = test["difference"], test["p"]
    effect = "" if test["effect"] is None else f", d = {test['effect']:.2f}"
    return (
        f"  above {test['other']} by {d['mean']:.2f} [{d['low']:.2f}, {d['high']:.2f}], "
        f"{p_text(float('nan') if p is None else p)}{effect}"
    )
