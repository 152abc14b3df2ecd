"""The presets and single choices."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from counterbc.acting.actor import ACTS
from counterbc.acting.intervals import mean_interval
from counterbc.experiments.comparison import Comparison
from counterbc.settings import settings_for
from reproduction.records import read
from reproduction.studies import presets


@pytest.fixture
def comparisons(monkeypatch: pytest.MonkeyPatch) -> list[Comparison]:
    """Comparisons that a run of the study asks for; nothing is trained."""
    asked: list[Comparison] = []

    def train_and_evaluate(comparison: Comparison, method: str, datasets: Any) -> Any:
        asked.append(comparison)
        returns = np.array([[1.0, 3.0], [2.0, 4.0]])  # (runs, episodes)
        interval = mean_interval(returns.mean(1))
        return [SimpleNamespace(act=a, interval=interval, returns=returns) for a in ACTS], 0.5

    monkeypatch.setattr(presets, "demonstrations", lambda comparison: [])
    monkeypatch.setattr(presets, "train_and_evaluate", train_and_evaluate)
    return asked


@pytest.mark.parametrize(
    ("case", "preset", "radius", "limited"),
    [
        ("authors", "authors", 0.5, False),
        ("authors, radius 0.4", "authors", 0.4, False),
        ("paper, not limited, radius 0.5", "paper", 0.5, False),
        ("default", "default", 0.4, False),  # not chosen from the data
        ("default, radius 0.5", "default", 0.5, False),
        ("default, limited to A", "default", 0.4, True),
    ],
)
def test_a_case_is_trained_with_its_preset_and_changes(
    case: str,
    preset: str,
    radius: float,
    limited: bool,
    comparisons: list[Comparison],
    tmp_path: Path,
) -> None:
    presets.run(presets.PresetsOptions(out=tmp_path, seeds=2, steps=7, device="cpu", cases=(case,)))
    settings = settings_for(comparisons[0].preset, **comparisons[0].changes)
    assert comparisons[0].preset == preset
    assert (settings.radius, settings.limited, settings.steps) == (radius, limited, 7)
    row = read(tmp_path / "presets" / "numbers.json")[0]
    assert (row["case"], row["seeds"], row["steps"]) == (case, 2, 7)
    assert row["sample"] == {"mean": 2.5, "se": 0.5, "runs": [2.0, 3.0]}


def test_only_missing_rows_are_computed(comparisons: list[Comparison], tmp_path: Path) -> None:
    options = presets.PresetsOptions(out=tmp_path, seeds=2, steps=7, device="cpu", cases=("paper",))
    presets.run(options)
    presets.run(options)
    assert len(comparisons) == 5  # once for each method
    presets.run(replace(options, steps=8))
    assert len(comparisons) == 10


def test_the_table_has_a_line_per_case_and_method() -> None:
    row = {"case": "paper", "method": "bc", "sample": {"mean": 1, "se": 0.1}}
    row["mean"] = {"mean": 2, "se": 0.2}
    assert presets.markdown([row], "preset").splitlines() == [
        "| preset | method | act=sample | act=mean |",
        "|---|---|---|---|",
        "| paper | bc | 1.00 ± 0.10 | 2.00 ± 0.20 |",
    ]
