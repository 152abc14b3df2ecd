"""Facts of the paper fit the library."""

from __future__ import annotations

from counterbc.demonstrators import NOISES, TEACHERS
from counterbc.envs import WORLDS
from counterbc.experiments.comparison import Comparison
from counterbc.methods import METHODS
from reproduction.paper import PAPER_IMPROVEMENTS, PAPER_METHODS, PAPER_TEACHERS


def test_methods_teachers_and_worlds_of_the_paper_exist() -> None:
    assert set(PAPER_METHODS) <= set(METHODS)
    assert set(PAPER_TEACHERS) - {"people"} <= {*NOISES, *TEACHERS}
    assert set(PAPER_IMPROVEMENTS) <= set(WORLDS)
    for improvements in PAPER_IMPROVEMENTS.values():
        assert {*improvements, "counter-bc"} == set(PAPER_METHODS)


def test_a_comparison_takes_the_methods_of_the_paper_by_default() -> None:
    assert Comparison.methods == PAPER_METHODS
