"""Rules along the x-axis, on numbers made up so that each verdict is reached."""

from __future__ import annotations

import math
from typing import Any

import pytest

from reproduction.figure_numbers import Alike, Figure4, Figure5, FigureCell, Gain, Lead
from reproduction.numbers import Numbers
from reproduction.verdicts import NO, OPEN, OPPOSITE, PARTLY, UNCLEAR, YES, Finding
from reproduction.verdicts_along import alike, grows, leads, more_helps, near_chance, occasionally
from tests.reproduction.made_up import paired


def lead(difference: float, p: float, at: float, other: str) -> Lead:
    return paired(Lead, difference, p, at=at, other=other)


@pytest.mark.parametrize(
    ("sizes", "verdict", "sentence"),
    [
        (
            [(-2, 0.01), (2, 0.01)],
            YES,
            "higher at 1 of 2 sizes, significantly at 1, and lower at 1",
        ),
        ([(-2, 0.2), (2, 0.01)], UNCLEAR, "higher at 1 of 2 sizes, significantly at 0"),
        ([(2, 0.2), (2, 0.01)], NO, "higher at 0 of 2 sizes"),
        ([(-2, 0.01), (-2, 0.01)], NO, "higher at 2 of 2 sizes, significantly at 2"),  # always
        ([(2, 0.01), (2, 0.01)], OPPOSITE, "higher at 0 of 2 sizes, significantly at 0"),
    ],
)
def test_occasionally_is_significantly_at_some_sizes_and_not_at_all(
    sizes: list[tuple[float, float]], verdict: str, sentence: str
) -> None:
    above = tuple(lead(d, p, k, "bcnd") for k, (d, p) in enumerate(sizes))
    numbers = Numbers(figure4=Figure4(epsilon_greedy=above))
    found = occasionally(numbers, "sample", "cartpole")
    assert found.verdict == verdict
    assert found.ours.startswith(f"BCND is {sentence}")


@pytest.mark.parametrize(
    ("last", "verdict"),
    [((3.0, 0.01), YES), ((3.0, 0.2), PARTLY), ((-3.0, 0.2), PARTLY), ((-3.0, 0.01), OPPOSITE)],
)
def test_more_pairs_help_where_the_gain_is_significant(
    last: tuple[float, float], verdict: str
) -> None:
    gains = tuple(
        paired(Gain, d, p, method=m, at=1600, start=100)
        for m, (d, p) in {"bc": (2.0, 0.001), "counter-bc": last}.items()
    )
    found = more_helps(Numbers(figure4=Figure4(gains=gains)), "sample", "cartpole")
    assert found.verdict == verdict
    assert found.ours.startswith("from 100 to 1600 pairs: BC +2.00 (p = .001), Counter-BC ")


def test_leading_names_the_sizes_at_which_it_does_not() -> None:
    gaps = {(k, m): (2.0, 0.01) for k in (100, 400, 800) for m in ("bc", "bcnd")}
    gaps[400, "bc"] = gaps[800, "bc"] = (2.0, 0.2)

    def finding() -> Finding:
        above = tuple(lead(d, p, k, m) for (k, m), (d, p) in gaps.items())
        return leads(Numbers(figure4=Figure4(leads=above)), "sample", "cartpole")

    assert finding() == Finding(
        "above each at 1 of 3 sizes; not different from BC at 400/800", PARTLY
    )
    gaps[800, "bcnd"] = (-2.0, 0.01)
    assert finding() == Finding(
        "above each at 1 of 3 sizes; not different from BC at 400/800; below BCND at 800", OPPOSITE
    )


@pytest.mark.parametrize(
    ("bcnd", "cbc", "verdict"),
    [(-1.0, -3.9, YES), (-1.0, -4.5, UNCLEAR), (-1.0, -9.0, OPPOSITE), (-4.5, -9.0, OPPOSITE)],
)
def test_methods_are_alike_where_every_two_are_the_same(
    bcnd: float, cbc: float, verdict: str
) -> None:
    tests = tuple(
        paired(Alike, d, math.nan, at=0.0, mean=100.0, method=m, other=other)
        for m, other, d in (
            ("bcnd", "bc", bcnd), ("counter-bc", "bc", cbc), ("counter-bc", "bcnd", 0.0),
        )
    )  # fmt: skip
    found = alike(Numbers(figure5=Figure5(alike=tests)), "sample", "cartpole")
    assert found.verdict == verdict
    assert found.ours.startswith("above BC: BCND −")
    assert "of 3 pairs" in found.ours


@pytest.mark.parametrize(
    ("last", "step", "verdict"),
    [
        ((2.0, 0.01), (4.0, 0.01), YES),
        ((2.0, 0.01), (4.0, 0.2), NO),
        ((-1.0, 0.01), (4.0, 0.01), NO),  # less far below is no lead
        ((2.0, 0.01), (-4.0, 0.01), OPPOSITE),
    ],
)
def test_a_lead_that_grows_is_one_at_its_end(
    last: tuple[float, float], step: tuple[float, float], verdict: str
) -> None:
    above = (lead(-2.0, 0.2, 0.0, "bc"), lead(*last, 1.0, "bc"))
    figure5 = Figure5(leads=above, steps=(lead(*step, 1.0, "bc"),))
    found = grows(Numbers(figure5=figure5), "sample", "cartpole")
    assert found.verdict == verdict
    assert found.ours.startswith("above BC by −2.00 at σ 0, ")
    assert " of 1 steps up, " in found.ours


@pytest.mark.parametrize(
    ("sem", "cbc", "verdict"),
    [(0.1, 89.0, YES), (5.0, 89.0, UNCLEAR), (0.1, 91.0, OPPOSITE)],
)
def test_chance_is_a_tenth_of_what_is_reached_without_noise(
    sem: float, cbc: float, verdict: str
) -> None:
    cells = tuple(
        FigureCell(world="cartpole", teacher="uniform", act="sample", sigma=sigma, radius=None,
                   method=m, mean=mean, sem=sem, count=50)
        for sigma, m, mean in ((0.0, "bc", 900.0), (0.0, "counter-bc", 800.0), (1.0, "bc", 80.0),
                               (1.0, "counter-bc", cbc))
    )  # fmt: skip
    found = near_chance(Numbers(figure5=Figure5(cells=cells)), "sample", "cartpole")
    assert found.verdict == verdict
    assert found.ours.endswith("; a tenth is 90.0")


@pytest.mark.parametrize("rule", [occasionally, more_helps, leads, alike, grows])
def test_what_has_no_tests_was_not_run(rule: Any) -> None:
    assert rule(Numbers(), "sample", "cartpole") == Finding("", OPEN)
