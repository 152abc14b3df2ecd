"""Sentences of Push-T's tables."""

from __future__ import annotations

import numpy as np
import pytest

from counterbc.acting.intervals import Interval, mean_interval, paired_difference
from reproduction.studies.push_t_tables import key, verdict
from reproduction.tables import ComparisonLine


def line(leads: tuple[float, ...]) -> ComparisonLine:
    difference = paired_difference(np.array(leads), np.zeros(len(leads)))
    value: Interval = mean_interval(np.array(leads))
    return ComparisonLine(
        label="Counter-BC, Δ auto", value=value, successes=0, episodes=1, above=difference,
        radius=(0.0, 0.14),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("leads", "words"),
    [
        ((0.10, 0.11, 0.12), "(chosen: 0 to 0.14) is above BC: +0.110"),
        ((-0.10, -0.11, -0.12), "is below BC: −0.110"),
        ((0.10, 0.20, 0.30), "is above BC, but not after adjustment"),
        ((-0.10, 0.11, 0.0), "shows no difference"),
    ],
)
def test_a_difference_is_put_into_words(leads: tuple[float, ...], words: str) -> None:
    others = 5 if "adjustment" in words else 1
    if "adjustment" in words:
        leads = (0.10, 0.13, 0.20)
    assert words in verdict(line(leads), others)


def test_a_row_is_found_by_method_radius_changes_and_data() -> None:
    assert key({"method": "bc", "changes": {}}) == ("bc", "", "{}", False)
    cleaned = {"method": "counter-bc", "radius": 0.1, "changes": {}, "cleaned": True}
    assert key(cleaned) == ("counter-bc", "0.1", "{}", True)
