"""Errors say what to do next."""

from __future__ import annotations

from counterbc.errors import MissingExtra, unknown


def test_an_unknown_name_is_answered_with_the_nearest_one() -> None:
    names = ("bc", "bc-rnn", "counter-bc")
    assert str(unknown("method", "counterbc", names)) == (
        "unknown method 'counterbc'; allowed: bc, bc-rnn, counter-bc; did you mean counter-bc?"
    )


def test_a_name_that_is_near_to_none_is_answered_with_all() -> None:
    error = unknown("mask", 7, iter(("train", "valid")))
    assert str(error) == "unknown mask '7'; allowed: train, valid"


def test_a_missing_library_is_named_with_the_extra_that_brings_it() -> None:
    assert str(MissingExtra("pandas", "paper", "Drawing figures")) == (
        "Drawing figures needs pandas, which is not installed; "
        "install it with: pip install 'counterbc[paper]'"
    )


def test_names_joined_by_commas_are_answered_with_spaces() -> None:
    text = str(unknown("method", "bc,counter-bc", ["bc", "counter-bc"]))
    assert text.endswith("separate names by spaces: bc counter-bc")
    assert "spaces" not in str(unknown("method", "bc,moon", ["bc", "counter-bc"]))
