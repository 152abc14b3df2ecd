"""Goals in many dimensions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from reproduction.records import read
from reproduction.studies import intent_goals


def test_episodes_end_near_their_goal_and_operators_are_named() -> None:
    demos, pursued = intent_goals.reach(3, 0, seed=0)
    ends = np.array([e.obs[-1, :6] for e in demos.episodes])
    centre = np.array([ends[pursued == k].mean(0) for k in range(3)])
    off = np.linalg.norm(ends[:, None] - centre, axis=2)
    assert (off.argmin(1) == pursued).all()
    assert demos.obs_shape == (26,)
    assert demos.operators == ()
    assert len(intent_goals.reach(1, 10, seed=0)[0].operators) == 10


@pytest.mark.slow
def test_the_study_writes_a_row_per_case_and_resumes(tmp_path: Path, check_origin: Any) -> None:
    options = intent_goals.IntentGoalsOptions(seeds=1, first_seed=1066, out=tmp_path)
    intent_goals.run(options)
    rows = read(options.numbers("intent-goals"))
    assert [r["case"] for r in rows] == list(intent_goals.CASES)
    assert all(r["right"] for r in rows)
    check_origin(*rows)
    intent_goals.run(options)
    assert read(options.numbers("intent-goals")) == rows


def test_the_table_counts_what_was_found_and_what_was_split() -> None:
    row = {"case": "one goal", "groups": 1, "right": True, "verdict": "no evidence"}
    rows = [row, row | {"groups": 2, "right": False, "verdict": "groups"}]
    assert intent_goals.markdown(rows).splitlines()[2] == (
        "| one goal | 1 of 2 [9, 91] % | 1 | no evidence 1, groups 1 |"
    )
