"""Operators who differ in speed and not in error."""

from __future__ import annotations

import numpy as np
import pytest

from reproduction.records import Record
from reproduction.studies import speed
from reproduction.studies.scores_tables import CORRUPTIONS


@pytest.mark.parametrize("error", list(speed.ERRORS))
def test_fast_operators_take_longer_steps_and_fewer_of_them(error: str) -> None:
    demos, kinds = speed.dataset(error, 0)
    assert len(demos) == 60
    assert kinds.count("good") == 50
    assert set(kinds) == {"good", *CORRUPTIONS}
    good = [e for e, kind in zip(demos.episodes, kinds, strict=True) if kind == "good"]
    slow, fast = good[:5], good[-5:]
    step = [np.mean([np.linalg.norm(e.action, axis=1).mean() for e in g]) for g in (slow, fast)]
    assert step[1] > 1.5 * step[0]
    assert sum(map(len, fast)) < sum(map(len, slow))


def test_the_table_has_means_of_absolute_correlations_and_how_many_datasets_are_ranked() -> None:
    row: Record = {"error": "equal", "seed": 0, "ranked": True}
    for name in ("before", "now"):
        row |= {f"{m}_{name}": -0.5 for m in ("speed", "good_speed", "length")}
        row |= {f"auroc_{name}_{k}": 0.75 for k in CORRUPTIONS}
    others: list[Record] = [{"seed": 1, "ranked": False}, {"seed": 2, "ranked": None}]
    text = speed.markdown([row, *(row | other for other in others)])
    now = next(line for line in text.splitlines() if "made comparable" in line)
    assert now.startswith("| the same for all | made comparable | 0.50 ± 0.00 | 0.50 ± 0.00 |")
    assert now.endswith("| 0.75 ± 0.00 | 1 of 2 |")
