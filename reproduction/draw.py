"""From the rows of a study to its figure, its statistics and what they say."""

from __future__ import annotations

import json
import math
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pandas as pd

from counterbc.experiments.cell import Cell
from counterbc.experiments.cell_files import made_with
from counterbc.experiments.plots import MEASURES
from counterbc.experiments.study import Study
from counterbc.files import aside
from counterbc.json_safe import without_nan
from reproduction.anova import by_subject, resolvable, spread
from reproduction.catalog import FIGURES, FigureOptions
from reproduction.improvement import improvements

Said = dict[str, Any]
PEOPLE = "people"


def rows_of(name: str, options: FigureOptions, folder: Path) -> pd.DataFrame:
    """The finished rows of a figure, with what counts in their world for the return; what people
    showed has them for its teacher."""
    kinds: dict[type, list[Cell]] = {}
    for cell in FIGURES[name](options):
        kinds.setdefault(type(cell), []).append(cell)
    tables = [Study(cells, folder / "rows").table().to_pandas() for cells in kinds.values()]
    rows = [row for table in tables for row in _with_teacher(table).to_dict("records")]
    for row in rows:
        measure = MEASURES.get(row.get("world", ""))
        row |= {"return": row[measure]} if measure else {}
    return pd.DataFrame(rows)


def _with_teacher(table: pd.DataFrame) -> pd.DataFrame:
    if "teacher" in table or "world" not in table:  # recovery has neither
        return table
    radius = pd.to_numeric(table["radius"], errors="coerce")
    return table.assign(teacher=PEOPLE, sigma=math.nan, radius=radius)


def draw(name: str, options: FigureOptions, folder: Path) -> tuple[Said, list[Path]]:
    """Draw a figure from its rows, and write its numbers beside it."""
    from reproduction.figures import air_hockey as hockey
    from reproduction.figures import loss_plane, recovered, rewards

    if name == "figure2":
        said, files = loss_plane.draw(folder)
    else:
        rows = rows_of(name, options, folder)
        if name == "figure3":
            said, files = recovered.draw(rows, folder)
        elif name == "figure7":
            said, files = hockey.draw(rows, folder)
        elif name == "table1":
            said, files = {"improvements": [asdict(i) for i in improvements(rows)]}, []
        else:
            said, files = rewards.draw(name, rows, folder)
        said["made"] = made(rows)
    return said, [*files, _write(said, folder / f"{name}.json")]


def made(rows: pd.DataFrame) -> list[str]:
    """Devices and versions that made the rows, in words; one as a rule."""
    names = ["counterbc", "torch", "numpy", "python"]
    each = rows[["device", *names]].drop_duplicates().to_dict("records")
    return [made_with({"device": r["device"], "versions": {n: r[n] for n in names}}) for r in each]


def _write(said: Said, path: Path) -> Path:
    with aside(path) as temporary:
        temporary.write_text(json.dumps(without_nan(said), indent=1, default=float) + "\n")
    return path


def resolution(name: str, options: FigureOptions, folder: Path, sd: float | None) -> str | None:
    """What the runs of a figure can tell apart, said before they are made."""
    cells = FIGURES[name](options)
    if name in ("figure2", "figure3"):
        return None
    runs = int(cells[0].about["seeds"])
    methods = len({cell.about["method"] for cell in cells})
    least = resolvable(runs, methods=methods)
    if not math.isfinite(least):
        return f"{name}: {runs} runs per point are too few to tell methods apart"
    text = (
        f"{name}: {runs} paired runs per point find differences of {least:.2f} sd (power 0.8, "
        f"p < .05 after Bonferroni over {math.comb(methods, 2)} pairs of methods)"
    )
    if sd is not None:
        return f"{text}, {least * sd:.3g} with an sd of {sd:g}"
    if Study(cells, folder / "rows").missing():
        return text
    known = [
        f"{least * _spread(rows):.3g} in {world}"
        for world, rows in rows_of(name, options, folder).groupby("world", sort=False)
    ]
    return f"{text}; by the largest sd of the rows, {', '.join(known)}"


def _spread(rows: pd.DataFrame) -> float:
    """The largest over the points of a figure; of several radii the first stands for Counter-BC."""
    sampled = rows[rows["act"] == "sample"]
    points = sampled.groupby(["teacher", "sigma", "pairs"], dropna=False)
    once = (point.drop_duplicates(["method", "seed"]) for _, point in points)
    return max(spread(by_subject(point, "return", ("seed",))) for point in once)


def sentences(name: str, said: Said) -> list[str]:
    """What came of it, as a paper would print it."""
    if name == "figure2":
        return [f"{policy}: loss {loss:.2f}" for policy, loss in said["loss"].items()]
    if name == "figure3":
        return [_recovered(row) for row in said["by radius"]]
    if name == "table1":
        return [_improved(i) for i in said["improvements"]]
    if name == "figure6":
        return _best(said["cells"])
    lines = []
    for test in said["statistics"]:
        about = [test[k] for k in ("world", "teacher", "measure") if k in test]
        lines.append(f"{', '.join(about)}, act={test['act']}: {test['anova']['text']}")
        lines += [_compared(t) for t in test["post_hoc"] if t["method"] == "counter-bc"]
    return lines


def _best(cells: list[Said]) -> list[str]:
    """The radius of the highest mean return, in each panel."""
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


def _recovered(row: Said) -> str:
    who = "BC" if row["radius"] is None else f"Δ = {row['radius']:g}"
    keys = {"variation": "variation", "to_examples": "to the examples", "to_meant": "to |s| − 0.5"}
    return f"{who}: " + ", ".join(f"{label} {row[key]['mean']:.3f}" for key, label in keys.items())


def _improved(row: Said) -> str:
    paper = "" if row["paper"] is None else f"; the paper {row['paper']:.0f} %"
    return (
        f"{row['world']}, act={row['act']}, over {row['baseline']}: {row['percent']:.0f} % "
        f"[{row['low']:.0f}, {row['high']:.0f}]{paper}"
    )


def _compared(test: Said) -> str:
    from reproduction.anova import p_text

    d = test["difference"]
    return (
        f"  above {test['other']} by {d['mean']:.2f} [{d['low']:.2f}, {d['high']:.2f}], "
        f"{p_text(test['p'])}, d = {test['effect']:.2f}"
    )
