"""The numbers that `counterbc reproduce` wrote beside its figures, read back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd

from counterbc.errors import FormatError
from counterbc.experiments.plots import LABELS
from reproduction.anova import ALPHA, p_text

Test = dict[str, Any]


class Numbers:
    """The JSON files of a folder, by figure; a figure that is not there has no numbers.

    Folders in it hold figures of other worlds, whose lists follow those of the folder itself.
    """

    def __init__(self, folder: Path) -> None:
        self.said: dict[str, dict[str, Any]] = {}
        for path in [*sorted(folder.glob("*.json")), *sorted(folder.glob("*/*.json"))]:
            try:
                said = json.loads(path.read_text(encoding="utf-8"))
            except ValueError:
                raise FormatError(f"{path} is not JSON; draw its figure again") from None
            if isinstance(said, dict):
                known = self.said.setdefault(path.stem, {})
                for name, value in said.items():
                    before = known.get(name, [])
                    known[name] = [*before, *value] if isinstance(value, list) else value

    def tests(self, figure: str, act: str, of: str = "statistics", **chosen: Any) -> list[Test]:
        """A list of a figure's numbers, as chosen by way of acting, world, teacher or measure."""
        every = self.said.get(figure, {}).get(of, [])
        wanted = chosen | {"act": act}
        return [t for t in every if all(t.get(k) == v for k, v in wanted.items())]

    def worlds(self, figure: str) -> list[str]:
        cells = self.said.get(figure, {}).get("cells", [])
        return list(dict.fromkeys(c["world"] for c in cells))

    def cells(self, figure: str, act: str, **chosen: Any) -> pd.DataFrame:
        """A row per point of a figure and method: mean, sem and count."""
        table = pd.DataFrame(self.said.get(figure, {}).get("cells", []))
        for name, value in (chosen | {"act": act}).items():
            table = table[table[name] == value]
        return table


def sign(test: Test, better: int = 1, level: float = ALPHA, cell: str = "p") -> int:
    """1 better, −1 worse, 0 not told apart at this level.

    `better` is 1 where more is better, −1 where less is; `cell` is `p` or `p_by_runs`.
    """
    if test[cell] is None or test[cell] >= level:
        return 0
    return 1 if test["difference"]["mean"] * better > 0 else -1


def against(test: Test) -> list[Test]:
    """Counter-BC against each other method."""
    return [t for t in test["post_hoc"] if t["method"] == "counter-bc"]


def told(test: Test, better: int = 1, level: float = ALPHA) -> str:
    """How far Counter-BC is above each other method; p by runs where it is another story."""
    each = []
    for t in against(test):
        edge = level if t["difference"]["mean"] * better > 0 else ALPHA
        other = sign(t, level=edge) != sign(t, level=edge, cell="p_by_runs")
        by_runs = f"; by runs {_p(t['p_by_runs'])}" if other else ""
        mean = signed(t["difference"]["mean"])
        each.append(f"{LABELS[t['other']]} {mean} ({_p(t['p'])}{by_runs})")
    return f"above {', '.join(each)}"


def spanned(test: Test) -> str:
    """+0.45 [−0.10, +1.00]."""
    mean, low, high = (signed(test["difference"][k]) for k in ("mean", "low", "high"))
    return f"{mean} [{low}, {high}]"


def signed(number: float | None) -> str:
    """+0.45 or −0.45; ? where there is none."""
    return "?" if number is None else f"{number:+.2f}".replace("-", "−")


def _p(p: float | None) -> str:
    return p_text(float("nan") if p is None else p)
