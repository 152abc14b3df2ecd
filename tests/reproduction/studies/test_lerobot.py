"""The study of Push-T through LeRobot: what is compared, and its tables."""

from __future__ import annotations

from dataclasses import asdict
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from counterbc.acting.intervals import Interval, paired_difference
from counterbc.errors import OptionError
from reproduction.studies.lerobot import (
    LATE,
    PEOPLE,
    PLAIN,
    SEEDS,
    SETTINGS,
    STARTS,
    STEPS,
    Cell,
    LeRobotOptions,
    cells,
    run,
)
from reproduction.studies.lerobot_tables import (
    COMPARISONS,
    HELPS,
    HURTS,
    UNDECIDED,
    counts_sentence,
    late_sentence,
    report_table,
    verdict,
)

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
    assert all(cell.steps == STEPS[cell.policy] for cell in cells())


def test_cells_of_a_seed_share_their_starts_and_seeds_do_not() -> None:
    starts: dict[int, set[int]] = {}
    for cell in cells():
        starts.setdefault(cell.seed, set()).add(cell.first_start)
    assert all(len(s) == 1 for s in starts.values())
    first = sorted(min(s) for s in starts.values())
    assert {b - a for a, b in pairwise(first)} == {STARTS}


def test_trainings_have_names_of_their_own() -> None:
    assert len({cell.name for cell in cells()}) == len(list(cells()))


def line(rows: list[Record], variant: str) -> str:
    """Return the line of a variant."""
    return next(x for x in report_table(rows).splitlines() if f"| {variant} |" in x)


def test_variants_are_compared_with_plain_training_by_training_and_start_by_start() -> None:
    rows = [*reports(PLAIN, 0.4, 0.6), *reports("radius", 0.5, 0.71)]
    interval = paired_difference(
        np.array([0.4, 0.6, 0.61, 0.81]),
        np.array([0.3, 0.5, 0.5, 0.7]),
        level=1 - 0.05 / COMPARISONS,
    ).interval
    by_start = f"+0.105 [{interval.low:+.3f}, {interval.high:+.3f}]"
    assert f"| +0.100, +0.110 | {by_start} | helps | 2 |" in line(rows, "radius")
    assert "| 0.500 (0.400, 0.600) |" in line(rows, PLAIN)


def test_a_variant_that_has_more_seeds_than_plain_is_compared_on_shared_ones() -> None:
    rows = [*reports(PLAIN, 0.4, 0.6), *reports("radius", 0.5, 0.7, 0.9)]
    assert "| +0.100, +0.100 | +0.100 [+0.100, +0.100] | helps | 3 |" in line(rows, "radius")


def test_one_training_has_no_verdict() -> None:
    rows = [*reports(PLAIN, 0.4), *reports("radius", 0.5)]
    assert "| +0.100 | +0.100 [+0.100, +0.100] | one training | 1 |" in line(rows, "radius")


def test_sentences_round_the_means_of_the_rows_and_count_the_trainings() -> None:
    late = [
        row | {"data": LATE}
        for row in (*reports(PLAIN, 0.354), *reports("lag", 0.659, 0.592, 0.565))
    ]  # mean 0.6053
    diffusion = [row | {"policy": "diffusion"} for row in late]
    assert late_sentence([*late, *diffusion]) == (
        "ACT reaches a best overlap of 0.35, and 0.61 with this lag undone; a diffusion policy "
        "0.35 and 0.61"
    )
    assert late_sentence(late).endswith("a diffusion policy unknown and unknown")
    assert counts_sentence([*late, *late]) == "4 of 100 planned trainings"


@pytest.mark.parametrize(
    ("low", "high", "gaps", "text"),
    [
        (0.01, 0.2, [0.1, 0.2], HELPS), (-0.2, -0.01, [-0.1, -0.2], HURTS),
        (-0.1, 0.1, [0.1, 0.2], UNDECIDED), (0.0, 0.1, [0.1, 0.2], UNDECIDED),
        (0.01, 0.2, [-0.1, 0.3], UNDECIDED), (-0.2, -0.01, [0.1, -0.3], UNDECIDED),
    ],
)  # fmt: skip
def test_a_verdict_needs_an_interval_without_0_and_trainings_that_agree(
    low: float, high: float, gaps: list[float], text: str
) -> None:
    assert verdict(Interval((low + high) / 2, 0.05, low, high, 100), gaps) == text


def test_the_study_says_what_it_lacks(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="--data"):
        run(LeRobotOptions(out=tmp_path))
    with pytest.raises(OptionError, match="make test-lerobot"):
        run(LeRobotOptions(out=tmp_path, data=tmp_path / "a", python=tmp_path / "none"))
