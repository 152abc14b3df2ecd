"""The lag of a dataset in words."""

from __future__ import annotations

from counterbc.selection.lag_choice import LagChoice


def test_a_given_lag_is_named_as_given() -> None:
    assert LagChoice((3.0,), "given", rate=10.0).explanation == "Lag 0.3 s (3 steps), as given"


def test_a_second_valley_is_named_where_no_lag_is_found() -> None:
    hint = LagChoice(verdict="not late", valley=4, rate=50.0).explanation
    assert hint.endswith("try --lag 0.08s")
    assert LagChoice(verdict="not late").explanation.endswith("better than 0")
    doubt = LagChoice(reason="the episodes are too short", valley=4).explanation
    assert "too short, but a lag of 4 steps explains more than those around it" in doubt


def test_data_that_cannot_tell_say_which_lag_is_used_and_how_to_give_one() -> None:
    choice = LagChoice(reason="a lag of 0.2 s (10 steps) explains the actions as well as none")
    assert choice.explanation == (
        "Cannot tell how late the demonstrators react: a lag of 0.2 s (10 steps) explains the "
        "actions as well as none. The lag used is 0; if you know their reaction time, give it with "
        "--lag"
    )


def test_many_operators_are_summed_up_in_one_sentence() -> None:
    names = tuple(f"p{i}" for i in range(7))
    choice = LagChoice((8.0, 9, 9, 12, 13, 14, 16), "late", operators=names, rate=50.0)
    assert choice.explanation == (
        "7 operators react 0.16 s (8 steps) to 0.32 s (16 steps) late, half of them more than "
        "0.24 s (12 steps) (lags of single operators are not confirmed)"
    )
