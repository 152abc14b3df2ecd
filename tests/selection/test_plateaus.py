"""What is as good as what was chosen."""

from __future__ import annotations

from dataclasses import replace

import pytest

from counterbc.selection.clusters import Estimate
from counterbc.selection.lag_choice import LagChoice
from counterbc.selection.plateaus import lag_plateau, radius_plateau, range_text, step_plateau
from counterbc.selection.tuning import Trial

ERROR = Estimate(0.4, 0.05)
LATE = LagChoice(
    (1.0,), "late", lags=(0, 1, 2), error=(0.5, 0.3, 0.31), above=(0.2, 0.0, 0.01),
    above_se=(0.05, 0.0, 0.02),
)  # fmt: skip


def trial(radius: float, steps: int, above: float) -> Trial:
    return Trial(radius, steps, ERROR, Estimate(above, 0.02))


def test_lags_within_one_standard_error_of_the_best_are_as_good() -> None:
    assert lag_plateau(LATE) == [1.0, 2.0]
    assert lag_plateau(replace(LATE, verdict="not late")) == [1.0, 2.0]
    assert lag_plateau(replace(LATE, verdict="cannot tell")) == []
    assert lag_plateau(replace(LATE, lag=(1.0, 2.0), operators=("ann", "bob"))) == []
    assert lag_plateau(LagChoice((1.0,), "given")) == []


def test_a_radius_is_as_good_if_it_is_for_some_steps_and_steps_for_the_chosen_radius() -> None:
    trials = [
        trial(0.0, 200, 0.0),
        trial(0.0, 400, 0.05),
        trial(0.1, 400, 0.01),
        trial(0.2, 400, 1),
    ]
    assert radius_plateau(trials) == [0.0, 0.1]
    assert step_plateau(trials, 0.0) == [200.0]
    assert step_plateau(trials, 0.1) == [400.0]


@pytest.mark.parametrize(
    ("values", "text"),
    [([2], "2"), ([1, 2, 3], "1–3"), ([0, 2, 3], "0 and 2–3"), ([3, 0], "0 and 3")],
)
def test_neighbours_are_written_as_a_range(values: list[float], text: str) -> None:
    assert range_text(values, [3, 0, 1, 2]) == text


def test_thousands_are_separated() -> None:
    assert range_text([800, 1600], [400, 800, 1600]) == "800–1,600"
