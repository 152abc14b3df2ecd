"""The study of Push-T through LeRobot: what is compared, how settings are chosen, its tables."""

from __future__ import annotations

from dataclasses import asdict
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from counterbc.errors import OptionError
from reproduction.studies import lerobot_tables
from reproduction.studies.lerobot import (
    PEOPLE,
    PLAIN,
    SEEDS,
    SETTINGS,
    STARTS,
    Cell,
    LeRobotOptions,
    cells,
    run,
)
from reproduction.studies.lerobot_tables import HELPS, HURTS, UNDECIDED, report_table, verdict

Record = dict[str, Any]


def reports(variant: str, *scores: float) -> list[Record]:
    """Return rows for people's data and ACT; starts vary around the score of their policy."""
    return [
        asdict(Cell("act", PEOPLE, variant, radius=0.0, lag=0.0, steps=100, seed=seed))
        | {"score": score, "success": 0.5, "scores": [score - 0.1, score + 0.1]}
        for seed, score in zip(SEEDS, scores, strict=False)
    ]


def test_every_kind_of_data_has_a_plain_policy_to_compare_with() -> None:
    assert all(next(iter(variants)) == PLAIN for variants in SETTINGS.values())


def test_variants_train_as_long_as_plain_policies() -> None:
    assert {cell.steps for cell in cells(100)} == {100}


def test_cells_of_a_seed_share_their_starts_and_seeds_do_not() -> None:
    starts: dict[int, set[int]] = {}
    for cell in cells():
        starts.setdefault(cell.seed, set()).add(cell.first_start)
    assert all(len(s) == 1 for s in starts.values())
    first = sorted(min(s) for s in starts.values())
    assert {b - a for a, b in pairwise(first)} == {STARTS}


def test_trainings_have_names_of_their_own() -> None:
    assert len({cell.name for cell in cells()}) == len(list(cells()))


def test_variants_are_compared_with_plain_seed_by_seed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lerobot_tables, "FEWEST", 2)
    rows = [*reports(PLAIN, 0.4, 0.6), *reports("radius", 0.5, 0.71)]
    line = next(x for x in report_table(rows).splitlines() if "| radius |" in x)
    assert "| +0.105 [+0.041, +0.169] | +0.105 [+0.096, +0.114] | helps | 2 |" in line
    assert "| 0.500 (0.400, 0.600) |" in next(
        x for x in report_table(rows).splitlines() if "| plain |" in x
    )


def test_a_variant_that_has_more_seeds_than_plain_is_compared_on_shared_ones() -> None:
    rows = [*reports(PLAIN, 0.4, 0.6), *reports("radius", 0.5, 0.7, 0.9)]
    line = next(x for x in report_table(rows).splitlines() if "| radius |" in x)
    assert "| +0.100 [+0.100, +0.100] | +0.100 [+0.100, +0.100] | too few trainings | 3 |" in line


@pytest.mark.parametrize(
    ("low", "high", "text"),
    [(0.01, 0.2, HELPS), (-0.2, -0.01, HURTS), (-0.1, 0.1, UNDECIDED), (0.0, 0.1, UNDECIDED)],
)
def test_an_interval_that_holds_0_decides_nothing(low: float, high: float, text: str) -> None:
    assert verdict(low, high) == text


def test_the_study_says_what_it_lacks(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="--data"):
        run(LeRobotOptions(out=tmp_path))
    with pytest.raises(OptionError, match="make test-lerobot"):
        run(LeRobotOptions(out=tmp_path, data=tmp_path / "a", python=tmp_path / "none"))
