"""Numbers and headings as the page prints them."""

from __future__ import annotations

import pytest

from counterbc.report import Findings
from counterbc.report.html_helpers import absent, digits, section, signed


@pytest.mark.parametrize(
    ("value", "places", "expected"),
    [(0.123456, None, "0.1235"), (1234.56, None, "1235"), (-2.345, 1, "−2.3"), (3.0, 2, "3")],
)
def test_numbers_have_few_digits_and_a_true_minus(
    value: float, places: int | None, expected: str
) -> None:
    assert digits(value, places) == expected


def test_numbers_that_are_not_known_are_dashes() -> None:
    assert digits(float("nan")) == "–"
    assert digits(float("inf"), 2) == "–"


def test_a_bias_has_its_sign() -> None:
    assert [signed(value) for value in (0.5, -0.25, 0.0)] == ["+0.50", "−0.25", "+0.00"]


def test_a_section_has_a_heading_and_an_address() -> None:
    assert section("The radius and why", "x") == (
        '<section id="the-radius-and-why"><h2>The radius and why</h2>x</section>'
    )


def test_a_stage_without_result_gives_its_reason_in_one_sentence(unscored: Findings) -> None:
    assert absent(unscored, "scores") == (
        '<p class="missing">Not done: scores were not asked for.</p>'
    )
