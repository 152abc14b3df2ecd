"""The numbers that were written beside the figures, read back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd

from counterbc.experiments.styles import method_style
from reproduction.anova import ALPHA, p_text
from reproduction.catalog import FIGURES
from reproduction.records import read

Test = dict[str, Any]


class Numbers:
    """The numbers of each figure; a figure without a file has none.

    A folder of results holds a folder per study, each with a `numbers.json` of one or several
    figures. Lists of a figure in several studies are joined, the figure's own study first.
    """

    def __init__(self, folder: Path) -> None:
        self.figures: dict[str, dict[str, Any]] = {}
        paths = folder.glob("*/numbers.json")
        for path in sorted(paths, key=lambda p: (p.parent.name not in FIGURES, p)):
            sections = read(path)
            if isinstance(sections, dict):
                for figure in (name for name in FIGURES if name in sections):
                    self._add(figure, sections[figure])

    def _add(self, figure: str, numbers: dict[str, Any]) -> None:
        target = self.figures.setdefault(figure, {})
        for name, value in numbers.items():
            before = target.get(name, [])
            target[name] = [*before, *value] if isinstance(value, list) else value

    def tests(self, figure: str, act: str, of: str = "statistics", **filters: Any) -> list[Test]:
        """Return a list of a figure's numbers, chosen by act, world, teacher or measure."""
        entries = self.figures.get(figure, {}).get(of, [])
        conditions = filters | {"act": act}
        return [t for t in entries if all(t.get(k) == v for k, v in conditions.items())]

    def worlds(self, figure: str) -> list[str]:
        """Return the worlds of which a figure has numbers."""
        cells = self.figures.get(figure, {}).get("cells", [])
        return list(dict.fromkeys(c["world"] for c in cells))

    def cells(self, figure: str, act: str, **filters: Any) -> pd.DataFrame:
        """Return a row per point and method of a figure: mean, sem and count."""
        table = pd.DataFrame(self.figures.get(figure, {}).get("cells", []))
        for name, value in (filters | {"act": act}).items():
            table = table[table[name] == value]
        return table


def sign(test: Test, better: int = 1, level: float = ALPHA, cell: str = "p") -> int:
    """Return 1 for better, −1 for worse, 0 for no difference at this level.

    `better` is 1 where more is better, −1 where less is; `cell` is `p` or `p_by_runs`.
    """
    if test[cell] is None or test[cell] >= level:
        return 0
    return 1 if test["difference"]["mean"] * better > 0 else -1


def against(test: Test) -> list[Test]:
    """Return the tests of Counter-BC against each other method."""
    return [t for t in test["post_hoc"] if t["method"] == "counter-bc"]


def lead_text(test: Test, better: int = 1, level: float = ALPHA) -> str:
    """Return how far Counter-BC is above each other method.

    The p-value by runs is added where it leads to another conclusion.
    """
    leads = []
    for t in against(test):
        edge = level if t["difference"]["mean"] * better > 0 else ALPHA
        differs = sign(t, level=edge) != sign(t, level=edge, cell="p_by_runs")
        by_runs = f"; by runs {_p(t['p_by_runs'])}" if differs else ""
        mean = signed_text(t["difference"]["mean"])
        leads.append(f"{method_style(t['other']).label} {mean} ({_p(t['p'])}{by_runs})")
    return f"above {', '.join(leads)}"


def interval_text(test: Test) -> str:
    """Return a difference with its interval, such as +0.45 [−0.10, +1.00]."""
    mean, low, high = (signed_text(test["difference"][k]) for k in ("mean", "low", "high"))
    return f"{mean} [{low}, {high}]"


def signed_text(number: float | None) -> str:
    """Return +0.45 or −0.45; ? where there is no number."""
    return "?" if number is None else f"{number:+.2f}".replace("-", "−")


def _p(p: float | None) -> str:
    return p_text(float("nan") if p is None else p)
