"""The numbers that `counterbc reproduce` wrote beside its figures, read back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd

from counterbc.errors import FormatError
from counterbc.studies.plots import LABELS
from counterbc.studies.statistics import ALPHA, p_text

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

    def tests(self, figure: str, act: str, **chosen: str) -> list[Test]:
        """Those of a way of acting, as chosen by world, teacher or measure."""
        every = self.said.get(figure, {}).get("statistics", [])
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


def against(test: Test, better: int = 1) -> dict[str, int]:
    """Counter-BC against each other method: 1 better, −1 worse, 0 not told apart.

    `better` is 1 where more is better, −1 where less is.
    """
    found = {}
    for t in _own(test):
        sign = 1 if t["difference"]["mean"] * better > 0 else -1
        known = t["p"] is not None and t["p"] < ALPHA
        found[t["other"]] = sign if known else 0
    return found


def told(test: Test) -> str:
    """How far Counter-BC is above each other method."""
    each = [
        f"{LABELS[t['other']]} {signed(t['difference']['mean'])} "
        f"({p_text(float('nan') if t['p'] is None else t['p'])})"
        for t in _own(test)
    ]
    return f"above {', '.join(each)}"


def signed(number: float) -> str:
    """+0.45 or −0.45."""
    return f"{number:+.2f}".replace("-", "−")


def _own(test: Test) -> list[Test]:
    return [t for t in test["post_hoc"] if t["method"] == "counter-bc"]
