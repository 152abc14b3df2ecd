"""Numbers are read back from the folders of studies."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from counterbc.errors import FormatError
from reproduction.figure_numbers import Figure4, Lead
from reproduction.markdown_tables import hardware
from reproduction.numbers import (
    Numbers,
    against,
    interval_text,
    lead_text,
    read_numbers,
    sign,
    sign_by_runs,
    signed_text,
    where,
    worlds,
)
from reproduction.records import write
from tests.reproduction.made_up import cells, compared, paired, write_numbers


def test_signs_count_only_where_they_are_significant_and_turn_where_less_is_better() -> None:
    test = compared({"bc": (0.5, 0.01), "bcnd": (-0.5, 0.01), "bc-rnn": (0.5, 0.2)}, act="mean")
    assert [sign(t) for t in against(test)] == [1, -1, 0]
    assert [sign(t, better=-1) for t in against(test)] == [-1, 1, 0]
    assert [sign(t, level=0.01) for t in against(test)] == [0, 0, 0]
    by_runs = compared({"bc": (0.5, 0.01)}, by_runs=0.2, act="mean")
    assert [(sign(t), sign_by_runs(t)) for t in against(by_runs)] == [(1, 0)]
    assert sign(paired(Lead, 1.0, math.nan, at=0, other="bc")) == 0
    assert lead_text(against(test)) == (
        "above BC +0.50 (p = .010), BCND −0.50 (p = .010), BC-RNN +0.50 (p = .200)"
    )


def test_a_figure_s_own_study_comes_before_those_of_other_worlds(tmp_path: Path) -> None:
    for study, world in (("car-racing", "car-racing"), ("figure4", "cartpole")):
        points = cells({"bc": 1.0}, world=world, act="mean", teacher="uniform", pairs=400)
        figure = Figure4(cells=points, made=("cuda, torch 2.11.0",))
        write_numbers(tmp_path, "figure4", figure, study)
    points = read_numbers(tmp_path).figure4.cells
    assert worlds(points) == ["cartpole", "car-racing"]
    assert len(where(points, act="mean", world="car-racing")) == 1
    assert hardware(tmp_path).count("cuda") == 1


def test_numbers_of_other_studies_are_left_alone(tmp_path: Path) -> None:
    write({"weights": {"steps": 1}}, tmp_path / "can" / "numbers.json")
    write([{"seed": 0}], tmp_path / "radius" / "numbers.json")
    assert read_numbers(tmp_path) == Numbers()
    (tmp_path / "can" / "numbers.json").write_text("{")
    with pytest.raises(FormatError, match="is not JSON"):
        read_numbers(tmp_path)


def test_numbers_are_printed_with_their_sign() -> None:
    assert [signed_text(x) for x in (0.451, -0.1, math.nan)] == ["+0.45", "−0.10", "?"]
    lead = paired(Lead, 0.45, 0.1, at=0, other="bc")
    assert interval_text(lead.difference) == "+0.45 [−0.55, +1.45]"
