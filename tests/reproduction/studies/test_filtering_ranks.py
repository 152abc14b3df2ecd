"""Why a dataset of the study `filtering` is ranked or not."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import counterbc as cb
from reproduction.records import Record
from reproduction.studies import filtering_ranks as fr
from reproduction.studies.filtering_rules import Case


def _row(seed: int, can_tell: bool, follows: str = "") -> Record:
    return {"world": "fork", "kind": "noisy", "seed": seed, "can_tell": can_tell} | {
        "follows": follows
    }


def test_the_table_counts_both_causes_by_hand() -> None:
    rows = [
        _row(0, True), _row(1, True, "speed"), _row(2, True, "speed, length"),
        _row(3, False, "speed"),
    ]  # fmt: skip
    expected = "| fork | noisy | 0–3 | 3 of 4 | 2 of 4 | 1 of 4 | 1 of 4 |"
    assert fr.markdown(rows).splitlines()[-1] == expected


def test_without_rows_there_is_no_table(tmp_path: Path) -> None:
    assert fr.table(tmp_path) == ""


def test_a_dataset_in_which_nothing_can_be_predicted_cannot_tell() -> None:
    rng = np.random.default_rng(0)
    episodes = tuple(
        cb.Episode(rng.normal(size=(20, 2)), rng.uniform(-1, 1, (20, 1))) for _ in range(12)
    )

    def make_case(world: str, kind: str, seed: int) -> Case:
        return Case(
            world=world, kind=kind, seed=seed, demos=cb.Demonstrations(episodes),
            is_bad=np.zeros(12, bool), quick=True,
        )  # fmt: skip

    row = fr.Ranks(make_case).measure({"world": "fork", "kind": "clean", "seed": 0}, "cpu")
    assert not row["can_tell"]
    assert not row["may_only_repeat"]
    assert row["present_low"] < 0.1
