"""The numbers that were written beside the figures, read back."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, TypeVar

from counterbc.acting.intervals import Interval
from counterbc.experiments.styles import method_style
from reproduction.anova import ALPHA
from reproduction.catalog import FIGURES
from reproduction.figure_json import from_json
from reproduction.figure_numbers import (
    Figure2,
    Figure3,
    Figure4,
    Figure5,
    Figure6,
    Figure7,
    FigureCell,
    MethodTest,
    PairedTest,
    PostHoc,
    Table1,
    p_text,
)
from reproduction.records import read

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class Numbers:
    """The numbers of every figure; those of a figure that was not drawn are empty."""

    figure2: Figure2 = Figure2()
    figure3: Figure3 = Figure3()
    figure4: Figure4 = Figure4()
    figure5: Figure5 = Figure5()
    figure6: Figure6 = Figure6()
    figure7: Figure7 = Figure7()
    table1: Table1 = Table1()

    def statistics(self, figure: str) -> tuple[MethodTest, ...]:
        """Return the tests between methods of figure 4, 5 or 7."""
        return {
            "figure4": self.figure4.statistics,
            "figure5": self.figure5.statistics,
            "figure7": self.figure7.statistics,
        }[figure]

    def makers(self) -> dict[str, tuple[str, ...]]:
        """Return devices and versions of the rows of each figure that has rows."""
        made = {f.name: getattr(getattr(self, f.name), "made", ()) for f in fields(self)}
        return {name: texts for name, texts in made.items() if texts}


def read_numbers(folder: Path) -> Numbers:
    """Return the numbers in a folder of results.

    It holds a folder per study, each with a `numbers.json` of one or several figures. Lists of a
    figure in several studies are joined, the figure's own study first.
    """
    numbers = Numbers()
    paths = folder.glob("*/numbers.json")
    for path in sorted(paths, key=lambda p: (p.parent.name not in FIGURES, p)):
        on_file = read(path)
        for figure in FIGURES if isinstance(on_file, dict) else ():
            if figure in on_file:
                before = getattr(numbers, figure)
                after = from_json(type(before), on_file[figure], path, figure)
                numbers = replace(numbers, **{figure: _joined(before, after)})
    return numbers


def _joined(a: T, b: T) -> T:
    """Return one figure's numbers of two studies, as one."""
    values: dict[str, Any] = {**vars(b)}
    for name, entries in vars(a).items():
        if isinstance(entries, tuple):
            values[name] = (*entries, *values[name])
    return type(a)(**values)


def where(entries: Iterable[T], **values: Any) -> list[T]:
    """Return the entries of a figure with these values, such as act and world."""
    return [e for e in entries if all(getattr(e, name) == v for name, v in values.items())]


def worlds(cells: Iterable[FigureCell]) -> list[str]:
    """Return the worlds of a figure's cells."""
    return list(dict.fromkeys(cell.world for cell in cells))


def sign(test: PairedTest, better: int = 1, level: float = ALPHA) -> int:
    """Return 1 for better, −1 for worse, 0 for no difference at this level.

    `better` is 1 where more is better, −1 where less is.
    """
    return _sign(test.difference.mean * better, test.p, level)


def sign_by_runs(test: PostHoc, better: int = 1, level: float = ALPHA) -> int:
    """Return the sign of a test over runs in place of datasets."""
    return _sign(test.difference.mean * better, test.p_by_runs, level)


def _sign(difference: float, p: float, level: float) -> int:
    if not p < level:  # NaN is no difference
        return 0
    return 1 if difference > 0 else -1


def against(test: MethodTest) -> list[PostHoc]:
    """Return the tests of Counter-BC against each other method."""
    return [t for t in test.post_hoc if t.method == "counter-bc"]


def lead_text(tests: Iterable[PostHoc], better: int = 1, level: float = ALPHA) -> str:
    """Return how far Counter-BC is above the other method of each test.

    The p-value by runs is added where it leads to another conclusion.
    """
    leads = []
    for t in tests:
        edge = level if t.difference.mean * better > 0 else ALPHA
        differs = sign(t, level=edge) != sign_by_runs(t, level=edge)
        by_runs = f"; by runs {p_text(t.p_by_runs)}" if differs else ""
        mean = signed_text(t.difference.mean)
        leads.append(f"{method_style(t.other).label} {mean} ({p_text(t.p)}{by_runs})")
    return f"above {', '.join(leads)}"


def interval_text(difference: Interval) -> str:
    """Return a difference with its interval, such as +0.45 [−0.10, +1.00]."""
    mean, low, high = map(signed_text, (difference.mean, difference.low, difference.high))
    return f"{mean} [{low}, {high}]"


def signed_text(number: float) -> str:
    """Return +0.45 or −0.45; ? for NaN."""
    return f"{number:+.2f}".replace("-", "−") if math.isfinite(number) else "?"
