"""Numbers made up for the tests of claims, verdicts and tables."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

BASELINES = ("bc", "weighted-bc", "bc-rnn", "bcnd")


def write_numbers(folder: Path, figure: str, numbers: Any, study: str | None = None) -> None:
    """Write the numbers of a figure as `reproduction draw` does."""
    path = folder / (study or figure) / "numbers.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps({figure: numbers}))


def compared(
    differences: dict[str, tuple[float, float]], by_runs: float | None = None, **about: Any
) -> dict[str, Any]:
    """Statistics in which Counter-BC is above others by (difference, p), by runs too."""
    return about | {
        "anova": {"text": "F(2.00, 98.00) = 5.0, p = .009", "p": 0.009},
        "post_hoc": [
            {"method": "counter-bc", "other": m, "difference": {"mean": d}, "p": p,
             "p_by_runs": by_runs or p}
            for m, (d, p) in differences.items()
        ],
    }  # fmt: skip


def cells(means: dict[str, float], **about: Any) -> list[dict[str, Any]]:
    """Return a point of a figure for each method."""
    return [about | {"method": m, "mean": v, "sem": 0.1, "count": 50} for m, v in means.items()]
