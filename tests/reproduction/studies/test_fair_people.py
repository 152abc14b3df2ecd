"""The late crowd in the place of people, from made-up rows whose answers are known."""

from __future__ import annotations

from typing import Any

import pytest

from reproduction.studies.fair_people import crowd_lines, paper_baselines, people
from tests.reproduction.studies.test_fair_tables import rows_of


def crowd_line(**changes: Any) -> str:
    """Return the line of the late crowd, with these methods beside BC and Counter-BC."""
    runs = {"bc": [100.0] * 3, "counter-bc": [103.0, 105.0, 107.0]} | changes
    lines = people(rows_of(runs) + rows_of(runs, teacher="uniform")).splitlines()
    assert len(lines) == 4  # the crowd alone, by both ways of acting
    return lines[2]


def test_the_late_crowd_is_compared_with_each_baseline() -> None:
    # 5 ± 2 / √3 · t(1 − .05 / 4 / 2, 2 degrees of freedom) = 5 ± 10.2.
    line = crowd_line()
    assert "| +5.0 % [−5.2, +15.2] open | – | – | – | – |" in line


@pytest.mark.parametrize(
    ("bc", "verdict"),
    [
        (80.0, "reproduced"),
        (105.0, "partly"),
        (130.0, "not tested as in the paper (contradicted here)"),  # whole episodes, no people
    ],
)
def test_the_verdict_on_the_late_crowd_needs_every_comparison_won(bc: float, verdict: str) -> None:
    rest = {name: [50.0] * 3 for name in ("weighted-bc", "bc-rnn", "bcnd")}
    assert crowd_line(bc=[bc] * 3, **rest).endswith(f"| {verdict} |")


def test_a_line_knows_its_place_and_its_number_of_runs() -> None:
    (line, _) = crowd_lines(rows_of({"bc": [1.0, 2.0, 4.0], "counter-bc": [2.0, 3.0, 4.0]}))
    assert (line.world, line.protocol, line.act, line.runs) == ("cartpole", "whole", "sample", 3)
    assert line.verdict == "–"  # three baselines were not run


def test_the_paper_has_no_recurrent_policy_in_air_hockey() -> None:
    assert paper_baselines("cartpole") == ["bc", "weighted-bc", "bc-rnn", "bcnd"]
    assert paper_baselines("air-hockey") == ["bc", "weighted-bc", "bcnd"]
