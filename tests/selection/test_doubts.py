"""Doubts about a radius have a kind for programs and a text for people."""

from __future__ import annotations

from counterbc.selection.doubts import (
    few_steps,
    largest_is_best,
    most_steps_are_best,
    several_modes,
    zero_is_best,
)


def test_every_kind_of_doubt_differs() -> None:
    doubts = [few_steps(9), several_modes(["x", "y"]), zero_is_best(), largest_is_best(0.8)]
    doubts.append(most_steps_are_best(6400))
    assert len({doubt.kind for doubt in doubts}) == len(doubts)


def test_a_doubt_names_its_numbers_and_dimensions() -> None:
    assert "9 training steps" in few_steps(9).text
    assert "the errors of x, y have" in several_modes(["x", "y"]).text
    assert "Δ 0.8 predicts best" in largest_is_best(0.8).text
    assert "6,400 steps predict best" in most_steps_are_best(6400).text
