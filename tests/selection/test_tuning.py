"""What tuning found: the numbers, the words, and searches that cannot be."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from counterbc.errors import OptionError
from counterbc.printing import without_nan
from counterbc.selection.clusters import Estimate
from counterbc.selection.lag_choice import LagChoice
from counterbc.selection.shares import Explained, Past, Share
from counterbc.selection.tuning import Trial, TuneSearch, Tuning, as_tuple

LATE = LagChoice((9.0,), "late", confident=True, rate=50.0)
TRIALS = (
    Trial(0.0, 200, Estimate(0.50, 0.05), Estimate(0.10, 0.02)),
    Trial(0.0, 800, Estimate(0.60, 0.05), Estimate(0.20, 0.02)),
    Trial(0.2, 200, Estimate(0.40, 0.05), Estimate(0.0, 0.0)),
)
SURE = Share(0.6, 0.5, 0.7)


def test_the_sentences_name_lag_errors_steps_and_ensemble() -> None:
    tuning = Tuning(LATE, 0.2, 200, 4, TRIALS, ensemble_gain=Estimate(0.02, 0.004), explained=SURE)
    assert tuning.sentences == (
        "The demonstrators react 0.18 s (9 steps) late (their own past actions confirm it)",
        "Errors are about ±0.2: held-out error 20.0 ± 4.0 % below plain BC's",
        "Stop after 200 steps; average 4 networks (averaging several lowers the held-out error "
        "by 5.0 ± 1.0 %)",
        "As good within one standard error: Δ 0.2; 200 training steps",
    )


def test_what_is_as_good_as_the_choice_is_named_and_in_the_json() -> None:
    lag = replace(
        LATE, lags=(0, 7, 8, 9, 10), above=(0.02, 0.2, 0.01, 0.0, 0.3), above_se=(0.03,) * 5
    )
    trials = (*TRIALS, Trial(0.2, 800, Estimate(0.41, 0.05), Estimate(0.01, 0.02)))
    tuning = Tuning(lag, 0.2, 200, trials=trials, explained=SURE)
    assert tuning.sentences[-1] == (
        "As good within one standard error: a lag of 0 and 8–9 steps (0–0.18 s); Δ 0.2; "
        "200–800 training steps"
    )
    as_good = {"lag": [0.0, 8.0, 9.0], "radius": [0.2], "steps": [200.0, 800.0]}
    assert tuning.as_dict()["as_good"] == as_good
    given = Tuning(LATE, 0.2, 200, explained=SURE)
    assert given.as_good == {"lag": [], "radius": [], "steps": []}
    assert not any("standard error" in sentence for sentence in given.sentences)


def test_a_radius_of_zero_is_plain_bc() -> None:
    tuning = Tuning(LATE, 0.0, 200, trials=TRIALS, explained=SURE)
    assert tuning.sentences[1:] == (
        "No radius is better than plain BC by more than one standard error: Δ 0",
        "Stop after 200 steps; one network",
        "As good within one standard error: Δ 0.2",
    )


def test_gains_are_shares_of_the_errors_they_improve_on() -> None:
    trials = (*TRIALS, Trial(0.4, 200, Estimate(0.30, 0.05), Estimate(-0.10, 0.10)))
    tuning = Tuning(LATE, 0.2, 200, 4, trials, ensemble_gain=Estimate(0.02, 0.004), explained=SURE)
    assert "20.0 ± 4.0 % below plain BC's" in tuning.sentences[1]  # 0.1 of 0.5
    assert "by 5.0 ± 1.0 %" in tuning.sentences[2]  # 0.02 of 0.4, though 0.3 is the least error


def test_nothing_is_named_as_given_that_was_not() -> None:
    tuning = Tuning(LATE, 0.0, 200, trials=TRIALS[:2], no_radius="The method bc has no radius")
    assert tuning.sentences[1] == "The method bc has no radius"


def test_what_was_given_is_named_as_given() -> None:
    given = Tuning(LagChoice((0.0,), "given"), (0.2, 0.4), 200)
    assert given.sentences[:2] == ("Lag 0 steps, as given", "Δ 0.2/0.4, as given")
    assert given.tells


@pytest.mark.parametrize(
    ("share", "tells"),
    [
        (Share(0.11, 0.09, 0.13), False),
        (Share(0.13, 0.11, 0.15), True),
        (Share(-0.5, -0.6, -0.4), False),
    ],
)
def test_nothing_is_told_where_policies_explain_less_than_a_tenth(
    share: Share, tells: bool
) -> None:
    tuning = Tuning(LATE, 0.2, 200, trials=TRIALS, explained=share)
    assert tuning.tells is tells
    assert len(tuning.sentences) == (4 if tells else 1)
    if not tells:
        assert f"policies explain {share} of the variance" in tuning.sentences[0]
        assert "the lower end must reach 10%" in tuning.sentences[0]
        used = "lag 0.18 s (9 steps), Δ 0.2, 200 steps, one network"
        assert tuning.sentences[0].endswith(f"these numbers are a guess: {used}")


def test_shares_of_the_past_decide_whether_a_choice_tells() -> None:
    high, zero = Share(0.95, 0.92, 0.98), Share(0.0, 0.0, 0.0)
    repeating = Explained(high, (high,), ("a",), Past(high, zero, high, high, high))
    tuning = Tuning(LATE, 0.2, 200, trials=TRIALS, explained=high, shares=repeating)
    assert not tuning.tells
    by_history = Explained(zero, (zero,), ("a",), history=3, policies=high)
    assert not replace(tuning, shares=by_history).tells
    by_present = Explained(high, (high,), ("a",), history=3, policies=high)
    assert replace(tuning, shares=by_present).tells


def test_the_choice_is_json_with_its_evidence(tmp_path: Path) -> None:
    payload = Tuning(LATE, 0.2, 200, trials=TRIALS, explained=SURE).as_dict()
    loaded = json.loads(json.dumps(without_nan(payload)))
    assert loaded["lag"]["lag"] == [9.0]
    assert loaded["lag"]["explanation"].startswith("The demonstrators react 0.18 s")
    assert loaded["trials"][0]["error"] == {"value": 0.5, "se": 0.05}
    assert loaded["sentences"][0] == loaded["lag"]["explanation"]


def test_one_radius_is_a_tuple_of_one() -> None:
    assert (as_tuple(0.2), as_tuple((0.2, 0.3))) == ((0.2,), (0.2, 0.3))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"radii": ()}, "radii is .*; it must be one or more, 0 or above, rising"),
        ({"radii": (0.2, 0.1)}, "radii is"),
        ({"radii": (0.0, float("inf"))}, "radii is"),
        ({"radii": (0.0, float("nan"))}, "radii is"),
        ({"radii": (-0.1, 0.2)}, "radii is"),
        ({"step_counts": ()}, "step_counts is .*; it must be one or more, 1 or above, rising"),
        ({"step_counts": (400, 200)}, "step_counts is"),
        ({"step_counts": (0, 200)}, "step_counts is"),
        ({"ensembles": (4, 1)}, "ensembles is .*; it must be one or more, 1 or above, rising"),
        ({"folds": 1}, "folds is 1; it must be 2 or more"),
        ({"pairs": 19}, "pairs is 19; it must be 20 or more"),
    ],
)
def test_a_search_that_cannot_be_is_refused(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(OptionError, match=words):
        TuneSearch(**changes)
