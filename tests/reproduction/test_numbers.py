"""Numbers are read back from the folders of studies."""

from __future__ import annotations

from pathlib import Path

import pytest

from counterbc.errors import FormatError
from reproduction.markdown_tables import hardware
from reproduction.numbers import Numbers, against, interval_text, lead_text, sign, signed_text
from tests.reproduction.made_up import cells, compared, write_numbers


def test_signs_count_only_where_they_are_significant_and_turn_where_less_is_better() -> None:
    test = compared({"bc": (0.5, 0.01), "bcnd": (-0.5, 0.01), "bc-rnn": (0.5, 0.2)})
    assert [sign(t) for t in against(test)] == [1, -1, 0]
    assert [sign(t, better=-1) for t in against(test)] == [-1, 1, 0]
    assert [sign(t, level=0.01) for t in against(test)] == [0, 0, 0]
    assert lead_text(test) == (
        "above BC +0.50 (p = .010), BCND −0.50 (p = .010), BC-RNN +0.50 (p = .200)"
    )


def test_a_figure_s_own_study_comes_before_those_of_other_worlds(tmp_path: Path) -> None:
    for study, world in (("car-racing", "car-racing"), ("figure4", "cartpole")):
        numbers = {
            "cells": cells({"bc": 1.0}, world=world, act="mean", teacher="uniform", pairs=400),
            "made": ["cuda, torch 2.11.0"],
        }
        write_numbers(tmp_path, "figure4", numbers, study)
    assert Numbers(tmp_path).worlds("figure4") == ["cartpole", "car-racing"]
    assert len(Numbers(tmp_path).cells("figure4", "mean", world="car-racing")) == 1
    assert hardware(tmp_path).count("cuda") == 1


def test_numbers_of_other_studies_are_left_alone(tmp_path: Path) -> None:
    write_numbers(tmp_path, "weights", {"steps": 1}, "can")
    assert Numbers(tmp_path).figures == {}
    (tmp_path / "can" / "numbers.json").write_text("{")
    with pytest.raises(FormatError, match="is not JSON"):
        Numbers(tmp_path)


def test_numbers_are_printed_with_their_sign() -> None:
    assert [signed_text(x) for x in (0.451, -0.1, None)] == ["+0.45", "−0.10", "?"]
    interval = {"difference": {"mean": 0.45, "low": -0.1, "high": 1.0}}
    assert interval_text(interval) == "+0.45 [−0.10, +1.00]"
